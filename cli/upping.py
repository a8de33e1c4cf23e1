"""`up`: shows what a document means, then brings it up."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from model.environment import Environment

from . import environments
from .engine import POLICIES, Engine
from .refusals import RefusedError

InTwin = Annotated[
    bool, typer.Option("--twin", help="On the twin of this checkout, whatever cluster the document names.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before changing anything. The twin never asks.")]

Force = Annotated[bool, typer.Option("--force", help="Remove queues although others' work is in them.")]


@dataclass(frozen=True)
class Place:
    """Where an environment is brought up.

    Attributes:
        stack: The stack's name, which is the environment's.
        engine: The Pulumi engine that does it.
        of_twin: Whether that is the local twin, where nothing needs consent.
        config: The stack file, where it is not the usual one.
    """

    stack: str
    engine: Engine
    of_twin: bool
    config: Path | None = None

    def state(self) -> str:
        """Give the saved state of the stack, as the engine exports it."""
        return self.engine.read("stack", "export", "--stack", self.stack)

    def run(self, command: str, *arguments: str) -> None:
        """Run a Pulumi command on the stack.

        Raises:
            RefusedError: It failed; what is wrong is on the screen already.
        """
        config = ["--config-file", str(self.config)] if self.config else []
        self.engine.run(command, "--stack", self.stack, *config, *arguments)


def up(
    environment: environments.Name = "twin",
    twin: InTwin = False,
    preview: Annotated[bool, typer.Option("--preview", help="Show what would change, and change nothing.")] = False,
    yes: Yes = False,
    force: Force = False,
) -> None:
    """Bring an environment up: check, render and judge it, then let the Pulumi engine do it.

    The environment `twin` needs nothing but this machine: its tools are fetched or built, a control plane with
    simulated GPU nodes is started, and the very same program runs on it. `--twin` does that with any environment.
    Without it, other environments use your own pulumi, login and credentials.
    """
    from . import changes, lookout, queue_removal, rendering, summary
    from .aws import preflight

    loaded = rendering.load(environment)
    if not _in_twin(loaded, twin):
        engine = Engine.of_user()
        if not preview:
            require_consent("up", yes)
        _look_ahead(engine, environment, loaded)
    rendering.show_document(environment, loaded)
    rehearsal = rendering.show_rehearsal(environment, loaded, brief=True)
    place = place_of(environment, loaded, twin=twin)
    preflight.look_ahead(environment, loaded, place.engine.settings if place.of_twin else None, refuse=not preview)
    exported = place.state()
    changes.show(exported, loaded)
    changes.look_ahead(environment, exported, loaded, refuse=not preview)
    lookout.look_ahead(place, loaded, exported, refuse=not preview)
    going = queue_removal.departure(exported, {resource.urn for resource in rehearsal.resources})
    if preview:
        queue_removal.foretell(place, loaded, going)
        place.run("preview", "--policy-pack", POLICIES)
        return
    # In the twin the rehearsal has already been shown and judged, and nobody is asked: a second look would cost half
    # the time.
    arguments = ["--yes", "--skip-preview"] if place.of_twin else ["--yes"] if yes else []
    with queue_removal.watched(place, loaded, going, "up", force=force, unreachable=not going.queues):
        place.run("up", "--policy-pack", POLICIES, *arguments)
    summary.show(environment, loaded, place.engine, of_twin=place.of_twin)


def _look_ahead(engine: Engine, stack: str, environment: Environment) -> None:
    """Find what would stop the user's engine half-way, before it starts.

    Raises:
        RefusedError: No such cluster, no such stack, or a Helm release in the middle of an operation.
    """
    from . import clusters, recovery

    if context := environment.cluster.context:
        with clusters.connected(engine.settings, context) as client:
            recovery.refuse_pending_releases(client)
    engine.require_stack(stack)
    if context is None:
        with clusters.made_by(engine, stack) as made:
            if made is not None:  # a first run makes it
                recovery.refuse_pending_releases(made)


def _in_twin(environment: Environment, asked: bool) -> bool:
    from . import local

    return asked or local.lives_in_twin(environment)


def place_of(name: str, environment: Environment, *, twin: bool) -> Place:
    """Give the place of an environment, made ready: for one that lives in the twin, the twin is started.

    Args:
        name: The environment's name.
        environment: Its checked document.
        twin: Whether it was asked to live in the twin.
    """
    from . import local

    if not _in_twin(environment, twin):
        return Place(name, Engine.of_user(), of_twin=False)
    config = None if local.lives_in_twin(environment) else local.borrowed_config(name)
    return Place(name, local.ready(name, environment, config), of_twin=True, config=config)


def require_consent(command: str, yes: bool) -> None:
    """Refuse to change a real cluster when nobody can be asked.

    Raises:
        RefusedError: No terminal and no `--yes`.
    """
    if not yes and not sys.stdin.isatty():
        raise RefusedError(
            f"{command}: would ask before changing anything, but there is no terminal\n"
            "  fix: --yes, or ./gangline up ENV --preview to look only"
        )
