"""What Volcano is told: the scheduler's and the controller's configuration, and queue objects.

The layout is the gang-aware one of Volcano 1.15 (docs/design/gang-aware-eviction-design.md upstream): when a queue
claims its share, whole gangs are evicted, as few as possible, where the older preempt and reclaim pick pods one by one
and break many gangs for one claim.
"""

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from . import nodes, queues, quotas, topology
from .gpu_requests import is_any_gpu

if TYPE_CHECKING:
    from .environment import Environment

_PLACING = ("enqueue", "allocate", "backfill")
GPU_WEIGHT = 10
"""GPUs are what is scarce: they decide where pods are packed, cores and memory only break ties."""
REMOVAL, AGREED = "gangline.dev/removal", "agreed"
"""The annotation, with its value, of a queue that may be deleted although pods are in it."""

PACE: Mapping[str, object] = MappingProxyType(
    {
        "scheduler_schedule_period": "600ms",
        "scheduler_percentage_nodes_to_find": 10,
        "scheduler_log_level": 2,
        "controller_kube_api_qps": 500,
        "controller_kube_api_burst": 1000,
        "controller_worker_threads": 10,
        "controller_log_level": 2,
    }
)
"""Values of the chart that say how fast Volcano works (docs/decisions/078-*.md). A gang waits for two looks of the
scheduler, one that lets its pods be made and one that places them, and for its pods to be made between the two."""
_UNUSED_SCORES = ("leastrequested", "mostrequested", "balancedresource", "imagelocality")
"""Scores of nodeorder that the plugin binpack stands in for, or that say nothing about nodes full of GPUs. The others
are what people ask for: affinities, tolerations, spreading."""


def scheduler_configuration(env: "Environment") -> dict[str, Any]:
    """The scheduler's configuration file (`volcano-scheduler.conf`) as a value.

    priority, gang, conformance and capacity stand in one tier, because the gang-aware actions ask the first tier that
    answers, and with capacity in a later one no queue's `deserved` would be protected. Nothing is evicted for a job
    that is not let into its queue, and no node is brought for it, as it has no pods. So neither a full cluster nor a
    queue at its capability keeps it out: there is no overcommit plugin, and capacity judges when nodes are given, not
    before (docs/decisions/084-*.md). Only a namespace's quota does, since pods beyond it cannot be made.
    """
    scheduler = env.scheduler
    if scheduler.override:
        return dict(scheduler.override)
    evicting = {"gangreclaim": scheduler.reclaim, "gangpreempt": scheduler.preempt}
    actions = [*_PLACING, *(action for action, wanted in evicting.items() if wanted)]
    deciding: list[dict[str, Any]] = [
        {"name": "priority"},
        {"name": "gang"},
        {"name": "conformance"},
        {"name": "capacity", "enableHierarchy": True, "enableJobEnqueued": False},
        {"name": "resourcequota"},
    ]
    return {"actions": ", ".join(actions), "tiers": [{"plugins": deciding}, {"plugins": _placing(env)}]}


def _placing(env: "Environment") -> list[dict[str, Any]]:
    """The plugins that choose jobs of equal rank, and nodes."""
    gpus = sorted(nodes.advertised(env))
    # Which victims there are is for the first tier to say.
    found: list[dict[str, Any]] = [{"name": "drf", "enablePreemptable": False}] if env.scheduler.order == "fair" else []
    found.append({"name": "predicates"})
    if env.scheduler.placement == "pack":
        found += [
            {"name": "nodeorder", "arguments": {f"{score}.weight": 0 for score in _UNUSED_SCORES}},
            {"name": "binpack", "arguments": {"binpack.weight": 1, **_packing("binpack", gpus)}},
        ]
    else:
        found.append({"name": "nodeorder"})  # its own weights spread
    if topology.levels(env):
        arguments = {"weight": GPU_WEIGHT, **_packing("hypernode.binpack", gpus)}
        found.append({"name": "network-topology-aware", "arguments": arguments})
    return found


def _packing(prefix: str, gpus: list[str]) -> dict[str, Any]:
    arguments: dict[str, Any] = {f"{prefix}.cpu": 1, f"{prefix}.memory": 1}
    if gpus:
        arguments[f"{prefix}.resources"] = ", ".join(gpus)
        arguments |= {f"{prefix}.resources.{resource}": GPU_WEIGHT for resource in gpus}
    return arguments


def controller_configuration(env: "Environment") -> dict[str, Any]:
    """The controller's configuration file (`volcano-controller.conf`) as a value; empty without label topology."""
    found = topology.discovery(env)
    return {"networkTopologyDiscovery": [found]} if found else {}


def queue_spec(node: queues.QueueNode) -> dict[str, Any]:
    """The `spec` of a queue's Volcano object.

    The parent is written out: the controller sets an empty one to `root`, which would show as a change for ever.
    """
    queue = node.queue
    deserved = claimed(queue) if node.leaf else queue.deserved
    spec: dict[str, Any] = {"parent": node.parent, "weight": 1, "reclaimable": queue.reclaimable}
    if queue.priority:
        spec["priority"] = queue.priority
    if queue.guarantee:
        spec["guarantee"] = {"resource": _amounts(queue.guarantee)}
    if deserved:
        spec["deserved"] = _amounts(deserved)
    if queue.capability:
        spec["capability"] = _amounts(queue.capability)
    return spec


def claimed(queue: queues.Queue) -> quotas.Quota:
    """What of a leaf's `deserved` decides who may take back from whom: GPUs where it deserves any, else cores.

    Volcano lets a queue claim while it is within its share in any one resource, and lets others take from it while it
    is above in any one (pkg/scheduler/plugins/capacity/capacity.go). Shares of two resources are never used up
    together, so two queues that are both above in GPUs and within in memory evict each other's gangs for ever. What is
    guaranteed must be deserved too, so it stays.
    """
    names = claimed_names(queue.deserved, queue.guarantee)
    return {name: amount for name, amount in queue.deserved.items() if name in names}


def claimed_names(deserved: Collection[str], guarantee: Collection[str]) -> frozenset[str]:
    """The names in a leaf's `deserved` of which Volcano is told: what decides, and what is guaranteed."""
    return deciding(deserved).union(name for name in deserved if name in guarantee)


def deciding(deserved: Collection[str]) -> frozenset[str]:
    """What decides of the names in a queue's `deserved`: its GPUs, or, without any, its cores, or else the first."""
    gpus = frozenset(name for name in deserved if is_any_gpu(quotas.resource_name(name)))
    return gpus or frozenset([name for name in ("cpu", *deserved) if name in deserved][:1])


def _amounts(quota: quotas.Quota) -> dict[str, str]:
    return {name: str(amount) for name, amount in quotas.resolved(quota).items()}
