"""What a review compares with: the same stack at another commit, or a saved state."""

import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.environments import ROOT, STACKS
from cli.refusals import RefusedError
from model.engine_names import ROOT_TYPE

if TYPE_CHECKING:
    from model.environment import Environment
    from twin.monitor import Resource

_SCRIPT = Path(__file__).with_name("rehearsing.py")
_STACK = "pulumi:pulumi:Stack"
_PATIENCE = 300
"""Seconds for a rehearsal, which takes a few. What hangs must not take the rest of a report with it."""


@dataclass(frozen=True)
class Before:
    """A stack as it was.

    Attributes:
        called: What it was taken from, for people: `main (3f2a1b9)` or the name of a file.
        resources: Its resources; None where it could not be had.
        environment: Its document, as this version reads it; None where it has none that can be read.
        note: Why something is missing; empty where nothing is.
        new: Whether the environment was not there.
        saved: Whether it is a saved state.
    """

    called: str
    resources: "tuple[Resource, ...] | None" = None
    environment: "Environment | None" = None
    note: str = ""
    new: bool = False
    saved: bool = False


@dataclass(frozen=True)
class Commit:
    """A commit to compare with.

    Attributes:
        id: Its full id.
        called: How people know it: the name that was asked for, and the short id.
    """

    id: str
    called: str


def prefix() -> str:
    """Give the folder of this project in its repository, with a slash at its end; empty at the top, and without git."""
    done = _git("rev-parse", "--show-prefix")
    return done.stdout.strip() if done.returncode == 0 else ""


def commit(reference: str | None) -> Commit:
    """Find what to compare with.

    Args:
        reference: What git calls it; None for where the work left the default branch.

    Raises:
        RefusedError: There is no git repository here, or no such commit in it.
    """
    if (asked := _git("rev-parse", "--is-inside-work-tree")).returncode:
        raise RefusedError(
            f"{ROOT}: no git repository, so nothing to compare with ({asked.stderr.strip().splitlines()[0]})\n"
            "  fix: --state FILE, with a state from pulumi stack export"
        )
    if reference is not None:
        return Commit(found := _known(reference), f"{reference} ({found[:7]})")
    for branch in (_default(), "main", "master"):
        if branch and (base := _git("merge-base", "HEAD", branch)).returncode == 0:
            found = base.stdout.strip()
            return Commit(found, f"{branch.removeprefix('origin/')} ({found[:7]})")
    if _git("rev-parse", "--verify", "--quiet", "HEAD").returncode:
        raise RefusedError(f"{ROOT}: no commit yet, so nothing to compare with\n  fix: git commit, or --state FILE")
    return Commit(found := _known("HEAD"), f"HEAD ({found[:7]})")


def _default() -> str:
    return _git("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD").stdout.strip()


def _known(reference: str) -> str:
    done = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{reference}^{{commit}}")
    if done.returncode:
        raise RefusedError(
            f"--against {reference}: git knows no such commit here\n"
            "  allowed: a branch, a tag or a commit        fix: git fetch origin it first (in CI: fetch-depth: 0)"
        )
    return done.stdout.strip()


def _git(*arguments: str) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(
            ["git", *arguments], cwd=ROOT, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError:
        return subprocess.CompletedProcess(arguments, 127, "", "git: not on PATH")


@contextmanager
def rehearsed(at: Commit, name: str) -> "Iterator[Rehearsing]":
    """Begin to rehearse an environment as it was at a commit, by that commit's own code, in a folder that is then gone.

    Its code runs with the packages of this version.

    Raises:
        RefusedError: git cannot give the files.
    """
    with tempfile.TemporaryDirectory(prefix="gangline-review-") as folder:
        tree, answer = Path(folder) / "tree", Path(folder) / "answer.json"
        _extract(at, tree)
        # What this process was told of a Pulumi run or a cluster is none of the rehearsal's business.
        # Packages that are not compiled, as images of containers like to have it, would take four times as long.
        left_out = ("PULUMI_", "AWS_", "PYTHONDONTWRITEBYTECODE")
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(left_out)}
        process = subprocess.Popen(
            [sys.executable, "-P", str(_SCRIPT), name, str(answer)],
            cwd=tree,
            env=inherited | {"PYTHONPATH": str(tree)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            yield Rehearsing(at, tree / STACKS.name / f"Pulumi.{name}.yaml", answer, process)
        finally:
            process.kill()
            process.wait()


def _extract(at: Commit, tree: Path) -> None:
    """Copy the files of a commit. An archive, since a work tree would be noted down in the repository."""
    tree.mkdir()
    archive = tree.with_suffix(".tar")
    # In a folder of the repository git gives that folder.
    done = _git("archive", "--format=tar", f"--output={archive}", at.id)
    if done.returncode:
        raise RefusedError(f"git archive {at.called}: {done.stderr.strip()}")
    with tarfile.open(archive) as packed:
        packed.extractall(tree, filter="data")


@dataclass
class Rehearsing:
    """A rehearsal that runs in another process."""

    _at: Commit
    _file: Path
    _answer: Path
    _process: "subprocess.Popen[str]"

    def result(self) -> Before:
        """Wait for it, and give what came of it."""
        called = self._at.called
        try:
            _, said = self._process.communicate(timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            return Before(called, note=f"its rehearsal did not end in {_PATIENCE} seconds, so nothing can be compared")
        if not self._file.is_file():
            return Before(called, (), new=True)
        if self._process.returncode or not self._answer.is_file():
            last = (said.strip().splitlines() or ["it said nothing"])[-1]
            return Before(called, note=f"its code cannot be rehearsed with the packages of this version: {last}")
        found: dict[str, Any] = json.loads(self._answer.read_text())
        if refused := found.get("refused"):
            return Before(called, note=f"its document could not be brought up:\n{refused}")
        resources = tuple(_resource(each) for each in found["resources"])
        environment, note = _document(resources)
        return Before(called, resources, environment, note)


def saved(file: Path, stack: str) -> Before:
    """Read an exported state.

    Raises:
        RefusedError: It is none, or that of another stack.
    """
    again = f"  fix: pulumi stack export -s {stack} --file {file}"
    try:
        state = json.loads(file.read_text("utf-8"))
        deployment = state["deployment"]
        resources = tuple(_of_state(each) for each in deployment.get("resources") or () if _counts(each))
    except FileNotFoundError:
        raise RefusedError(f"--state {file}: there is no such file") from None
    except OSError as error:
        raise RefusedError(f"--state {file}: {error.strerror}\n{again}") from None
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        raise RefusedError(f"--state {file}: not a state that was exported\n{again}") from None
    for head in dict.fromkeys(each.urn.partition("::")[0] for each in resources):
        if head != f"urn:pulumi:{stack}":
            other = head.rpartition(":")[2]
            raise RefusedError(f"--state {file}: is the state of stack {other}, and {stack} is reviewed\n{again}")
    environment, note = _document(resources)
    return Before(file.name, resources, environment, note, saved=True)


def _counts(resource: Mapping[str, Any]) -> bool:
    # What waits for its deletion has a successor under the same URN.
    return resource["type"] != _STACK and not resource.get("delete")


def _of_state(saved_resource: Mapping[str, Any]) -> "Resource":
    urn, type_ = saved_resource["urn"], saved_resource["type"]
    parent = saved_resource.get("parent", "")
    return _resource(
        {
            "urn": urn,
            "type": type_,
            "name": urn.rpartition("::")[2],
            "parent": None if not parent or parent.split("::")[2] == _STACK else parent,
            "custom": saved_resource["custom"],
            "inputs": saved_resource.get("inputs") or {},
            "dependencies": saved_resource.get("dependencies") or (),
            "provider": saved_resource.get("provider", "").rpartition("::")[0] or None,
            "protect": saved_resource.get("protect", False),
            "retain_on_delete": saved_resource.get("retainOnDelete", False),
            "read": saved_resource.get("external", False),
        }
    )


def _resource(values: Mapping[str, Any]) -> "Resource":
    """Read a resource of any version: what that did not have yet has its default."""
    from twin.monitor import Resource

    known = {field.name for field in fields(Resource)}
    given: dict[str, Any] = {key: tuple(it) if isinstance(it, list) else it for key, it in values.items()}
    return Resource(**{key: value for key, value in given.items() if key in known})


def _document(resources: "tuple[Resource, ...]") -> "tuple[Environment | None, str]":
    """Give the document that a stack was made from, as this version reads it, or why it cannot."""
    from model import document
    from model.problems import DocumentError

    root = next((each for each in resources if each.type == ROOT_TYPE), None)
    if root is None:
        return None, "it has no document, so pools and queues cannot be compared"
    try:
        return document.load(root.inputs.get("environment")), ""
    except DocumentError as error:
        return None, f"this version reads its document otherwise, so pools and queues cannot be compared:\n{error}"
