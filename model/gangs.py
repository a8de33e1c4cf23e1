"""Gangs: what must run together, and whether it can."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING

from . import nodes, queues, quotas, tenants, topology, workload
from .counts import Size, fewest
from .derived import derived
from .problems import Unanswerable, known, lost
from .quantities import MEBIBYTE, Quantity, written
from .storage import mounts

if TYPE_CHECKING:
    from .environment import Environment
    from .ray import Head, RayCluster, Workers

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
        beside: What each worker's sidecars ask for on top.
    """

    pool: str
    lead: Amounts
    sidecars: Amounts
    worker: Amounts
    workers: int
    beside: Amounts = field(default_factory=dict)

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

    @property
    def worker_pod(self) -> Amounts:
        """What a worker takes of a node, sidecars included."""
        return _plus(self.worker, self.beside)


def _plus(one: Amounts, other: Amounts) -> dict[str, Decimal]:
    return {name: one.get(name, Decimal(0)) + other.get(name, Decimal(0)) for name in {**one, **other}}


def _times(amounts: Amounts, factor: int) -> dict[str, Decimal]:
    return {name: amount * factor for name, amount in amounts.items()} if factor else {}


def requests(env: "Environment", cluster: "RayCluster") -> tuple[Amounts, Amounts]:
    """What the head and each worker of a Ray cluster ask for, in base units.

    What could not be read is left out: a gang that is too large without it is too large.
    """
    head, worker = _asked(cluster.head), _asked(cluster.workers)
    if not lost(cluster.workers.gpus) and cluster.workers.gpus:
        with suppress(Unanswerable):
            resource = nodes.gpu_resource(env.pools[cluster.pool], cluster.workers.profile) or nodes.GPU
            worker[resource] = Decimal(cluster.workers.gpus)
        with suppress(Unanswerable):
            worker |= workload.resources(env, cluster.pool, gpus=cluster.workers.gpus, rdma=known(cluster.workers.rdma))
    return head, worker


def _asked(pod: "Head | Workers") -> dict[str, Decimal]:
    return {name: amount.value for name, amount in (("cpu", pod.cpu), ("memory", pod.memory)) if not lost(amount)}


@derived
def ray_gang(env: "Environment", name: str) -> Gang:
    """The gang of a Ray cluster as KubeRay makes it: the head and all workers, or `min` of them when autoscaled.

    Source: https://github.com/ray-project/kuberay, ray-operator/controllers/ray/batchscheduler/volcano.
    """
    cluster = env.ray.clusters[name]
    head, worker = requests(env, cluster)
    lead, each = beside(cluster, "head"), beside(cluster, "workers")
    return Gang(cluster.pool, head, lead, worker, fewest(cluster.workers.count), each)


SIDECARS = {"head": "autoscaler", "workers": "uploader"}
"""What stands beside Ray in the pods of a Ray cluster."""


def beside(cluster: "RayCluster", part: str) -> Amounts:
    """What sidecars ask for in the head pod of a Ray cluster, or in each of its workers."""
    if part == "workers":
        return mounts.resources(cluster)
    return AUTOSCALER if isinstance(cluster.workers.count, Size) else {}


def holds(room: Amounts, pod: Amounts) -> int:
    """How many such pods fit into some room. A pod asks for something: at least to be one of the node's pods."""
    return max(0, min(int(room.get(name, Decimal(0)) // amount) for name, amount in pod.items() if amount > 0))


def _workers_per_node(gang: Gang, node: Amounts) -> tuple[int, int]:
    """How many workers fit beside the leading pod (-1 when that does not fit), and on a node of their own."""
    room = {"pods": Decimal(110), **node}
    lead, worker = {**gang.leading_pod, "pods": Decimal(1)}, {**gang.worker_pod, "pods": Decimal(1)}
    beside = -1
    if holds(room, lead):
        beside = holds({name: amount - lead.get(name, Decimal(0)) for name, amount in room.items()}, worker)
    return beside, holds(room, worker)


def nodes_needed(gang: Gang, node: Amounts) -> int | None:
    """The fewest equal nodes that hold the gang, exactly; None when one of its pods fits no node.

    All workers are alike, so only the node of the leading pod differs: it holds what is left there.
    """
    beside, each = _workers_per_node(gang, node)
    if beside < 0 or (each == 0 and gang.workers > beside):
        return None
    return 1 if gang.workers <= beside else 1 - (beside - gang.workers) // each


def most_workers(gang: Gang, node: Amounts, count: int) -> int:
    """The most workers that fit on so many equal nodes beside the leading pod; -1 when not even that fits."""
    beside, each = _workers_per_node(gang, node)
    return -1 if beside < 0 or count < 1 else beside + (count - 1) * each


def ray_nodes_needed(env: "Environment", name: str) -> int | None:
    """The fewest nodes of its pool that hold the gang of a Ray cluster."""
    gang = ray_gang(env, name)
    return nodes_needed(gang, nodes.offered(env, gang.pool))


@dataclass(frozen=True)
class Bound:
    """A bound on the number of workers in a gang.

    Attributes:
        place: What bounds it, such as `pool train` or `queue research`.
        has: What there is, in words.
        needs: What a number of workers and their leading pod need of it, in words.
        workers: The most workers within the bound; -1 when not even the leading pod is.
        hard: Whether the gang waits for ever beyond it.
        quota: Tenant and resource, where it is the quota of a team.
    """

    place: str
    has: str
    needs: Callable[[int], str]
    workers: int
    hard: bool = True
    quota: tuple[str, str] | None = None

    def broken_by(self, workers: int) -> str:
        """Both numbers: what the gang needs and what there is."""
        return f"it needs {self.needs(workers)}, {self.place} {self.has}"


def bounds(env: "Environment", name: str) -> list[Bound]:
    """What bounds the gang of a Ray cluster: its queue and those above, its team's quota, its pool, its domain."""
    found: list[Bound] = []
    for bound in (_queue_bounds, _quota_bounds, _pool_bounds, _domain_bounds):
        with suppress(Unanswerable):
            found += bound(env, env.ray.clusters[name], ray_gang(env, name))
    return found


def _queue_bounds(env: "Environment", cluster: "RayCluster", gang: Gang) -> Iterator[Bound]:
    for node in queues.branch(env, cluster.queue):
        for _, bound in _amount_bounds(f"queue {node.path}", gang.lead, gang.worker_pod, node.queue.capability):
            yield bound


def _quota_bounds(env: "Environment", cluster: "RayCluster", gang: Gang) -> Iterator[Bound]:
    """A ResourceQuota counts every container, sidecars too, and the pods themselves."""
    owner = tenants.owner(env, cluster.namespace)
    if owner is not None:
        lead, worker = (_plus(pod, {"pods": Decimal(1)}) for pod in (gang.leading_pod, gang.worker_pod))
        place = f"the quota of namespace {cluster.namespace}"
        for resource, bound in _amount_bounds(place, lead, worker, env.tenants[owner].quota):
            yield replace(bound, quota=(owner, resource))


def _amount_bounds(place: str, lead: Amounts, worker: Amounts, limits: quotas.Quota) -> Iterator[tuple[str, Bound]]:
    for resource, limit in quotas.resolved(limits).items():
        if not lost(limit) and (resource in lead or resource in worker):
            amounts = (lead.get(resource, Decimal(0)), worker.get(resource, Decimal(0)))
            yield resource, _amount_bound(place, resource, amounts, limit.value)


def _amount_bound(place: str, resource: str, amounts: tuple[Decimal, Decimal], limit: Decimal) -> Bound:
    lead, each = amounts
    workers = -1 if lead > limit else int((limit - lead) // each) if each else _ANY

    def needs(count: int) -> str:
        return f"{written(resource, lead + each * count)} of {resource}"

    return Bound(place, f"may use {written(resource, limit)}", needs, workers)


_ANY = 2**31 - 1
"""More workers than any cluster has."""


def _pool_bounds(env: "Environment", _: "RayCluster", gang: Gang) -> Iterator[Bound]:
    yield _node_bound(env, gang, f"pool {gang.pool}", env.pools[gang.pool].most)


def _domain_bounds(env: "Environment", cluster: "RayCluster", gang: Gang) -> Iterator[Bound]:
    within = cluster.within
    if within is None:
        return
    room = topology.largest_domain(env, gang.pool, within.level)
    if room is not None:
        yield _node_bound(env, gang, f"a {within.level} of pool {gang.pool}", room, hard=within.mode == "hard")


def _node_bound(env: "Environment", gang: Gang, place: str, room: int, *, hard: bool = True) -> Bound:
    node = nodes.offered(env, gang.pool)

    def needs(count: int) -> str:
        needed = nodes_needed(replace(gang, workers=count), node)
        return "larger nodes" if needed is None else f"{needed} nodes"

    return Bound(place, f"holds {room}", needs, most_workers(gang, node, room), hard)
