"""The work that a cluster has in its queues."""

from collections.abc import Iterator, Mapping
from typing import Any

from lightkube import ApiError, Client
from lightkube.generic_resource import create_namespaced_resource

from model.quantities import Quantity
from model.waiting.seen import COMPLETED, Group, Workload

PodGroup = create_namespaced_resource("scheduling.volcano.sh", "v1beta1", "PodGroup", "podgroups")
Job = create_namespaced_resource("batch.volcano.sh", "v1alpha1", "Job", "jobs")
RayCluster = create_namespaced_resource("ray.io", "v1", "RayCluster", "rayclusters")
DEFAULT_QUEUE = "default"
_OVER = ("Completed", "Failed", "Terminated")
"""Phases of a Volcano Job that never runs again (volcano.sh/apis, batch/v1alpha1)."""


def groups(client: Client) -> list[Group]:
    """Give all work that queues have and that is not over: PodGroups, and jobs that have none yet or any more."""
    parents = {
        (found["metadata"]["namespace"], found["metadata"]["name"]): owner
        for found in _list(client, RayCluster)
        for owner in _owner(found)
    }
    seen = [_group(found, parents) for found in _list(client, PodGroup)]
    with_group = {group.workload for group in seen}
    found = [group for group in seen if group.phase != COMPLETED]
    for job in _list(client, Job):
        group = _without_group(job)
        if group.phase not in _OVER and group.workload not in with_group:
            found.append(group)
    return found


def _list(client: Client, kind: Any) -> list[dict[str, Any]]:
    """Give all objects of a kind; none where the cluster does not know it."""
    try:
        return [dict(found.to_dict()) for found in client.list(kind, namespace="*")]
    except ApiError as error:
        if error.status.code == 404:
            return []
        raise


def _group(found: Mapping[str, Any], parents: Mapping[tuple[str, str], Mapping[str, str]]) -> Group:
    metadata, spec = found["metadata"], found.get("spec") or {}
    namespace = metadata["namespace"]
    workload = Workload("PodGroup", namespace, metadata["name"])
    for owner in _owner(found):
        # What a Ray job or service makes is known by the one that made it.
        above = parents.get((namespace, owner["name"]), owner) if owner["kind"] == "RayCluster" else owner
        workload = Workload(above["kind"], namespace, above["name"])
    asks = {name: Quantity.parse(amount).value for name, amount in (spec.get("minResources") or {}).items()}
    phase = (found.get("status") or {}).get("phase") or "Pending"
    return Group(workload, spec.get("queue") or DEFAULT_QUEUE, phase, spec.get("minMember") or 1, asks)


def _without_group(job: Mapping[str, Any]) -> Group:
    metadata, spec = job["metadata"], job.get("spec") or {}
    phase = ((job.get("status") or {}).get("state") or {}).get("phase") or "Pending"
    workload = Workload("Job", metadata["namespace"], metadata["name"])
    return Group(workload, spec.get("queue") or DEFAULT_QUEUE, phase, spec.get("minAvailable") or 1)


def _owner(found: Mapping[str, Any]) -> Iterator[Mapping[str, str]]:
    for owner in found["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            yield owner
