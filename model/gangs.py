"""Gangs: what must run together, and whether it can."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING

from . import nodes
from .derived import derived
from .pools import Size, fewest
from .quantities import MEBIBYTE, Quantity, written
from .ray import RayCluster

if TYPE_CHECKING:
    from .environment import Environment

Amounts = Mapping[str, Decimal]
"""Amounts by resource in base units: cores, bytes, items."""

AUTOSCALER: Amounts = MappingProxyType({"cpu": Decimal("0.5"), "memory": 512 * MEBIBYTE})
"""The sidecar that KubeRay adds to the head pod of an autoscaled cluster
(https://github.com/ray-project/kuberay, ray-operator/controllers/ray/common/pod.go, BuildAutoscalerContainer)."""


@dataclass(frozen=True)
class Gang:
    """A gang of pods on one pool: one leading pod and workers that are all alike.

    Attributes:
        pool: Name of the pool.
        lead: What the leading pod asks for, sidecars left out, as Volcano counts it.
        sidecars: What the leading pod's sidecars ask for on top.
        worker: What each worker asks for.
        workers: Number of workers that belong to the gang.
    """

    pool: str
    lead: Amounts
    sidecars: Amounts
    worker: Amounts
    workers: int

    @property
    def pods(self) -> int:
        """Number of pods in the gang."""
        return self.workers + 1

    @property
    def min_member(self) -> int:
        """`minMember` of the PodGroup."""
        return self.pods

    @property
    def requests(self) -> Amounts:
        """What the gang asks for in all, in base units, as KubeRay writes it in `minResources`."""
        return _plus(self.lead, _times(self.worker, self.workers))

    @property
    def min_resources(self) -> dict[str, Quantity]:
        """`minResources` of the PodGroup."""
        return {name: Quantity.parse(written(name, amount)) for name, amount in self.requests.items()}

    @property
    def leading_pod(self) -> Amounts:
        """What the leading pod takes of a node, sidecars included."""
        return _plus(self.lead, self.sidecars)


def _plus(one: Amounts, other: Amounts) -> dict[str, Decimal]:
    return {name: one.get(name, Decimal(0)) + other.get(name, Decimal(0)) for name in {**one, **other}}


def _times(amounts: Amounts, factor: int) -> dict[str, Decimal]:
    return {name: amount * factor for name, amount in amounts.items()}


def requests(env: "Environment", cluster: RayCluster) -> tuple[Amounts, Amounts]:
    """What the head and each worker of a Ray cluster ask for, in base units."""
    head = {"cpu": cluster.head.cpu.value, "memory": cluster.head.memory.value}
    worker = {"cpu": cluster.workers.cpu.value, "memory": cluster.workers.memory.value}
    if cluster.workers.gpus:
        resource = nodes.gpu_resource(env.pools[cluster.pool]) or nodes.GPU
        worker[resource] = Decimal(cluster.workers.gpus)
    return head, worker


@derived
def ray_gang(env: "Environment", name: str) -> Gang:
    """The gang of a Ray cluster as KubeRay makes it: the head and all workers, or `min` of them when autoscaled.

    Source: https://github.com/ray-project/kuberay, ray-operator/controllers/ray/batchscheduler/volcano.
    """
    cluster = env.ray.clusters[name]
    head, worker = requests(env, cluster)
    autoscaled = isinstance(cluster.workers.count, Size)
    return Gang(cluster.pool, head, AUTOSCALER if autoscaled else {}, worker, fewest(cluster.workers.count))


def holds(room: Amounts, pod: Amounts) -> int | None:
    """How many such pods fit into some room; None when nothing limits them."""
    limits = [int(room.get(name, Decimal(0)) // amount) for name, amount in pod.items() if amount > 0]
    return max(min(limits), 0) if limits else None


def nodes_needed(gang: Gang, node: Amounts) -> int | None:
    """The fewest equal nodes that hold the gang, exactly; None when one of its pods fits no node.

    All workers are alike, so only the node of the leading pod differs: it holds what is left there.
    """
    room = {**node, "pods": node.get("pods", Decimal(110))}
    lead, worker = {**gang.leading_pod, "pods": Decimal(1)}, {**gang.worker, "pods": Decimal(1)}
    if not holds(room, lead):
        return None
    if gang.workers == 0:
        return 1
    each = holds(room, worker) or 0
    beside = holds({name: amount - lead.get(name, Decimal(0)) for name, amount in room.items()}, worker) or 0
    if each == 0:
        return None
    return 1 + max(0, -(-(gang.workers - beside) // each))


def ray_nodes_needed(env: "Environment", name: str) -> int | None:
    """The fewest nodes of its pool that hold the gang of a Ray cluster."""
    gang = ray_gang(env, name)
    return nodes_needed(gang, nodes.offered(env, gang.pool))
