"""The twin's cloud as the command line uses it: what must be there before a run, and what must not."""

from pathlib import Path

import httpx2

from model.environment import Environment
from twin.errors import TwinError

from . import recovery
from .engine import Engine
from .output import console


def prepare(engine: Engine, stack: str, environment: Environment, address: str, config: Path | None) -> None:
    """Make cloud and state fit for a run: what the document names and does not make is put into the cloud.

    Args:
        engine: The twin's engine.
        stack: Name of the stack.
        environment: Its document.
        address: The cloud's.
        config: The stack file, where it is not the usual one.

    Raises:
        TwinError: The cloud does not answer, or refuses something.
    """
    from twin.aws import given

    try:
        if new := given.give(address, environment):
            console.print(f"twin: what the document takes for given is in the cloud now: {', '.join(new)}")
    except httpx2.HTTPError as error:
        raise TwinError(f"the twin's cloud: {error}") from error
    reconcile(engine, stack, address, config)


def reconcile(engine: Engine, stack: str, address: str, config: Path | None) -> None:
    """Let cloud and state know of the same resources, whatever a killed run did, and though the cloud started anew.

    What is in the cloud and unknown to the stack is deleted there; what is not in the cloud any more is forgotten by
    the stack. It comes after `recovery.end_orphans`: until then plugins tell of what they made.

    Args:
        engine: The twin's engine.
        stack: Name of the stack.
        address: The cloud's.
        config: The stack file, where it is not the usual one.

    Raises:
        TwinError: The cloud does not answer, or refuses something.
    """
    from twin.aws import orphans
    from twin.aws.cloud import CloudError

    made = [
        (resource["urn"], resource["id"])
        for resource in recovery.resources(engine, stack)
        if resource["type"].startswith("aws:") and resource.get("id") and not resource.get("external")
    ]
    try:
        gone = orphans.sweep(address, stack, recovery.PROJECT, made)
        there = {(entry["urn"], entry["id"]) for entry in orphans.noted(address)}
    except (CloudError, httpx2.HTTPError) as error:
        raise TwinError(f"the twin's cloud: {error}") from error
    if gone:
        names = ", ".join(urn.rpartition("::")[2] for urn in gone)
        console.print(f"{len(gone)} resources of a killed run were in the cloud unknown to the stack; deleted: {names}")
    lost = [urn for urn, identity in made if (urn, identity) not in there]
    if lost:
        _forget(engine, stack, lost, config)


def _forget(engine: Engine, stack: str, lost: list[str], config: Path | None) -> None:
    """Have the engine look at what is lost, and at nothing else: the cluster may be at another address by now."""
    console.print(f"twin: {len(lost)} resources are not in its cloud any more; the stack forgets them, too")
    file = ["--config-file", str(config)] if config else []
    targets = [word for urn in lost for word in ("--target", urn)]
    engine.read("refresh", "--stack", stack, *file, "--yes", "--skip-preview", *targets)
