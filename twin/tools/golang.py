"""The Go toolchain: is there one that fits, modules by checksum, and builds that can be stopped."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import semver

from twin.tools.errors import ToolError, no_room, says_no_room
from twin.tools.pins import GoModule

_TICK = 0.5
_GRACE = 3


@dataclass(frozen=True)
class Go:
    """A Go toolchain on PATH.

    Attributes:
        program: the `go` command.
        version: such as 1.26.8.
        switches: whether it may fetch a newer toolchain when a module asks for one (GOTOOLCHAIN).
    """

    program: Path
    version: str
    switches: bool


def go_environment() -> dict[str, str]:
    """The environment of every `go` we run: for this machine, static, one module at a time."""
    environment = {k: v for k, v in os.environ.items() if k not in {"GOOS", "GOARCH"}}
    return environment | {"CGO_ENABLED": "0", "GOWORK": "off", "GO111MODULE": "on"}


def find_go() -> tuple[Go | None, str]:
    """The Go toolchain on PATH, or nothing and the reason."""
    place = shutil.which("go")
    return _ask_go(place, os.environ.get("GOTOOLCHAIN", "")) if place else (None, "Go is not installed")


@cache
def _ask_go(place: str, toolchain: str) -> tuple[Go | None, str]:
    environment = go_environment() | ({"GOTOOLCHAIN": toolchain} if toolchain else {})
    command = [place, "env", "-json", "GOVERSION", "GOTOOLCHAIN"]
    try:
        # From a folder without a go.mod, which could ask for another toolchain.
        asked = subprocess.run(
            command, env=environment, cwd=Path(place).parent, capture_output=True, text=True, check=True
        )
    except subprocess.CalledProcessError as error:
        return None, f"{place} does not work: {error.stderr.strip()}"
    except OSError as error:
        return None, f"{place} cannot be run: {error.strerror}"
    answer = json.loads(asked.stdout)
    version = re.match(r"go(\d+\.\d+(?:\.\d+)?)", answer["GOVERSION"])
    if version is None:
        return None, f"{place} is {answer['GOVERSION']}, which is no release"
    # Before 1.21 there is no such setting, and a toolchain is what it is.
    return Go(Path(place), version[1], answer["GOTOOLCHAIN"].endswith("auto")), ""


def too_old(go: Go, module_folder: Path) -> str:
    """Why a toolchain cannot build a module, by its `go` line; empty when it can."""
    line = re.search(r"(?m)^go (\S+)", (module_folder / "go.mod").read_text())
    needed = line[1] if line else "1.0"
    parse = semver.Version.parse
    if go.switches or parse(go.version, True) >= parse(needed, True):
        return ""
    return f"{go.program} is {go.version}, {needed} is needed (GOTOOLCHAIN does not let it fetch one)"


def module_folder(go: Go, pin: GoModule, scratch: Path) -> Path:
    """The folder of a module in Go's module cache, fetched if need be and checked against the pinned sum.

    Raises:
        ToolError: the module cannot be had or is not the pinned one.
    """
    name = f"{pin.module}@{pin.version}"
    # A folder without a go.mod: the command must not touch anybody's go.sum.
    asked = subprocess.run(
        [go.program, "mod", "download", "-json", name],
        env=go_environment(),
        cwd=scratch,
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        answer = json.loads(asked.stdout)
    except ValueError:
        answer = {"Error": asked.stderr.strip()}
    if "Error" in answer or "Dir" not in answer:
        problem = answer.get("Error") or asked.stderr.strip()
        if says_no_room(problem):
            raise no_room(scratch)
        raise ToolError(f"Go cannot fetch {name}: {problem}", "check the network, the proxy and GOPROXY")
    if answer["Sum"] != pin.sum:
        raise ToolError(
            f"{name} has the checksum {answer['Sum']}, and the pinned one is {pin.sum}",
            "do not trust that module server; look at GOPROXY",
        )
    return Path(answer["Dir"])


@contextmanager
def _stopped_with_us(command: list[str | Path], **options: object) -> Iterator[subprocess.Popen[str]]:
    """Run a command in a process group of its own that never outlives the block, however it ends."""
    # A killed parent cannot clean up: there the kernel tells the child (Linux).
    guard = shutil.which("setpriv")
    prefix: list[str | Path] = [guard, "--pdeathsig", "TERM"] if guard else []
    child = subprocess.Popen(prefix + command, start_new_session=True, **options)  # pyright: ignore
    try:
        yield child
    finally:
        _end_group(child)


def _end_group(child: subprocess.Popen[str]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, number)
        except (ProcessLookupError, PermissionError):
            break  # nobody is left in the group
        deadline = time.monotonic() + _GRACE
        while time.monotonic() < deadline and _group_lives(child):
            time.sleep(0.02)
    child.wait()


def _group_lives(child: subprocess.Popen[str]) -> bool:
    child.poll()
    try:
        os.killpg(child.pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def build(
    go: Go,
    folder: Path,
    package: str,
    target: Path,
    ldflags: str,
    tags: Sequence[str],
    log: Path,
    tick: Callable[[str], None],
) -> None:
    """Build one program from a wrapper module.

    Args:
        go: the toolchain.
        folder: the module.
        package: the main package.
        target: where the program goes.
        ldflags: stamps, beside `-s -w`.
        tags: build tags.
        log: receives what the compiler says.
        tick: called about twice a second with how far it is, in words.

    Raises:
        ToolError: the build failed.
    """
    command: list[str | Path] = [
        go.program, "build", "-v", "-trimpath", "-buildvcs=false", "-mod=readonly",
        *([f"-tags={','.join(tags)}"] if tags else []),
        "-ldflags", f"-s -w {ldflags}".strip(), "-o", target, package,
    ]  # fmt: skip
    with log.open("a") as sink:
        sink.write(f"$ {' '.join(map(str, command))}\n")
        sink.flush()
        start = sink.tell()
        with _stopped_with_us(command, cwd=folder, env=go_environment(), stdout=sink, stderr=sink) as child:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    child.wait(_TICK)
                    break
                tick(_how_far(log, start))
    if child.returncode:
        said = [line for line in log.read_text(errors="replace").splitlines() if _is_complaint(line)]
        if any(says_no_room(line) for line in said):
            raise no_room(target)
        tail = "\n".join(said[-15:]) or f"go build ended with {child.returncode}"
        raise ToolError(
            f"{package} does not build:\n{tail}",
            f"read {log}; Go's own caches can be emptied with: go clean -cache",
        )


def _how_far(log: Path, start: int) -> str:
    with log.open("rb") as stream:
        stream.seek(start)
        lines = stream.read().splitlines()
    fetched = sum(line.startswith(b"go: downloading ") for line in lines)
    compiled = sum(b" " not in line for line in lines)
    return f"{compiled} packages compiled" + (f", {fetched} modules fetched" if fetched else "")


def _is_complaint(line: str) -> bool:
    # `go build -v` prints import paths; whatever holds a space is said to somebody.
    return " " in line and not line.startswith(("$ ", "go: downloading "))
