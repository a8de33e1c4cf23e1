"""`twin`: the local cluster by itself."""

import os
import shlex
import sys
from typing import Annotated

import typer

from . import benching, drilling, environments
from .output import console

app = typer.Typer(
    help="The local twin: a real control plane and real schedulers on loopback, with simulated nodes.",
    no_args_is_help=True,
)
app.command()(drilling.drill)
app.command()(benching.bench)


@app.command()
def start(environment: environments.Name = "twin") -> None:
    """Start the control plane with the nodes that an environment's document describes. Does nothing when it runs."""
    from . import rendering
    from .upping import place_of

    place_of(environment, rendering.load(environment), twin=True)


@app.command()
def stop() -> None:
    """End every process of the twin. Its state stays in .twin/ and the next start continues from it."""
    from . import local, recovery

    here = local.twin()
    recovery.end_orphans(here.environment())
    stopped = here.stop()
    console.print("The twin has stopped; its state is kept in .twin/." if stopped else "The twin was not running.")


@app.command()
def status() -> None:
    """Show processes, memory, nodes, and in what the lent processes differ from their own Deployments."""
    from . import local
    from . import status as statuses

    statuses.show(local.twin().status())


@app.command(name="env")
def environment_variables() -> None:
    """Print the settings that make kubectl and plain pulumi speak to the twin: eval "$(./gangline twin env)"."""
    from twin.aws import running

    from . import local

    here = local.twin()
    given = here.environment()
    if here.cloud:
        # They would lead past the twin's cloud, to AWS.
        for name in sorted(os.environ.keys() - given.keys()):
            if name.startswith(running.PREFIX):
                sys.stdout.write(f"unset {name}\n")
    for name, value in given.items():
        sys.stdout.write(f"export {name}={shlex.quote(value)}\n")


@app.command()
def nodes(
    environment: environments.Name = "twin",
    pool: Annotated[str | None, typer.Option(help="Only this pool.")] = None,
) -> None:
    """Show the nodes that the document describes and how the cluster sees them."""
    from . import local, rendering, summary

    summary.show_nodes(rendering.load(environment), local.twin(), pool)
