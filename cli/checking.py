"""`check`: is the document sound? `schema`: what may stand in it."""

import json
import sys
from typing import TYPE_CHECKING

import typer

from . import environments
from .refusals import RefusedError

if TYPE_CHECKING:
    from model.environment import Environment


def check(
    environment: environments.Name = "twin",
) -> None:
    """Read the document of an environment and report every problem in it at once.

    Needs no cluster, no cloud and no tools. Warnings do not fail the check.
    """
    from . import describing, rendering

    loaded = rendering.load(environment)
    if faults := _settings(environment, loaded):
        raise RefusedError("\n".join(faults))
    typer.echo(f"{environments.file(environment)}: sound ({describing.line(loaded)})")
    for name, words in describing.checkpoints(loaded):
        typer.echo(f"  {name}: {words}")


def _settings(name: str, environment: "Environment") -> list[str]:
    """What is wrong with what a document sets about rules. Only the pack knows these: it is asked where any is set."""
    held = environment.policies
    if not (held.levels or held.options or held.exemptions):
        return []
    from model import document
    from model.engine_names import ROOT_TYPE
    from twin.monitor import Resource
    from twin.policy_pack import judge

    from .review.places import Places

    told = environment.model_dump(mode="json", by_alias=True, exclude_unset=True)
    root = Resource(
        f"urn:pulumi:{name}::gangline::{ROOT_TYPE}::{name}", ROOT_TYPE, name, None, False, {"environment": told}
    )
    file = environments.file(name)
    read = document.read(file)
    places = Places(str(file), "", read.value, read.positions)
    faults = list[str]()
    for verdict in judge([root]):
        if verdict.policy in ("policy-settings", "exemption-expired"):
            _, wrong, *fix = verdict.message.splitlines()
            field, _, message = wrong.partition(": ")
            place = places.of_field("", field)
            faults.append("\n".join([f"{place}  {place.path}", f"  {message}", *(f"  {line}" for line in fix)]))
    return faults


def schema() -> None:
    """Print the JSON Schema of a stack file, as editors use it through the modeline on the file's first line."""
    from model.schema import json_schema

    json.dump(json_schema(), sys.stdout, indent=2)
    sys.stdout.write("\n")
