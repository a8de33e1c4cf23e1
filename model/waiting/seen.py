"""What is seen of a cluster: nodes, queues, work and quotas, as plain values."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from functools import cached_property

from model import gpu_requests

Amounts = Mapping[str, Decimal]
"""Amounts by resource in base units: cores, bytes, items."""

CALLED = {
    "RayCluster": "Ray cluster",
    "RayJob": "Ray job",
    "RayService": "Ray service",
    "Job": "job",
    "Pod": "pod",
}
"""What people call the kinds of workloads."""
COMPLETED = "Completed"
"""The phase of a PodGroup of which nothing is left to run."""
_BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)


def total(amounts: Iterable[Amounts]) -> dict[str, Decimal]:
    """The sum of some amounts."""
    found: dict[str, Decimal] = {}
    for each in amounts:
        for name, amount in each.items():
            found[name] = found.get(name, Decimal(0)) + amount
    return found


def gpus(amounts: Amounts) -> Amounts:
    """The GPUs among some amounts, by resource."""
    return {name: amount for name, amount in amounts.items() if amount and gpu_requests.is_gpu(name)}


@dataclass(frozen=True, order=True)
class Workload:
    """A workload as a person made it.

    Attributes:
        kind: Its Kubernetes kind, such as RayCluster.
        namespace: Its namespace.
        name: Its name there.
    """

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{CALLED.get(self.kind, self.kind)} {self.namespace}/{self.name}"


@dataclass(frozen=True)
class Shape:
    """Pods of a gang that are alike.

    Attributes:
        count: How many must start together.
        asks: What each asks for, in base units.
        selector: Labels that its node must have.
        tolerated: Whether it tolerates a taint, by the taint's key and value; `("", "")` stands for all taints.
    """

    count: int
    asks: Amounts
    selector: Mapping[str, str] = field(default_factory=dict[str, str])
    tolerated: frozenset[tuple[str, str | None]] = frozenset()

    def tolerates(self, key: str, value: str) -> bool:
        """Whether such a pod may be put on a node with a taint."""
        return bool({("", None), (key, None), (key, value)} & self.tolerated)


@dataclass(frozen=True)
class Group:
    """A PodGroup, or a job that has none yet or any more: what a queue holds.

    Attributes:
        workload: What people know it by.
        queue: Path of its queue.
        phase: Its phase: Pending, Inqueue, Running, Unknown or Completed; that of the job where it has no PodGroup.
        members: Pods that must start together (`minMember`).
        asks: What these ask for in all, in base units (`minResources`).
        name: Name of the PodGroup; empty when there is none.
        shapes: Its pods; empty where they are not known.
        priority: The value of its PriorityClass.
        created: When it came.
        tier: The widest topology tier that it may span, where that is hard.
        former: Name of the PodGroup that a job without one has or had for its pods; else empty.
        changed: When a job without a PodGroup came into its phase.
    """

    workload: Workload
    queue: str
    phase: str
    members: int
    asks: Amounts = field(default_factory=dict[str, Decimal])
    name: str = ""
    shapes: tuple[Shape, ...] = ()
    priority: int = 0
    created: datetime = _BEGINNING
    tier: int | None = None
    former: str = ""
    changed: datetime = _BEGINNING

    @property
    def started(self) -> bool:
        """Whether its pods were placed."""
        return self.phase in ("Running", "Unknown")

    @property
    def rank(self) -> tuple[int, datetime]:
        """Its place among the work of a queue: the highest priority first, then the oldest."""
        return -self.priority, self.created


@dataclass(frozen=True)
class Pod:
    """A pod that is not over.

    Attributes:
        namespace: Its namespace.
        name: Its name there.
        group: Name of its PodGroup in that namespace.
        node: The node that it is bound to.
        asks: What it asks for, in base units.
    """

    namespace: str
    name: str
    group: str | None
    node: str | None
    asks: Amounts


@dataclass(frozen=True)
class Node:
    """A node.

    Attributes:
        name: Its name.
        pool: Its pool.
        labels: Its labels.
        allocatable: What it has for pods.
        taints: Its taints that keep pods away, by key, with their values.
        away: Why nothing new is put there, such as `not ready`; None when it takes pods.
    """

    name: str
    pool: str | None
    labels: Mapping[str, str]
    allocatable: Amounts
    taints: Mapping[str, str] = field(default_factory=dict[str, str])
    away: str | None = None


@dataclass(frozen=True)
class Queue:
    """A queue.

    Attributes:
        name: Its name, which is its path.
        parent: The queue above.
        state: Open, Closed, Closing or Unknown.
        guarantee: Kept for it.
        deserved: Its share.
        capability: The most it may use.
        reclaimable: Whether others may take back what it has above its share.
    """

    name: str
    parent: str
    state: str
    guarantee: Amounts = field(default_factory=dict[str, Decimal])
    deserved: Amounts = field(default_factory=dict[str, Decimal])
    capability: Amounts = field(default_factory=dict[str, Decimal])
    reclaimable: bool = True


@dataclass(frozen=True)
class Domain:
    """A topology domain.

    Attributes:
        name: Its name.
        tier: 1 is the closest.
        nodes: Names of the nodes in it.
    """

    name: str
    tier: int
    nodes: frozenset[str]


@dataclass(frozen=True)
class Quota:
    """A limit of a namespace.

    Attributes:
        namespace: The namespace.
        resource: As pods name it: `nvidia.com/gpu`, `pods`.
        hard: The limit.
        used: What is used of it.
    """

    namespace: str
    resource: str
    hard: Decimal
    used: Decimal


@dataclass(frozen=True)
class Seen:
    """A cluster at one moment.

    Attributes:
        now: That moment.
        nodes: All nodes.
        queues: All queues by name.
        groups: All work that is not over.
        pods: All pods that are not over.
        domains: All topology domains.
        quotas: The limits of all namespaces.
        scheduler: Whether the batch scheduler runs.
        over: Work that is over and still has a PodGroup.
    """

    now: datetime
    nodes: tuple[Node, ...] = ()
    queues: Mapping[str, Queue] = field(default_factory=dict[str, Queue])
    groups: tuple[Group, ...] = ()
    pods: tuple[Pod, ...] = ()
    domains: tuple[Domain, ...] = ()
    quotas: tuple[Quota, ...] = ()
    scheduler: bool = True
    over: tuple[Group, ...] = ()

    def branch(self, queue: str) -> Iterator[Queue]:
        """A queue and those above it, as far as they are there."""
        seen: set[str] = set()
        while queue in self.queues and queue not in seen:
            seen.add(queue)
            yield self.queues[queue]
            queue = self.queues[queue].parent

    def within(self, group: Group, queue: str) -> bool:
        """Whether a group is in a queue or in a part of it."""
        return any(each.name == queue for each in self.branch(group.queue))

    @cached_property
    def _bound(self) -> Mapping[tuple[str, str], list[Pod]]:
        found: dict[tuple[str, str], list[Pod]] = {}
        for pod in self.pods:
            if pod.group and pod.node:
                found.setdefault((pod.namespace, pod.group), []).append(pod)
        return found

    def bound(self, group: Group) -> list[Pod]:
        """The pods of a group that have a node."""
        return self._bound.get((group.workload.namespace, group.name), []) if group.name else []

    def holds(self, group: Group) -> Amounts:
        """What a group holds of the cluster: what its bound pods ask for."""
        return total(pod.asks for pod in self.bound(group))
