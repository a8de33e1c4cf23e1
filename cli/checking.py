"""`check`: is the document sound? `schema`: what may stand in it."""

import json
import sys

import typer

from . import environments


def check(
    environment: environments.Name = "twin",
) -> None:
    """Read the document of an environment and report every problem in it at once.

    Needs no cluster, no cloud and no tools. Warnings do not fail the check.
    """
    from . import describing, rendering

    loaded = rendering.load(environment)
    typer.echo(f"{environments.file(environment)}: sound ({describing.line(loaded)})")
    for name, words in describing.checkpoints(loaded):
        typer.echo(f"  {name}: {words}")


def schema() -> None:
    """Print the JSON Schema of a stack file, as editors use it through the modeline on the file's first line."""
    from model.schema import json_schema

    json.dump(json_schema(), sys.stdout, indent=2)
    sys.stdout.write("\n")
