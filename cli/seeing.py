"""Reads a cluster: its nodes, its queues, and the work in them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from http import HTTPStatus
from typing import Any

import httpx2
from lightkube import ApiError, Client
from lightkube.generic_resource import create_global_resource, create_namespaced_resource
from lightkube.resources.core_v1 import Node, Pod, ResourceQuota
from lightkube.resources.scheduling_v1 import PriorityClass

from model.nodes import POOL_LABEL
from model.quantities import Quantity
from model.waiting import seen
from model.waiting.seen import COMPLETED, Amounts, Group, Seen, Shape, Workload

from .pod_shapes import away, requests, shape_of, shapes

PodGroup = create_namespaced_resource("scheduling.volcano.sh", "v1beta1", "PodGroup", "podgroups")
Queue = create_global_resource("scheduling.volcano.sh", "v1beta1", "Queue", "queues")
HyperNode = create_global_resource("topology.volcano.sh", "v1alpha1", "HyperNode", "hypernodes")
Job = create_namespaced_resource("batch.volcano.sh", "v1alpha1", "Job", "jobs")
RayCluster = create_namespaced_resource("ray.io", "v1", "RayCluster", "rayclusters")
DEFAULT_QUEUE = "default"
GROUP = "scheduling.k8s.io/group-name"
"""The annotation of a pod that names its PodGroup."""
SCHEDULER = {"app": "volcano-scheduler"}
_OVER = ("Completed", "Failed", "Terminated")
"""Phases of a Volcano Job that never runs again (volcano.sh/apis, batch/v1alpha1)."""

Found = Mapping[str, Any]


def objects(client: Client, kind: Any, **where: Any) -> list[dict[str, Any]]:
    """Give all objects of a kind, of all namespaces; none where the cluster does not know the kind."""
    try:
        return [dict(found.to_dict()) for found in client.list(kind, **where)]
    except ApiError as error:
        if error.status.code == 404:
            return []
        raise
    except httpx2.HTTPStatusError as error:
        # A group of which the API server knows no kind at all: it answers in plain text.
        if error.response.status_code == HTTPStatus.NOT_FOUND:
            return []
        raise


def everywhere(client: Client, kind: Any) -> list[dict[str, Any]]:
    """Give all objects of a kind that lives in namespaces."""
    return objects(client, kind, namespace="*")


def groups(client: Client, pods: Iterable[Found] = (), *, over: bool = False) -> list[Group]:
    """Give all work that queues have and that is not over: PodGroups, and jobs that have none yet or any more.

    Args:
        client: A client of the cluster.
        pods: Its pods, where their shapes are wanted.
        over: Whether PodGroups of work that is over are wanted too.
    """
    parents = {
        (found["metadata"]["namespace"], found["metadata"]["name"]): owner
        for found in everywhere(client, RayCluster)
        for owner in _owner(found)
    }
    jobs = {
        Workload("Job", job["metadata"]["namespace"], job["metadata"]["name"]): job for job in everywhere(client, Job)
    }
    ranks = {each["metadata"]["name"]: each.get("value") or 0 for each in objects(client, PriorityClass)}
    members: dict[tuple[str, str], list[Found]] = {}
    for pod in pods:
        if name := _group_of(pod):
            members.setdefault((pod["metadata"]["namespace"], name), []).append(pod)
    there = [_group(found, parents, jobs, ranks, members) for found in everywhere(client, PodGroup)]
    with_group = {group.workload for group in there}
    alone = [
        _without_group(workload, job, ranks)
        for workload, job in jobs.items()
        if workload not in with_group and _phase(job) not in _OVER
    ]
    return [*(group for group in there if over or group.phase != COMPLETED), *alone]


def _group(
    found: Found,
    parents: Mapping[tuple[str, str], Found],
    jobs: Mapping[Workload, Found],
    ranks: Mapping[str, int],
    members: Mapping[tuple[str, str], list[Found]],
) -> Group:
    metadata, spec = found["metadata"], found.get("spec") or {}
    namespace, count = metadata["namespace"], spec.get("minMember") or 1
    workload = Workload("PodGroup", namespace, metadata["name"])
    for owner in _owner(found):
        # What a Ray job or service makes is known by the one that made it.
        above = parents.get((namespace, owner["name"]), owner) if owner["kind"] == "RayCluster" else owner
        workload = Workload(above["kind"], namespace, above["name"])
    topology = spec.get("networkTopology") or {}
    hard = topology.get("mode", "hard") == "hard"
    alike = _tasks(jobs[workload]) if workload in jobs else _pods(members.get((namespace, metadata["name"]), ()))
    gang = shapes(alike, count)
    return Group(
        workload,
        spec.get("queue") or DEFAULT_QUEUE,
        (found.get("status") or {}).get("phase") or "Pending",
        count,
        {**_whole(gang), **_asked(spec.get("minResources") or {})},
        metadata["name"],
        gang,
        ranks.get(spec.get("priorityClassName") or "", 0),
        _time(metadata),
        topology.get("highestTierAllowed") if hard else None,
    )


def _tasks(job: Found) -> Iterator[Shape]:
    for task in (job.get("spec") or {}).get("tasks") or ():
        count = task.get("minAvailable", task.get("replicas", 1))
        yield shape_of((task.get("template") or {}).get("spec") or {}, count)


def _pods(pods: Iterable[Found]) -> Iterator[Shape]:
    for pod in pods:
        yield shape_of(pod["spec"], 1)


def _without_group(workload: Workload, job: Found, ranks: Mapping[str, int]) -> Group:
    spec = job.get("spec") or {}
    gang = tuple(_tasks(job))
    return Group(
        workload,
        spec.get("queue") or DEFAULT_QUEUE,
        _phase(job),
        spec.get("minAvailable") or 1,
        _whole(gang),
        shapes=gang,
        priority=ranks.get(spec.get("priorityClassName") or "", 0),
        created=_time(job["metadata"]),
        # As Volcano's controller calls it (generateRelatedPodGroupName).
        former=f"{workload.name}-{job['metadata']['uid']}",
        changed=_moment(_state(job).get("lastTransitionTime") or job["metadata"]["creationTimestamp"]),
    )


def _whole(gang: Iterable[Shape]) -> Amounts:
    return seen.total({name: amount * shape.count for name, amount in shape.asks.items()} for shape in gang)


def _asked(least: Mapping[str, Any]) -> Amounts:
    """Give what a PodGroup asks for.

    Volcano's controller adds names of ResourceQuotas (`limits.cpu`, `count/pods`), and leaves out what a job's
    containers have under `limits` alone, as GPUs are often written: that the pods themselves say.
    """
    plain = {name: amount for name, amount in least.items() if not name.startswith(("limits.", "requests.", "count/"))}
    return {name: amount for name, amount in _amounts(plain).items() if name != "pods"}


def _phase(job: Found) -> str:
    return _state(job).get("phase") or "Pending"


def _state(job: Found) -> Found:
    return (job.get("status") or {}).get("state") or {}


def _owner(found: Found) -> Iterator[Mapping[str, str]]:
    for owner in found["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            yield owner


def _time(metadata: Found) -> datetime:
    return _moment(metadata["creationTimestamp"])


def _moment(found: datetime | str) -> datetime:
    return found if isinstance(found, datetime) else datetime.fromisoformat(found.replace("Z", "+00:00"))


def _amounts(found: Mapping[str, Any] | None) -> Amounts:
    return {name: Quantity.parse(amount).value for name, amount in (found or {}).items()}


def cluster(client: Client) -> Seen:
    """Give the cluster as it is now."""
    live = [
        pod for pod in everywhere(client, Pod) if (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed")
    ]
    machines = [_node(node) for node in objects(client, Node)]
    work = groups(client, live, over=True)
    return Seen(
        datetime.now(UTC),
        tuple(machines),
        {queue.name: queue for found in objects(client, Queue) for queue in [_queue(found)]},
        tuple(group for group in work if group.phase != COMPLETED),
        tuple(_pod(pod) for pod in live),
        tuple(_domains(objects(client, HyperNode), machines)),
        tuple(quota for found in everywhere(client, ResourceQuota) for quota in _quotas(found)),
        any(_is_ready(pod) for pod in live if SCHEDULER.items() <= (pod["metadata"].get("labels") or {}).items()),
        tuple(group for group in work if group.phase == COMPLETED),
    )


def _is_ready(found: Found) -> bool:
    conditions = (found.get("status") or {}).get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def _group_of(pod: Found) -> str | None:
    return (pod["metadata"].get("annotations") or {}).get(GROUP)


def _pod(pod: Found) -> seen.Pod:
    metadata, spec = pod["metadata"], pod["spec"]
    return seen.Pod(metadata["namespace"], metadata["name"], _group_of(pod), spec.get("nodeName"), requests(spec))


def _node(node: Found) -> seen.Node:
    labels, spec = node["metadata"].get("labels") or {}, node.get("spec") or {}
    taints = {
        taint["key"]: taint.get("value") or ""
        for taint in spec.get("taints") or ()
        if taint["effect"] != "PreferNoSchedule"
    }
    return seen.Node(
        node["metadata"]["name"],
        labels.get(POOL_LABEL),
        labels,
        _amounts((node.get("status") or {}).get("allocatable")),
        {key: value for key, value in taints.items() if not key.startswith("node.kubernetes.io/")},
        away(taints, ready=_is_ready(node), cordoned=bool(spec.get("unschedulable"))),
    )


def _queue(found: Found) -> seen.Queue:
    spec = found.get("spec") or {}
    return seen.Queue(
        found["metadata"]["name"],
        spec.get("parent") or "root",
        (found.get("status") or {}).get("state") or "",
        _amounts((spec.get("guarantee") or {}).get("resource")),
        _amounts(spec.get("deserved")),
        _amounts(spec.get("capability")),
        spec.get("reclaimable", True),
    )


def _domains(found: Iterable[Found], nodes: Iterable[seen.Node]) -> Iterator[seen.Domain]:
    """The HyperNodes with all nodes below them, the closest first, since the wider are made of them."""
    labels = {node.name: node.labels for node in nodes}
    inside: dict[str, frozenset[str]] = {}
    for hypernode in sorted(found, key=lambda each: each["spec"]["tier"]):
        members = hypernode["spec"].get("members") or ()
        name = hypernode["metadata"]["name"]
        below = [inside.get(each, frozenset()) for member in members for each in _members(member, inside)]
        own = [each for member in members if member["type"] == "Node" for each in _named(member["selector"], labels)]
        inside[name] = frozenset(own).union(*below)
        # Those that Volcano's controller makes have random names, and the label that they stand for.
        labelled = (hypernode["metadata"].get("labels") or {}).get(hypernode["spec"].get("tierName"))
        yield seen.Domain(labelled or name, hypernode["spec"]["tier"], inside[name])


def _members(member: Found, known: Mapping[str, Any]) -> Iterator[str]:
    if member["type"] == "HyperNode":
        yield from _named(member["selector"], {key: {} for key in known})


def _named(selector: Found, labels: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    if exact := selector.get("exactMatch"):
        yield exact["name"]
    elif pattern := selector.get("regexMatch"):
        yield from (name for name in labels if re.match(pattern["pattern"], name))
    elif match := selector.get("labelMatch"):
        wanted = (match.get("matchLabels") or {}).items()
        yield from (name for name, found in labels.items() if wanted <= found.items())


def _quotas(found: Found) -> Iterator[seen.Quota]:
    status = found.get("status") or {}
    used = _amounts(status.get("used"))
    for name, hard in _amounts(status.get("hard")).items():
        resource = name.removeprefix("requests.")
        yield seen.Quota(found["metadata"]["namespace"], resource, hard, used.get(name, Decimal(0)))
