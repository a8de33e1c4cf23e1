"""What tests look at in a cluster."""

import time
from typing import Any

from lightkube import Client
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.core_v1 import Pod as PodModel
from lightkube.resources.core_v1 import Node, Pod

RACK = "topology.gangline.dev/rack"
Job: Any = create_namespaced_resource("batch.volcano.sh", "v1alpha1", "Job", "jobs")
PodGroup: Any = create_namespaced_resource("scheduling.volcano.sh", "v1beta1", "PodGroup", "podgroups")


def pods(client: Client, namespace: str, **labels: str) -> list[PodModel]:
    return list(client.list(Pod, namespace=namespace, labels={**labels}))


def bound(found: list[PodModel]) -> list[str]:
    return [pod.spec.nodeName for pod in found if pod.spec and pod.spec.nodeName]


def racks(client: Client, names: list[str]) -> set[str]:
    labels = {node.metadata.name: node.metadata.labels or {} for node in client.list(Node) if node.metadata}
    return {labels[name][RACK] for name in names}


def eventually(check: Any, seconds: float = 30) -> Any:
    """Wait until a check gives something; its last answer otherwise."""
    limit = time.monotonic() + seconds
    while not (found := check()) and time.monotonic() < limit:
        time.sleep(0.2)
    return found
