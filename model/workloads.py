"""What people run: the base of every workload, whatever operator makes its pods."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from .amounts import Cpu, Memory
from .base import Declared
from .counts import Count, Size
from .derived import derived
from .problems import Path, Problem, Subject, Unanswerable, answered, readable
from .quantities import Quantity

if TYPE_CHECKING:
    from .environment import Environment

Amounts = Mapping[str, Decimal]
"""Amounts by resource in base units: cores, bytes, items."""
NONE: Amounts = MappingProxyType({})


@dataclass(frozen=True)
class Sidecar:
    """A container that an operator, or we, add to a pod.

    Attributes:
        called: What it is called in messages.
        amounts: What it asks for.
        counted: Whether the operator counts it in the gang's resources (`minResources`).
    """

    called: str
    amounts: Amounts
    counted: bool = False


class Leader(Declared):
    """The one pod that leads the workers. It runs no work of its own, so it asks for no GPU."""

    misplaced: ClassVar = {
        "replicas": "there is exactly one; more pods are workers: workers.count",
        "count": "there is exactly one; more pods are workers: workers.count",
        "gpus": "it runs no work of its own; GPUs belong to workers: workers.gpus",
    }

    cpu: Cpu
    """Cores."""
    memory: Memory
    """Memory."""

    @property
    def asked(self) -> Mapping[str, Quantity]:
        """What it asks for, by resource."""
        return {"cpu": self.cpu, "memory": self.memory}


class Workers(Declared):
    """The worker pods, all alike."""

    synonyms: ClassVar = {"replicas": "count", "size": "count", "gpu": "gpus"}
    parts: ClassVar = {"count": {"minReplicas": "min", "maxReplicas": "max", "min": "min", "max": "max"}}
    misplaced: ClassVar = {"minAvailable": "how many must start together is workers.count: {min: …, max: …}"}

    count: Count
    """Number of pods. With {min, max} the gang is as many as `min`: it starts with them, and the others come one by one
    when there is room."""
    cpu: Cpu
    """Cores per worker."""
    memory: Memory
    """Memory per worker."""
    gpus: int = 0
    """GPUs per worker: whole ones, or parts on a pool that shares them."""
    profile: str | None = None
    """The MIG profile of its GPU, on a pool that is cut into several."""
    rdma: int | None = None
    """RDMA devices per worker, where it is not what follows from its GPUs: one ticket where NICs are shared, else its
    share of the node's. 0 for none."""


class Within(Declared):
    """A bound on where a gang may be spread."""

    level: str
    """A level of `topology`, such as `rack`: the gang stays within one domain of it."""
    mode: Literal["hard", "soft"] = "hard"
    """`hard`: waits until one domain holds it; `soft`: prefers it."""


class Workload(Declared):
    """A gang of pods: workers that are all alike, and for some kinds one pod that leads them."""

    called: ClassVar[str]
    """What this kind is called in messages, and `the` lead in it."""
    leader: ClassVar[str] = ""
    """The key of the pod that leads, for kinds that may have one."""
    counts_uploader: ClassVar[bool] = False
    """Whether the operator counts the uploader's sidecar in the gang's resources. KubeRay does not
    (https://github.com/ray-project/kuberay/issues/4996)."""

    namespace: str
    """A namespace of a tenant."""
    queue: str
    """A leaf queue, by path: `research.llm`."""
    pool: str
    """The pool whose nodes it runs on."""
    workers: Workers
    """The worker pods."""
    within: Within | None = None
    """Keep the gang within one topology domain."""
    priority: str | None = None
    """A PriorityClass; the cluster must have it. Its value decides who is served first, and who gives way."""
    checkpoints: bool = False
    """Whether workers get the tiers of checkpoints, and an uploader each."""
    env: dict[str, str] = Field(default_factory=dict)
    """Environment variables of its pods. Values are text: "1", not 1."""

    @property
    def leads(self) -> Leader | None:
        """The pod that leads the workers; None where all are alike."""
        return getattr(self, self.leader) if self.leader else None

    @property
    def elastic(self) -> bool:
        """Whether it may have more workers than start together."""
        return isinstance(self.workers.count, Size)

    def sidecars(self, part: str) -> tuple[Sidecar, ...]:
        """What its operator adds to the pods of a part: `workers`, or the leader's key."""
        del part
        return ()

    @property
    def apart(self) -> Amounts:
        """What a pod asks for that its operator starts once the gang runs; empty where there is none."""
        return NONE


def _groups(env: "Environment") -> Iterator[tuple[Path, Callable[[], Mapping[Any, Workload]]]]:
    yield ("ray", "clusters"), lambda: env.ray.clusters
    yield ("ray", "jobs"), lambda: env.ray.jobs
    yield ("ray", "services"), lambda: env.ray.services
    yield ("training", "jobs"), lambda: env.training.jobs


@derived
def _every(env: "Environment") -> tuple[tuple[Path, str, Workload], ...]:
    found: list[tuple[Path, str, Workload]] = []
    for at, values in _groups(env):
        with suppress(Unanswerable):
            found += [((*at, name), name, value) for name, value in readable(values())]
    return tuple(found)


def every(env: "Environment") -> tuple[Subject[Workload], ...]:
    """All workloads of a document that could be read, each with its place."""
    return tuple(Subject(at, name, value, env) for at, name, value in _every(env))


def judged(env: "Environment", *rules: Callable[[Subject[Workload]], Iterable[Problem]]) -> Iterator[Problem]:
    """What some rules say about each workload that could be read."""
    for subject in every(env):
        for rule in rules:
            yield from answered(rule, subject)
