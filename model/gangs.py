"""Gangs: what must run together, and how many nodes that takes."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from . import nodes, pod_patch
from .counts import fewest
from .derived import derived
from .problems import Path, Subject, Unanswerable, known, lost
from .quantities import Quantity, written
from .storage import mounts
from .workloads import Amounts, Leader, Sidecar, Workers, Workload, every

if TYPE_CHECKING:
    from .environment import Environment


@dataclass(frozen=True)
class Gang:
    """A gang of pods on one pool: workers that are all alike, and for some kinds one pod that leads them.

    Attributes:
        pool: Name of the pool.
        lead: What the leading pod asks for, as the operator counts it; None where no pod leads.
        worker: What each worker asks for, as the operator counts it.
        workers: Number of workers that belong to the gang.
        sidecars: What the leading pod's sidecars ask for on top.
        beside: What each worker's sidecars ask for on top.
        apart: What a pod asks for that comes once the gang runs: in its resources, not in its size. Empty for none.
    """

    pool: str
    lead: Amounts | None
    worker: Amounts
    workers: int
    sidecars: Amounts = field(default_factory=dict)
    beside: Amounts = field(default_factory=dict)
    apart: Amounts = field(default_factory=dict)

    @property
    def pods(self) -> int:
        """Number of pods in the gang: `minMember` of its PodGroup."""
        return self.workers + (self.lead is not None)

    @property
    def requests(self) -> Amounts:
        """What the gang asks for in all, in base units."""
        return added(self.lead or {}, self.apart, times(self.worker, self.workers))

    @property
    def min_resources(self) -> dict[str, Quantity]:
        """`minResources` of its PodGroup."""
        return {name: Quantity.parse(written(name, amount)) for name, amount in self.requests.items()}

    @property
    def single_pods(self) -> tuple[Amounts, ...]:
        """What each pod that is no worker takes of a node, sidecars and the pod itself included."""
        lead = () if self.lead is None else (added(self.lead, self.sidecars, _A_POD),)
        return (*lead, added(self.apart, _A_POD)) if self.apart else lead

    @property
    def worker_pod(self) -> Amounts:
        """What a worker takes of a node, sidecars and the pod itself included."""
        return added(self.worker, self.beside, _A_POD)


_A_POD: Amounts = {"pods": Decimal(1)}


def added(*all_amounts: Amounts) -> dict[str, Decimal]:
    """Some amounts together."""
    found: dict[str, Decimal] = {}
    for amounts in all_amounts:
        for name, amount in amounts.items():
            found[name] = found.get(name, Decimal(0)) + amount
    return found


def times(amounts: Amounts, factor: int) -> dict[str, Decimal]:
    """Some amounts so often; nothing of nothing."""
    return {name: amount * factor for name, amount in amounts.items()} if factor else {}


def sidecars(workload: Workload, part: str) -> tuple[Sidecar, ...]:
    """What stands beside the container of a part's pods: what the operator adds, and the uploader of checkpoints."""
    uploader = mounts.resources(workload) if part == "workers" else {}
    return (*workload.sidecars(part), *((Sidecar("uploader", uploader, workload.counts_uploader),) if uploader else ()))


def _beside(found: Iterable[Sidecar], *, counted: bool) -> Amounts:
    return added(*(sidecar.amounts for sidecar in found if sidecar.counted == counted))


def asked(env: "Environment", workload: Workload) -> Amounts:
    """What each worker's own container asks for, in base units.

    What could not be read is left out: a gang that is too large without it is too large.
    """
    workers = workload.workers
    worker = _basic(workers)
    if not lost(workers.gpus) and workers.gpus:
        with suppress(Unanswerable):
            resource = nodes.gpu_resource(env.pools[workload.pool], workers.profile) or nodes.GPU
            worker[resource] = Decimal(workers.gpus)
        with suppress(Unanswerable):
            worker |= pod_patch.resources(env, workload.pool, gpus=workers.gpus, rdma=known(workers.rdma))
    return worker


def _basic(pod: Leader | Workers) -> dict[str, Decimal]:
    return {name: amount.value for name, amount in (("cpu", pod.cpu), ("memory", pod.memory)) if not lost(amount)}


@derived
def _gangs(env: "Environment") -> dict[Path, Gang]:
    found: dict[Path, Gang] = {}
    for it in every(env):
        with suppress(Unanswerable):
            found[it.at] = _of(it)
    return found


def _of(it: Subject[Workload]) -> Gang:
    workload, leader = it.value, known(it.value.leads)
    above, below = sidecars(workload, workload.leader), sidecars(workload, "workers")
    return Gang(
        pool=known(workload.pool),
        lead=None if leader is None else added(_basic(leader), _beside(above, counted=True)),
        worker=added(asked(it.env, workload), _beside(below, counted=True)),
        workers=fewest(known(workload.workers.count)),
        sidecars=_beside(above, counted=False),
        beside=_beside(below, counted=False),
        apart=workload.apart,
    )


def gang(env: "Environment", at: Path) -> Gang:
    """The gang of the workload at a place such as `("ray", "clusters", "tuning")`, as its operator makes it.

    Of an elastic one it has as many workers as start together.

    Sources: https://github.com/ray-project/kuberay, ray-operator/controllers/ray/batchscheduler/volcano;
    https://github.com/volcano-sh/volcano, pkg/controllers/job.

    Raises:
        Unanswerable: There is no such workload, or a part of it that matters could not be read.
    """
    try:
        return _gangs(env)[at]
    except KeyError:
        raise Unanswerable from None


def holds(room: Amounts, pod: Amounts) -> int:
    """How many such pods fit into some room. A pod asks for something: at least to be one of the node's pods."""
    return max(0, min(int(room.get(name, Decimal(0)) // amount) for name, amount in pod.items() if amount > 0))


def most_workers(gang: Gang, node: Amounts, count: int) -> int:
    """The most workers that fit on so many equal nodes beside the pods that are none; -1 when not even those fit.

    Exact: workers are all alike, so what matters is only whether the other pods, of which there are two at most, share
    a node or not.
    """
    room = {"pods": Decimal(110), **node}
    each = holds(room, gang.worker_pod)
    ways = [_beside_pods(room, gang.worker_pod, pods) for pods in _ways(gang.single_pods)]
    fitting = [sum(way) + (count - len(way)) * each for way in ways if way is not None and len(way) <= count]
    return max(fitting, default=-1)


def _ways(pods: tuple[Amounts, ...]) -> list[tuple[Amounts, ...]]:
    """The ways in which at most two pods stand on nodes: what is taken of each."""
    return [pods, (added(*pods),)] if len(pods) > 1 else [pods]


def _beside_pods(room: Amounts, worker: Amounts, pods: tuple[Amounts, ...]) -> list[int] | None:
    """How many workers fit beside each of some pods; None when one of those fits no node."""
    if not all(holds(room, pod) for pod in pods):
        return None
    left = [{name: amount - pod.get(name, Decimal(0)) for name, amount in room.items()} for pod in pods]
    return [holds(free, worker) for free in left]


def nodes_needed(gang: Gang, node: Amounts) -> int | None:
    """The fewest equal nodes that hold the gang, exactly; None when one of its pods fits no node."""
    room = {"pods": Decimal(110), **node}
    each = holds(room, gang.worker_pod)
    needed: list[int] = []
    for pods in _ways(gang.single_pods):
        beside = _beside_pods(room, gang.worker_pod, pods)
        if beside is None:
            continue
        others = max(0, gang.workers - sum(beside))
        if others == 0 or each:
            needed.append(len(beside) + (-(-others // each) if others else 0))
    return min(needed, default=None)


def nodes_of(env: "Environment", at: Path) -> int | None:
    """The fewest nodes of its pool that hold the gang of the workload at a place."""
    found = gang(env, at)
    return nodes_needed(found, nodes.offered(env, found.pool))


def twice(gang: Gang) -> Gang:
    """Two such gangs as one: both leading pods, and all workers. For gangs that need no pod apart."""
    apart = {} if gang.lead is None else added(gang.lead, gang.sidecars)
    return replace(gang, workers=2 * gang.workers, apart=apart)
