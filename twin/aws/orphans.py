"""What a killed run left in the twin's cloud: resources that were made, and that the state never heard of.

At AWS they would stay, and cost. In the twin the provider notes what it makes, in the cloud itself; what is noted there
and is not in the state of its stack is deleted before the next run.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import httpx2

from twin.aws.cloud import Cloud
from twin.aws.names import JOURNAL
from twin.aws.resources import Resource
from twin.aws.rows import ROWS


def note(cloud: Cloud, urn: str, identity: str, inputs: Mapping[str, Any]) -> None:
    """Note that a resource was made."""
    entry = {"urn": urn, "id": identity, "region": cloud.region, "inputs": dict(inputs)}
    _ask(cloud.address, "POST", entry)


def forget(cloud: Cloud, urn: str, identity: str) -> None:
    """Take the note away: the resource is gone."""
    _ask(cloud.address, "DELETE", {"urn": urn, "id": identity})


def noted(address: str) -> list[dict[str, Any]]:
    """Give all notes, in the order of their making."""
    return _ask(address, "GET")


def _ask(address: str, method: str, entry: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    # Loopback is asked directly: a proxy of the environment would look for it on its own machine.
    answer = httpx2.request(method, f"{address}{JOURNAL}", json=entry, trust_env=False)
    return answer.raise_for_status().json()


def sweep(address: str, stack: str, project: str, known: Iterable[tuple[str, str]]) -> list[str]:
    """Delete what a stack has in the cloud without knowing it.

    Args:
        address: The cloud's.
        stack: Name of the stack.
        project: Name of its project.
        known: URN and id of each resource in its state, those that wait for their deletion included.

    Returns:
        The URNs of what was deleted, the last made first.

    Raises:
        CloudError: The cloud refused a deletion.
    """
    there, begins = set(known), f"urn:pulumi:{stack}::{project}::"
    gone: list[str] = []
    for entry in reversed(noted(address)):
        urn, identity = entry["urn"], entry["id"]
        if not urn.startswith(begins) or (urn, identity) in there:
            continue
        cloud = Cloud(address, entry["region"])
        token = urn.split("::")[2].rpartition("$")[2]
        resource = Resource(token, ROWS[token], cloud, {})
        found = resource.read(identity, entry["inputs"], {})
        if found is not None:
            resource.delete(identity, entry["inputs"], found.outputs)
        forget(cloud, urn, identity)
        gone.append(urn)
    return gone
