"""Gangs as they are submitted for measurements."""

from dataclasses import dataclass
from typing import Any

from lightkube import Client
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.meta_v1 import ObjectMeta

from twin.bench import ground
from twin.bench.watching import JOB
from twin.stages import RUNS_FOR

VolcanoJob = create_namespaced_resource("batch.volcano.sh", "v1alpha1", "Job", "jobs")
PlainJob = create_namespaced_resource("batch", "v1", "Job", "jobs")
KEPT = 10
"""Seconds that finished work stays visible. Thousands of finished pods would be measured with the others."""


@dataclass(frozen=True)
class Gang:
    """A gang of pods that fill a node each.

    Attributes:
        name: Its name.
        nodes: How many pods, on a node each.
        seconds: How long its work takes; None runs until it is deleted.
        queue: Its queue.
        within: Topology: the highest tier it may span, and whether that is `hard` or `soft`; None asks for nothing.
        priority: A PriorityClass, or empty.
    """

    name: str
    nodes: int
    seconds: int | None = None
    queue: str = ground.EVERYTHING
    within: tuple[int, str] | None = None
    priority: str = ""


def submit(client: Client, gang: Gang) -> None:
    """Create the Volcano Job of a gang."""
    client.create(VolcanoJob(metadata=ObjectMeta(name=gang.name, namespace=ground.NAMESPACE), spec=_spec(gang)))


def submit_plain(client: Client, gang: Gang) -> None:
    """Create the same work as a Job of Kubernetes, whose pods the cluster's own scheduler places one by one."""
    spec = {
        "completions": gang.nodes,
        "parallelism": gang.nodes,
        "backoffLimit": 1000,
        "ttlSecondsAfterFinished": KEPT,
        "template": pod(gang),
    }
    client.create(PlainJob(metadata=ObjectMeta(name=gang.name, namespace=ground.NAMESPACE), spec=spec))


def remove(client: Client, gang: Gang) -> None:
    """Delete the Volcano Job of a gang."""
    client.delete(VolcanoJob, gang.name, namespace=ground.NAMESPACE)


def pod(gang: Gang) -> dict[str, Any]:
    """Give the template of a gang's pods."""
    amounts = {"cpu": "64", "memory": "512Gi", "nvidia.com/gpu": str(ground.GPUS)}
    container = {
        "name": "work",
        "image": "pytorch/pytorch:2.7.0-cuda12.6-cudnn9-runtime",
        "resources": {"requests": amounts, "limits": amounts},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }
    tolerations = [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    annotations = {} if gang.seconds is None else {RUNS_FOR: f"{gang.seconds}s"}
    spec = {"restartPolicy": "Never", "tolerations": tolerations, "containers": [container]}
    return {"metadata": {"labels": {JOB: gang.name}, "annotations": annotations}, "spec": spec}


def _spec(gang: Gang) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "schedulerName": "volcano",
        "queue": gang.queue,
        "minAvailable": gang.nodes,
        "maxRetry": 1000,
        "ttlSecondsAfterFinished": KEPT,
        "policies": [
            {"event": "PodEvicted", "action": "RestartJob"},
            {"event": "TaskCompleted", "action": "CompleteJob"},
        ],
        "tasks": [{"name": "worker", "replicas": gang.nodes, "template": pod(gang)}],
    }
    if gang.within:
        tier, mode = gang.within
        spec["networkTopology"] = {"mode": mode, "highestTierAllowed": tier}
    if gang.priority:
        spec["priorityClassName"] = gang.priority
    return spec
