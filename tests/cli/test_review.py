"""A change as it is reviewed: the report, what code scanning is told, and the exit codes."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer
from markdown_it import MarkdownIt

from cli.refusals import RefusedError
from cli.review import before, command, findings, making
from cli.review.places import Places
from model import reading

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = '''
"""A notebook that somebody wrote by hand."""

import pulumi
from pulumi_kubernetes.core.v1 import ContainerArgs, EnvVarArgs, Pod, PodSpecArgs, ResourceRequirementsArgs
from pulumi_kubernetes.core.v1 import SecurityContextArgs
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.component import Component


@pulumi.type_token("fork:index:Notebook")
class Notebook(Component):
    """A pod with a GPU."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions) -> None:
        super().__init__(name, {}, opts)
        Pod(
            f"{name}-pod",
            metadata=ObjectMetaArgs(name="notebook", namespace="research"),
            spec=PodSpecArgs(
                containers=[
                    ContainerArgs(
                        name="notebook",
                        image="quay.io/jupyter/pytorch-notebook",
                        env=[
                            EnvVarArgs(name="NVIDIA_VISIBLE_DEVICES", value="all"),
                            EnvVarArgs(name="TOKEN", value=pulumi.Output.secret("hunter2")),
                        ],
                        resources=ResourceRequirementsArgs(limits={"nvidia.com/gpu": "0.5"}),
                        security_context=SecurityContextArgs(privileged=True),
                    )
                ]
            ),
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({})
'''
ROCE = "{kind: roce, interfaces: [eth1], networks: [rails/rail-0]}"
BROKEN = {"gpu-limits", "gpu-queue", "gpu-visibility", "image-version", "privileged"}


@dataclass(frozen=True)
class Checkout:
    """A copy of this project in a repository of its own, with one commit."""

    folder: Path

    def edit(self, file: str, *changes: tuple[str, str]) -> None:
        text = (self.folder / file).read_text()
        for old, new in changes:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        (self.folder / file).write_text(text)

    def line(self, file: str, words: str) -> int:
        lines = (self.folder / file).read_text().splitlines()
        return 1 + next(index for index, line in enumerate(lines) if words in line)

    def review(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [ROOT / ".venv" / "bin" / "python", "-P", "-m", "cli", "review", *arguments],
            cwd=self.folder,
            env={key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
            | {"PYTHONPATH": str(self.folder)},
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )


def git(folder: Path, *arguments: str) -> str:
    author = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", *author, *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    # In a folder of its repository, as in one that holds more than this project.
    folder = tmp_path / "repository" / "clusters"
    for name in git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard").splitlines():
        if (ROOT / name).is_file() and not name.startswith(("tests/", "docs/", "twin/modules/")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    git(tmp_path / "repository", "init", "--quiet", "--initial-branch", "main")
    git(tmp_path / "repository", "add", "--all")
    git(tmp_path / "repository", "commit", "--quiet", "--message", "before")
    return Checkout(folder)


def results(file: Path) -> list[Mapping[str, Any]]:
    return json.loads(file.read_text())["runs"][0]["results"]


def place(result: Mapping[str, Any]) -> tuple[str, int]:
    physical = result["locations"][0]["physicalLocation"]
    return physical["artifactLocation"]["uri"], physical["region"]["startLine"]


def test_a_larger_pool_another_fabric_and_five_broken_rules_are_all_told(checkout: Checkout, tmp_path: Path) -> None:
    before = git(checkout.folder, "status", "--porcelain", "--branch") + git(checkout.folder, "worktree", "list")
    document = "stacks/Pulumi.twin.yaml"
    checkout.edit(
        document,
        ("size: 64\n        fabric: infiniband", f"size: 80\n        fabric: {ROCE}"),
        ("deserved: {cpu: 3584, memory: 64Ti, gpu: 256}", "deserved: {cpu: 3584, memory: 64Ti, gpu: 192}"),
    )
    (checkout.folder / "stacks" / "notebook.py").write_text(NOTEBOOK)
    made = 'Notebook(f"{name}-notebook", opts=self._child())'
    checkout.edit(
        "stacks/platform.py",
        (
            "from stacks.workloads import workloads",
            "from stacks.notebook import Notebook\nfrom stacks.workloads import workloads",
        ),
        ("        self.register_outputs({})", f"        {made}\n        self.register_outputs({{}})"),
    )

    done = checkout.review("twin", "--sarif", str(tmp_path / "report.sarif"))

    assert (done.returncode, done.stderr) == (1, "")
    report = done.stdout
    # the pool
    assert "**+128 GPUs**" in report
    assert "| `train` | dgx-h100 | 64 → 80 (+16) | 512 → 640 (+128) h100-sxm-80gb |" in report
    # the queue
    assert "| `research.llm` | deserved | `nvidia.com/gpu` | 256 | 192 |" in report
    # the fabric
    assert "🟥 drains or replaces nodes: **pool train**, infiniband -&gt; roce" in report
    assert "ends pods: **Ray cluster tuning**" in report
    assert "♻️ replace ConfigMap `platform-fabric-rdma-shared-train-config`, since `metadata.name`, `data`" in report
    # the rules, each with its place and its fix
    found = results(tmp_path / "report.sarif")
    errors = [result for result in found if result["level"] == "error"]
    broken = {result["ruleId"] for result in errors}
    assert broken >= BROKEN
    assert report.startswith(f"<!-- gangline review twin -->\n## ❌ `twin`: {len(broken)} mandatory rules broken")
    notebook = ("clusters/stacks/notebook.py", checkout.line("stacks/notebook.py", "        Pod("))
    assert {place(result) for result in errors} == {notebook}
    for rule in broken:
        assert f"**`{rule}`**" in report
    assert report.count("**Fix:**") >= len(errors)
    assert "`clusters/stacks/notebook.py:" in report
    # and nothing else: no secret, and no trace in the repository
    assert "hunter2" not in report + (tmp_path / "report.sarif").read_text()
    git(checkout.folder, "checkout", "--quiet", ".")
    git(checkout.folder, "clean", "--quiet", "--force", "-d")
    assert (
        git(checkout.folder, "status", "--porcelain", "--branch") + git(checkout.folder, "worktree", "list") == before
    )
    html = MarkdownIt("gfm-like", {"linkify": False}).render(report)
    assert html.count("<table>") == 2
    assert "**" not in html


def test_mistakes_of_the_document_are_told_at_their_lines(checkout: Checkout, tmp_path: Path) -> None:
    document = "stacks/Pulumi.twin.yaml"
    checkout.edit(document, ("size: 64", "size: -64"), ("fabric: infiniband", "fabric: infinband"))
    done = checkout.review("twin", "--sarif", str(tmp_path / "report.sarif"))
    assert (done.returncode, done.stderr) == (1, "")
    assert "## ❌ `twin`: the document has 2 mistakes" in done.stdout
    assert "Nothing else was looked at" in done.stdout
    places = {place(result) for result in results(tmp_path / "report.sarif")}
    lines = [checkout.line(document, words) for words in ("size: -64", "fabric: infinband")]
    assert places == {(f"clusters/{document}", line) for line in lines}


def test_a_new_environment_and_one_whose_past_cannot_be_read(checkout: Checkout) -> None:
    shutil.copyfile(checkout.folder / "stacks" / "Pulumi.sharing.yaml", checkout.folder / "stacks" / "Pulumi.lab.yaml")
    done = checkout.review("lab")
    assert (done.returncode, done.stderr) == (0, "")
    assert "0 changed, 0 replaced, 0 removed" in done.stdout
    assert "(+" in done.stdout

    checkout.edit("twin/rehearsal.py", ("import asyncio", "import asyncio\nimport a_package_that_went_away"))
    git(checkout.folder, "commit", "--quiet", "--all", "--message", "broken")
    checkout.edit("twin/rehearsal.py", ("import a_package_that_went_away\n", ""))
    done = checkout.review("sharing", "--against", "HEAD")
    assert (done.returncode, done.stderr) == (0, "")
    assert "its code cannot be rehearsed" in done.stdout
    assert "a\\_package\\_that\\_went\\_away" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"against": "nope"}, "--against nope: git knows no such commit here"),
        ({"state": Path("nope.json")}, "--state nope.json: there is no such file"),
        ({"state": ROOT / "README.md"}, f"--state {ROOT / 'README.md'}: not a state that was exported"),
        ({"against": "HEAD", "state": Path("a.json")}, "--against and --state: only one"),
        ({"sarif": Path("nowhere") / "a.sarif"}, "--sarif nowhere/a.sarif: there is no folder nowhere"),
        ({"environment": "twni"}, "environment twni: there is no stacks/Pulumi.twni.yaml"),
    ],
)
def test_a_review_that_cannot_be_made_ends_with_2_and_says_why(
    arguments: dict[str, Any], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen: dict[str, Any] = {"environment": "twin"} | arguments
    with pytest.raises(typer.Exit) as ended:
        command.review(**chosen)
    shown = capsys.readouterr()
    assert (ended.value.exit_code, shown.out) == (2, "")
    assert shown.err.startswith(said)
    assert "fix:" in shown.err or "no such file" in shown.err


def test_it_is_compared_with_where_the_work_left_the_default_branch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(before, "ROOT", tmp_path)
    with pytest.raises(RefusedError, match=r"no git repository.*\(fatal: not a git repository"):
        before.commit(None)
    git(tmp_path, "init", "--quiet", "--initial-branch", "trunk")
    for number in range(3):
        git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", f"{number}")
    first, head = git(tmp_path, "rev-parse", "HEAD~1"), git(tmp_path, "rev-parse", "HEAD")
    assert before.commit(None) == before.Commit(head, f"HEAD ({head[:7]})")
    git(tmp_path, "branch", "main", first)
    assert before.commit(None) == before.Commit(first, f"main ({first[:7]})")
    git(tmp_path, "update-ref", "refs/remotes/origin/live", head)
    git(tmp_path, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/live")
    assert before.commit(None) == before.Commit(head, f"live ({head[:7]})")
    assert before.commit("HEAD~2").called == f"HEAD~2 ({git(tmp_path, 'rev-parse', 'HEAD~2')[:7]})"


def test_a_repository_without_a_commit_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    monkeypatch.setattr(before, "ROOT", tmp_path)
    with pytest.raises(RefusedError, match="no commit yet, so nothing to compare with"):
        before.commit(None)


def test_a_past_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(before, "_PATIENCE", 0.2)
    file = tmp_path / "Pulumi.twin.yaml"
    file.touch()
    with subprocess.Popen(["sleep", "60"], stderr=subprocess.PIPE, text=True) as process:
        was = before.Rehearsing(before.Commit("1", "main (1)"), file, tmp_path / "answer", process).result()
        process.kill()
    assert (was.resources, was.note) == (None, "its rehearsal did not end in 0.2 seconds, so nothing can be compared")


def test_a_saved_state_of_the_same_stack_differs_in_nothing(tmp_path: Path) -> None:
    now = making.read("sharing")
    stack = "urn:pulumi:sharing::gangline::pulumi:pulumi:Stack::gangline-sharing"
    saved = [
        {
            "urn": each.urn,
            "type": each.type,
            "custom": each.custom,
            "inputs": each.inputs,
            "parent": each.parent or stack,
            "provider": f"{each.provider}::id" if each.provider else "",
            "protect": each.protect,
        }
        for each in now.resources
    ]
    gone = saved[-1] | {"urn": f"{saved[-1]['urn']}-before", "protect": True}
    leaving = saved[-1] | {"delete": True}
    root = {"urn": stack, "type": "pulumi:pulumi:Stack", "custom": False}
    file = tmp_path / "state.json"
    file.write_text(json.dumps({"version": 3, "deployment": {"resources": [root, *saved, gone, leaving]}}))
    was = before.saved(file, "sharing")
    with pytest.raises(RefusedError, match="is the state of stack sharing, and twin is reviewed"):
        before.saved(file, "twin")
    review = making.review(now, was.called, lambda: was)
    assert review.changes is not None
    assert [(each.kind, each.resource.urn, each.resource.protect) for each in review.changes] == [
        ("remove", gone["urn"], True)
    ]
    assert review.document is not None
    assert (review.document.pools, review.unjudged) == ((), ())


def test_what_the_pack_says_is_taken_apart() -> None:
    rule = findings.Rule("a", "It holds.", "Mend it.", "high")
    places = Places("f.yaml", "", {}, reading.Positions(None))
    told = "It holds.\nspec.x[0]: 1 is wrong\nand more\nfix: Mend it.\nexempted: ops, old, until 2027-01-31"
    found = findings.finding({"a": rule}, "a", "advisory", "urn:pulumi:s::p::x$y:z:Pod::one", told, places)
    assert (found.resource, found.fix, found.exempted) == ("y:z:Pod::one", "Mend it.", "ops, old, until 2027-01-31")
    assert found.message == "spec.x[0]: 1 is wrong\nand more"
