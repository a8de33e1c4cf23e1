"""`destroy`: takes down what `up` made, and says what stays."""

from typing import Annotated

import typer

from . import environments
from .output import console


def destroy(
    environment: environments.Name = "twin",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask. The twin never asks.")] = False,
) -> None:
    """Take down what `up` made: workloads, queues, operators, in this order.

    What holds people's work stays: custom resource definitions with their objects, the scheduler's own queues.
    The next `up` adopts them again.
    """
    from .upping import engine_for, require_consent

    place = engine_for(environment)
    if not place.of_twin:
        require_consent("destroy", yes)
    arguments = ["--yes"] if place.of_twin or yes else []
    place.engine.run("destroy", "--stack", environment, *arguments)
    if place.of_twin:
        console.print("The twin's control plane still runs: ./gangline twin stop ends it.")
