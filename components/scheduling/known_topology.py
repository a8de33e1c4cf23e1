"""Waiting until the scheduler knows the topology, and knows it once.

Volcano's controller makes a HyperNode for each value of a topology label, and two of its habits would cost a cluster
its topology without a word (pkg/controllers/hypernode/discovery/label/label.go, release 1.15):

- While there is no HyperNode, a gang in hard mode is placed anywhere.
- Two looks in a row, as when nodes come one after another, can make two HyperNodes for one domain, since the second
  does not see yet what the first made (on a busy machine twice in ten times that nodes came). A domain with two
  parents holds no gang at all, until nodes come or go. Deleting the surplus one makes it look again.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pulumi
from tenacity import RetryError, Retrying, retry_if_result, stop_after_delay, wait_fixed

from components.kubernetes.client import Reach
from model.environment import Environment
from model.topology import Level, levels

if TYPE_CHECKING:
    from lightkube import Client

SECONDS = 120
SETTLING_SECONDS = 300
"""Longer: on new nodes Volcano itself has to start first."""
CALM = 5
"""Looks in a row, a second apart, that find nothing wrong: Volcano may be in the middle of a look of its own."""
SOURCE = ("volcano.sh/network-topology-source", "label")
"""The label of what the controller made from node labels, and it alone."""


def settle_topology(environment: Environment, reach: Reach, volcano: pulumi.Resource) -> None:
    """Have this run end when there is exactly one HyperNode for each domain that nodes name in their labels.

    It is no hook: nodes come, and make the trouble, without any change of what the engine knows.

    Args:
        environment: The checked document.
        reach: How the cluster is asked.
        volcano: What Volcano is complete with; it comes after the nodes.
    """
    if environment.topology.node_labels and not pulumi.runtime.is_dry_run():
        volcano.urn.apply(lambda _: asyncio.to_thread(_settle, environment, reach))


def _settle(environment: Environment, reach: Reach) -> None:
    try:
        wait_until_settled(environment, reach)
    except RuntimeError as error:
        raise pulumi.RunError(str(error)) from None


def known_topology(name: str, environment: Environment, reach: Reach, level: Level) -> pulumi.ResourceHook:
    """Give a hook that holds a gang back until the scheduler knows the level that bounds it."""
    return pulumi.ResourceHook(f"{name}-known-topology", lambda _: wait_until_known(name, environment, reach, level))


def wait_until_settled(environment: Environment, reach: Reach) -> None:
    """Return when each domain has one HyperNode, and stays so; surplus ones are deleted.

    Raises:
        RuntimeError: It did not come to that within `SETTLING_SECONDS`.
    """
    calm = 0

    def complaint(client: "Client") -> str | None:
        nonlocal calm
        found = _complaint(client, environment)
        calm = 0 if found else calm + 1
        return found or (None if calm >= CALM else "Volcano's HyperNodes do not stay as they are")

    _wait(reach, complaint, SETTLING_SECONDS)


def wait_until_known(name: str, environment: Environment, reach: Reach, level: Level) -> None:
    """Return when the topology is settled and has the level that bounds a gang.

    Raises:
        RuntimeError: It did not come to that within `SECONDS`.
    """

    def complaint(client: "Client") -> str | None:
        if any((node.spec or {}).get("tier") == level.tier for node in client.list(_hypernodes())):
            return _complaint(client, environment)
        return (
            f"{name}: must stay within one {level.name}, but Volcano knows none (no HyperNode of tier {level.tier}) "
            f"and would place it anywhere; fix: label the nodes: {level.label}"
        )

    _wait(reach, complaint, SECONDS)


def _wait(reach: Reach, complaint: "Callable[[Client], str | None]", seconds: float) -> None:
    with reach.connected() as client:
        waiting = Retrying(retry=retry_if_result(bool), stop=stop_after_delay(seconds), wait=wait_fixed(1))
        try:
            waiting(complaint, client)
        except RetryError as error:
            raise RuntimeError(error.last_attempt.result()) from None


def _complaint(client: "Client", environment: Environment) -> str | None:
    """Delete surplus HyperNodes, and say in what the others differ from the labels of the nodes."""
    from lightkube.resources.core_v1 import Node

    labels = [level.label for level in levels(environment) if level.label]
    if not labels:
        return None
    found: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for node in client.list(_hypernodes(), labels=dict([SOURCE])):
        for label in labels:
            if node.metadata and node.metadata.name and label in (node.metadata.labels or {}):
                found[label, node.metadata.labels[label]].append(node.metadata.name)
    surplus = [name for names in found.values() for name in sorted(names)[1:]]
    for name in surplus:
        _delete(client, name)
    named = [node.metadata.labels or {} for node in client.list(Node) if node.metadata]
    domains = {(label, node[label]) for node in named for label in labels if label in node}
    missing = sorted(f"{label}={value}" for label, value in domains - set(found))
    if not surplus and not missing:
        return None
    return (
        "Volcano's HyperNodes do not agree with the labels of the nodes; "
        f"missing: {', '.join(missing) or 'none'}; twice: {', '.join(surplus) or 'none'}; "
        "fix: see the log of volcano-controllers"
    )


def _delete(client: "Client", name: str) -> None:
    from lightkube import ApiError

    try:
        client.delete(_hypernodes(), name)
    except ApiError as error:
        if error.status.code != 404:  # Volcano, or the other wait of this run, was faster
            raise


def _hypernodes() -> Any:
    from lightkube.generic_resource import create_global_resource

    return create_global_resource("topology.volcano.sh", "v1alpha1", "HyperNode", "hypernodes")
