"""`test`: everything that must be true of this checkout, cheapest first."""

import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Annotated

import typer

from .environments import ROOT
from .output import console
from .refusals import RefusedError


@dataclass(frozen=True)
class Step:
    """One check: what it shows, and the command."""

    title: str
    command: tuple[str, ...]


def _module(name: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-P", "-m", name, *arguments)


REAL = ("tests/end_to_end", "tests/twin", "tests/upstream", "tests/monitoring", "tests/policies/test_engine.py")
"""Tests that run real programs, and so need the tools: the longest files first, so that none is left for the end."""

FAST = (
    Step("format", _module("ruff", "format", "--check", ".")),
    Step("lint", _module("ruff", "check", ".")),
    Step("layers", (str(ROOT / ".venv" / "bin" / "lint-imports"),)),
    Step("types", _module("basedpyright")),
    Step("everything in process", _module("pytest", "-q", "-n", "2", *(f"--ignore={path}" for path in REAL), "tests")),
)
# A file is one worker's, since its tests share a twin. Files come in this order, and not by their number of tests.
TWIN = Step(
    "the real engine on the real control plane",
    _module("pytest", "-q", "-n", "2", "--dist=loadfile", "--no-loadscope-reorder", "--durations=25", *REAL),
)


def test(
    fast: Annotated[bool, typer.Option("--fast", help="Only what needs no tools: seconds instead of minutes.")] = False,
) -> None:
    """Run the checks and tests, cheapest first, and stop at the first that fails.

    Installs the development tools on first use, and fetches or builds the twin's tools before the tests that need them.
    """
    installed = subprocess.run([sys.executable, ROOT / "cli" / "install.py", "--dev"], check=False)
    if installed.returncode:
        raise typer.Exit(installed.returncode)
    for step in FAST:
        _run(step)
    if fast:
        return
    from . import local

    local.programs()
    local.test_programs()
    _run(TWIN)


def _run(step: Step) -> None:
    console.print(f"[bold]── {step.title}[/]")
    began = time.monotonic()
    done = subprocess.run(step.command, cwd=ROOT, check=False)
    if done.returncode:
        raise RefusedError(f"test: {step.title}: failed (exit {done.returncode})")
    console.print(f"[dim]{time.monotonic() - began:.1f} s[/]")
