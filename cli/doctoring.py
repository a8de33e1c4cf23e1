"""`doctor`: what is here, what is missing, and how each thing would be had."""

from typing import TYPE_CHECKING, Annotated

import typer

from . import environments
from .output import console
from .upping import InTwin

if TYPE_CHECKING:
    from collections.abc import Mapping

    from model.environment import Environment
    from twin.tools import Row


def doctor(
    environment: Annotated[
        str | None,
        typer.Argument(
            metavar="[ENV]",
            help="Look at the account or the cluster that stacks/Pulumi.ENV.yaml is for, instead of the tools.",
            autocompletion=environments.complete,
        ),
    ] = None,
    twin: InTwin = False,
) -> None:
    """Say what is missing, and how each thing would be had. Changes nothing.

    Without an environment: which tools are here, how each would be had and how long that takes. With one on AWS: what
    its account lacks of quotas, offers, reservations and room; with one on an existing cluster: whether that answers.
    """
    if environment is None:
        _tools()
        return
    from model import aws

    from . import rendering
    from .aws import preflight

    loaded = rendering.load(environment)
    if aws.here(loaded):
        preflight.examine(environment, loaded, _settings(twin))
    else:
        _cluster(loaded, twin=twin)


def _settings(twin: bool) -> "Mapping[str, str] | None":
    from . import local

    return local.twin().environment() if twin else None


def _cluster(environment: "Environment", *, twin: bool) -> None:
    """Look at a cluster that is there: whether it answers, and whether Helm would work on it."""
    from lightkube.resources.core_v1 import Node

    from twin.paths import CONTEXT

    from . import clusters, local, recovery
    from .engine import Engine

    in_twin = twin or local.lives_in_twin(environment)
    settings = _settings(in_twin) or Engine.of_user().settings
    context = CONTEXT if in_twin else environment.cluster.context or ""
    with clusters.connected(settings, context) as client:
        recovery.refuse_pending_releases(client)
        count = sum(1 for _ in client.list(Node))
    console.print(f"context {context}: the cluster answers, {count} nodes; no Helm release is half-way", markup=False)


def _tools() -> None:
    from twin import tools

    rows = tools.report()
    for row in rows:
        _show(row)
    for use, command in (("twin", "./gangline up"), ("tests", "./gangline test")):
        missing = [row for row in rows if row.where == "missing" and row.use == use]
        if missing:
            minutes = sum(row.seconds for row in missing) // 60 + 1
            console.print(f"{len(missing)} of {len(rows)} missing; {command} gets them; building takes {minutes} min")
    if all(row.where != "missing" for row in rows):
        console.print(f"all {len(rows)} are here")


def _show(row: "Row") -> None:
    colour = "red" if row.where == "missing" else "green"
    console.print(f"[bold]{row.name}[/] {row.wanted}  [{colour}]{row.where}[/]  {row.purpose}", soft_wrap=True)
    for place in row.places:
        console.print(f"    {place}", style="dim", soft_wrap=True)
    for way in row.ways:
        time = f", about {row.seconds // 60 + 1} min" if way.name == "build" and row.seconds else ""
        state = f"off: {way.off}" if way.off else f"possible{time}"
        console.print(f"    {way.name:9}{state}", style="dim", soft_wrap=True)
    for note in row.notes:
        console.print(f"    note     {note.strip()}", style="dim", soft_wrap=True)
