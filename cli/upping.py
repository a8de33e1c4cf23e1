"""`up`: shows what a document means, then brings it up."""

import sys
from dataclasses import dataclass
from typing import Annotated

import typer

from . import environments
from .engine import POLICIES, Engine
from .refusals import RefusedError


@dataclass(frozen=True)
class Place:
    """Where an environment is brought up.

    Attributes:
        engine: The Pulumi engine that does it.
        of_twin: Whether that is the local twin, where nothing needs consent.
    """

    engine: Engine
    of_twin: bool


def up(
    environment: environments.Name = "twin",
    preview: Annotated[bool, typer.Option("--preview", help="Show what would change, and change nothing.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before changing anything. The twin never asks.")
    ] = False,
) -> None:
    """Bring an environment up: check, render and judge it, then let the Pulumi engine do it.

    The environment `twin` needs nothing but this machine: its tools are fetched or built, a control plane with
    simulated GPU nodes is started, and the very same program runs on it. Other environments use your own pulumi,
    login and credentials.
    """
    from . import rendering

    loaded = rendering.load(environment)
    rendering.show_document(environment, loaded)
    rendering.show_rehearsal(environment, loaded, brief=True)
    place = engine_for(environment)
    if preview:
        place.engine.run("preview", "--diff", "--stack", environment, "--policy-pack", POLICIES)
        return
    if place.of_twin:
        place.engine.run("up", "--yes", "--skip-preview", "--stack", environment, "--policy-pack", POLICIES)
    else:
        require_consent("up", yes)
        place.engine.run("up", *(["--yes"] if yes else []), "--stack", environment, "--policy-pack", POLICIES)
    from . import summary

    summary.show(loaded, place.engine.settings)


def engine_for(environment: str) -> Place:
    """Give the place of an environment, made ready: for one that lives in the twin, the twin is started."""
    from . import local, rendering

    loaded = rendering.load(environment)
    if local.lives_in_twin(loaded):
        return Place(local.ready(environment, loaded), of_twin=True)
    return Place(Engine.of_user(), of_twin=False)


def require_consent(command: str, yes: bool) -> None:
    """Refuse to change a real cluster when nobody can be asked.

    Raises:
        RefusedError: No terminal and no `--yes`.
    """
    if not yes and not sys.stdin.isatty():
        raise RefusedError(
            f"{command}: would ask before changing anything, but there is no terminal\n"
            "  fix: --yes, or --preview to look only"
        )
