"""The twin's cloud as the command line uses it: what must be there before a run, and what must not."""

from collections.abc import Iterator

import httpx2

from model.environment import Environment
from twin.errors import TwinError

from . import recovery
from .engine import Engine
from .output import console

_AWS = "aws:"


def prepare(engine: Engine, stack: str, environment: Environment, address: str) -> None:
    """Put into the cloud what the document names and does not make, and delete what a killed run left there.

    Raises:
        TwinError: The cloud does not answer, or refuses it.
    """
    from twin.aws import given, orphans
    from twin.aws.cloud import CloudError

    try:
        if new := given.give(address, environment):
            console.print(f"twin: what the document takes for given is in the cloud now: {', '.join(new)}")
        gone = orphans.sweep(address, stack, recovery.PROJECT, _known(engine, stack))
    except (CloudError, httpx2.HTTPError) as error:
        raise TwinError(f"the twin's cloud: {error}") from error
    if gone:
        names = ", ".join(urn.rpartition("::")[2] for urn in gone)
        console.print(f"{len(gone)} resources of a killed run were in the cloud unknown to the stack; deleted: {names}")


def forgot(engine: Engine, stack: str, address: str) -> bool:
    """Say whether the cloud has lost what the stack made in it: its memory ends with its process.

    Raises:
        TwinError: The cloud does not answer.
    """
    from twin.aws import orphans

    try:
        there = {(entry["urn"], entry["id"]) for entry in orphans.noted(address)}
    except httpx2.HTTPError as error:
        raise TwinError(f"the twin's cloud: {error}") from error
    return any(each not in there for each in _known(engine, stack))


def _known(engine: Engine, stack: str) -> Iterator[tuple[str, str]]:
    """Give URN and id of everything at AWS that the saved stack has made."""
    for resource in recovery.resources(engine, stack):
        if resource["type"].startswith(_AWS) and resource.get("id") and not resource.get("external"):
            yield resource["urn"], resource["id"]
