"""Programs that this machine already has, if their version fits."""

import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from twin.tools.cache import cache_root
from twin.tools.pins import Closed, PluginProbe, Probe, Tool

_PATIENCE = 10


def on_path(tool: Tool) -> tuple[dict[str, Path] | None, str]:
    """Look for a tool on PATH.

    Returns:
        Its programs by name and an empty text; or nothing and the reason.
    """
    if isinstance(tool.path, Closed):
        return None, tool.path.closed
    if isinstance(tool.path, PluginProbe):
        return _plugin(tool, tool.path)
    found: dict[str, Path] = {}
    for program in tool.programs:
        place = _which(program)
        if place is None:
            return None, f"no {program} on PATH"
        found[program] = place
    for place in found.values():
        refusal = _refusal(place, tool.path)
        if refusal:
            return None, refusal
    return found, ""


def _plugin(tool: Tool, probe: PluginProbe) -> tuple[dict[str, Path] | None, str]:
    (program,) = tool.programs
    place = _which(program)
    places = [place] if place else []
    for home in {os.environ.get("PULUMI_HOME") or Path.home() / ".pulumi", Path.home() / ".pulumi"}:
        places += sorted(Path(home).glob(f"plugins/resource-{probe.plugin}-v*/{program}"))
    refusal = f"no {program} on PATH, and none that the engine installed"
    for place in places:
        version = plugin_version(place)
        if version is not None and probe.accepts(version):
            return {program: place}, ""
        said = f"is {version}, wanted {' '.join(probe.fits)}" if version else "does not say its version"
        refusal = f"{place} {said}"
    return None, refusal


def _which(program: str) -> Path | None:
    # Our own cache may be on PATH (`twin env`): it is asked by its own rules, with checksums.
    ours = cache_root()
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    others = [folder for folder in folders if folder and not Path(folder).absolute().is_relative_to(ours)]
    place = shutil.which(program, path=os.pathsep.join(others)) if others else None
    return Path(place) if place else None


@contextmanager
def _running(command: list[str | Path], stdout: int | IO[bytes], stderr: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program that may be anything; at the end it and what it started are gone, whatever they do.

    Raises:
        OSError: it cannot be started.
    """
    child = subprocess.Popen(
        command,
        env=os.environ | {"PULUMI_SKIP_UPDATE_CHECK": "1"},
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
    )
    try:
        yield child
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        if child.stdout:
            child.stdout.close()


def plugin_version(place: Path) -> str | None:
    """The version that a provider plugin gives over its wire; nothing when it does not answer."""
    # The SDK costs a second to import, and only a machine that has the plugin needs it.
    import grpc
    from google.protobuf.empty_pb2 import Empty
    from pulumi.runtime.proto.provider_pb2_grpc import ResourceProviderStub

    try:
        # The engine's address comes first; nobody answers there, and nothing is asked before Configure.
        with _running([place, "127.0.0.1:1"], subprocess.PIPE, subprocess.DEVNULL) as child:
            ready = child.stdout and select.select([child.stdout], [], [], _PATIENCE)[0]
            port = child.stdout.readline().strip() if ready and child.stdout else b""
            if not port.isdigit():
                return None
            with grpc.insecure_channel(f"127.0.0.1:{int(port)}") as channel:
                answer = ResourceProviderStub(channel).GetPluginInfo(Empty(), timeout=_PATIENCE)
    except (OSError, grpc.RpcError):
        return None
    return answer.version.removeprefix("v") or None


def _refusal(place: Path, probe: Probe) -> str:
    # A file, not a pipe: what the program leaves running could hold a pipe open for ever.
    with tempfile.TemporaryFile() as output:
        try:
            with _running([place, *probe.args], output, subprocess.STDOUT) as child:
                child.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            return f"{place} did not say its version within {_PATIENCE} s"
        except OSError as error:
            return f"{place} cannot be run: {error.strerror}"
        output.seek(0)
        match = re.search(probe.pattern, output.read().decode(errors="replace"))
    if match is None:
        return f"{place} does not say its version"
    if not probe.accepts(match[1]):
        return f"{place} is {match[1]}, wanted {' '.join(probe.fits)}"
    return ""
