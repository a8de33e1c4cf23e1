"""What a change of document means: machines and quotas that come and go, and what it does to what runs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import fabric_changes, nodes, policies, queues, quotas, sharing_changes
from .aws import node_changes
from .disruption import Disruption
from .quantities import readable

if TYPE_CHECKING:
    from .environment import Environment

AMOUNTS = ("guarantee", "deserved", "capability")
"""The kinds of amounts that a queue has."""


@dataclass(frozen=True)
class Extent:
    """How large a pool is: at least and at most, which is the same where nobody scales it.

    Attributes:
        nodes: Number of nodes.
        gpus: Number of whole GPUs on them.
        gpu: Model of the GPUs; empty where it has none.
        machine: What its nodes are: an instance type, a server, or `shape`.
    """

    nodes: tuple[int, int] = (0, 0)
    gpus: tuple[int, int] = (0, 0)
    gpu: str = ""
    machine: str = ""


@dataclass(frozen=True)
class PoolChange:
    """A pool before and after; one that is not there has no nodes."""

    name: str
    before: Extent
    after: Extent


@dataclass(frozen=True)
class QueueChange:
    """An amount of a queue before and after, as people read it; None where it is not declared.

    Attributes:
        queue: Path of the queue.
        kind: One of `AMOUNTS`.
        resource: As Kubernetes calls it.
        before: The amount.
        after: The amount.
    """

    queue: str
    kind: str
    resource: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class SettingChange:
    """What the document sets about a rule of the policy pack, before and after; None where nothing is set.

    Attributes:
        what: What is set, for people.
        before: The value.
        after: The value.
    """

    what: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class DocumentChange:
    """What a change of document means.

    Attributes:
        pools: Pools whose machines change, in the order of the document; those that go come last.
        queues: Amounts of queues that change, parents first; those of queues that go come last.
        gpus: GPUs of all pools before and after, each at least and at most.
        disruptions: What it does to what runs.
        settings: What it sets otherwise about the rules of the policy pack.
    """

    pools: tuple[PoolChange, ...]
    queues: tuple[QueueChange, ...]
    gpus: tuple[tuple[int, int], tuple[int, int]]
    disruptions: tuple[Disruption, ...]
    settings: tuple[SettingChange, ...] = ()


def between(before: "Environment | None", after: "Environment") -> DocumentChange:
    """What the change from one document to another means; without one before, all of it is new."""
    return DocumentChange(
        tuple(_pools(before, after)),
        tuple(_queues(before, after)),
        (_gpus(before), _gpus(after)),
        tuple(disruptions(before, after)) if before else (),
        tuple(_settings(before, after)),
    )


def disruptions(before: "Environment", after: "Environment") -> list[Disruption]:
    """What a change of document does to what runs: nodes that are emptied or replaced, and pods that end."""
    return [
        *node_changes.disruptions(before, after),
        *fabric_changes.disruptions(before, after),
        *sharing_changes.disruptions(before, after),
    ]


def _pools(before: "Environment | None", after: "Environment") -> Iterator[PoolChange]:
    gone = [name for name in before.pools if name not in after.pools] if before else []
    for name in (*after.pools, *gone):
        change = PoolChange(name, _extent(before, name), _extent(after, name))
        if change.before != change.after:
            yield change


def _extent(env: "Environment | None", name: str) -> Extent:
    pool = env.pools.get(name) if env else None
    if pool is None:
        return Extent()
    machine = nodes.machine(pool)
    size = (pool.fewest, pool.most)
    gpus = (size[0] * machine.gpus, size[1] * machine.gpus)
    gpu = machine.gpu.name if machine.gpu and machine.gpus else ""
    return Extent(size, gpus, gpu, pool.instance or pool.server or "shape")


def _gpus(env: "Environment | None") -> tuple[int, int]:
    found = [_extent(env, name).gpus for name in env.pools] if env else []
    return sum(least for least, _ in found), sum(most for _, most in found)


def _queues(before: "Environment | None", after: "Environment") -> Iterator[QueueChange]:
    old, new = dict(_amounts(before) if before else ()), dict(_amounts(after))
    for key in (*new, *(key for key in old if key not in new)):
        if old.get(key) != new.get(key):
            yield QueueChange(*key, old.get(key), new.get(key))


def _settings(before: "Environment | None", after: "Environment") -> Iterator[SettingChange]:
    old, new = dict(policies.settings(before) if before else ()), dict(policies.settings(after))
    for key in (*new, *(key for key in old if key not in new)):
        if old.get(key) != new.get(key):
            yield SettingChange(key, old.get(key), new.get(key))


def _amounts(env: "Environment") -> Iterator[tuple[tuple[str, str, str], str]]:
    for node in queues.flatten(env):
        for kind in AMOUNTS:
            for resource, amount in quotas.resolved(getattr(node.queue, kind)).items():
                yield (node.path, kind, resource), readable(resource, amount.value)
