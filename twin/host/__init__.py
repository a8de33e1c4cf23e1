"""A stand-in for Pulumi's Python language host, for machines where the official one cannot be had.

The engine starts a program called `pulumi-language-python` for each Python program and policy pack. Releases of
Pulumi bring it, its Go module is not served, so an engine that was built from its module has none. The stand-in
goes to the end of PATH, and only where no official host is: an official one always wins.
"""

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from twin.tools.progress import Progress

NAME = "pulumi-language-python"
BIN = Path(__file__).resolve().parent / "bin"


def official(pulumi: Path) -> Path | None:
    """The official language host on PATH or beside the engine, where the engine itself looks; or nothing."""
    folders = [str(pulumi.resolve().parent), *os.environ.get("PATH", os.defpath).split(os.pathsep)]
    others = [folder for folder in folders if folder and Path(folder).resolve() != BIN]
    found = shutil.which(NAME, path=os.pathsep.join(others))
    return Path(found) if found else None


def folders_for_path(pulumi: Path, progress: "Progress | None" = None) -> list[Path]:
    """What must be appended to PATH so that an engine can run Python.

    Args:
        pulumi: the engine's program.
        progress: hears how the SDK's starter is got.

    Returns:
        Nothing where an official host is; else the stand-in's folder and that of the SDK's starter.

    Raises:
        ToolError: the starter cannot be had.
    """
    if official(pulumi):
        return []
    # Plugins import this package, too, and none of them gets tools.
    from twin.tools.sources import ensure_sources

    return [BIN, *ensure_sources(["pulumi-python-exec"], progress).values()]
