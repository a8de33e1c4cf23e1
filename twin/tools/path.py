"""Programs that are already on PATH, if their version fits."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from twin.tools.cache import cache_root
from twin.tools.pins import Closed, Probe, Tool

_PATIENCE = 10


def on_path(tool: Tool) -> tuple[dict[str, Path] | None, str]:
    """Look for a tool on PATH.

    Returns:
        Its programs by name and an empty text; or nothing and the reason.
    """
    if isinstance(tool.path, Closed):
        return None, tool.path.closed
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


def _which(program: str) -> Path | None:
    # Our own cache may be on PATH (`twin env`): it is asked by its own rules, with checksums.
    ours = cache_root()
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    others = [folder for folder in folders if folder and not Path(folder).absolute().is_relative_to(ours)]
    place = shutil.which(program, path=os.pathsep.join(others)) if others else None
    return Path(place) if place else None


def _refusal(place: Path, probe: Probe) -> str:
    try:
        answer = subprocess.run(
            [place, *probe.args],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{place} did not say its version within {_PATIENCE} s"
    except OSError as error:
        return f"{place} cannot be run: {error.strerror}"
    match = re.search(probe.pattern, answer.stdout) or re.search(probe.pattern, answer.stderr)
    if match is None:
        return f"{place} does not say its version"
    if not probe.accepts(match[1]):
        return f"{place} is {match[1]}, wanted {' '.join(probe.fits)}"
    return ""
