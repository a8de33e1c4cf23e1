"""The tree of queues that workloads are submitted to."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from pydantic import Field

from . import nodes
from .base import Declared
from .derived import derived
from .problems import Unanswerable, lost
from .quantities import Quantity

if TYPE_CHECKING:
    from .environment import Environment

Quota = dict[str, Quantity]
"""Amounts by resource: cpu, memory, gpu (short for nvidia.com/gpu) or a resource that some pool advertises."""

ROOT = "root"
DEFAULT = "default"
"""Queues that Volcano's scheduler makes by itself when it starts."""


class Queue(Declared):
    """A queue. Jobs go to leaves; a queue with `queues` only divides what it has."""

    guarantee: Quota = Field(default_factory=dict)
    """Kept for this queue even when it is idle. At most `deserved`."""
    deserved: Quota = Field(default_factory=dict)
    """Its share: may be lent to others while unused and is reclaimed when needed. At most `capability`."""
    capability: Quota = Field(default_factory=dict)
    """The most it may ever use. A resource that is not named is not limited."""
    priority: int = 0
    """Higher is served first and reclaimed from last."""
    reclaimable: bool = True
    """Whether others may take back what this queue uses above its `deserved`."""
    queues: dict[str, "Queue"] = Field(default_factory=dict)
    """Its parts."""


@dataclass(frozen=True)
class QueueNode:
    """A queue in its place in the tree.

    Attributes:
        path: Names from the top joined by dots: `research.llm`. Also the name of its Volcano object.
        parent: Path of the queue above, `root` for the top ones.
        queue: What was declared.
        leaf: Whether workloads may be submitted to it.
        keys: Path in the document.
    """

    path: str
    parent: str
    queue: Queue
    leaf: bool
    keys: tuple[str, ...]


def resource_name(name: str) -> str:
    """The Kubernetes name of a resource in a quota: `gpu` is short for `nvidia.com/gpu`."""
    return nodes.GPU if name == "gpu" else name


def resolved(quota: Quota) -> dict[str, Quantity]:
    """A quota by the Kubernetes names of its resources."""
    return {resource_name(name): amount for name, amount in quota.items()}


@derived
def flatten(env: "Environment") -> tuple[QueueNode, ...]:
    """All queues, parents first, otherwise in the order of the document."""
    return tuple(_walk(env.queues, ROOT, (), ("queues",)))


def _walk(queues: dict[str, Queue], parent: str, above: tuple[str, ...], keys: tuple[str, ...]) -> Iterator[QueueNode]:
    for name, queue in queues.items():
        if lost(queue):
            continue
        path = (*above, name)
        here = (*keys, name)
        unread = lost(queue.queues)
        yield QueueNode(".".join(path), parent, queue, not unread and not queue.queues, here)
        if not unread:
            yield from _walk(queue.queues, ".".join(path), path, (*here, "queues"))


@derived
def by_path(env: "Environment") -> Mapping[str, QueueNode]:
    """All queues by their path."""
    return MappingProxyType({node.path: node for node in flatten(env)})


def find(env: "Environment", path: str) -> QueueNode | None:
    """The queue at a path; None when there is none.

    Raises:
        Unanswerable: Something on the way could not be read.
    """
    found = by_path(env).get(path)
    if found is None:
        here = env.queues
        for name in path.split("."):
            if name not in here:
                return None
            if lost(here[name]):
                raise Unanswerable
            here = here[name].queues
    elif lost(found.queue.queues):
        raise Unanswerable
    return found


def branch(env: "Environment", path: str) -> Iterator[QueueNode]:
    """A queue and those above it, up to but without the root."""
    found = by_path(env).get(path)
    while found is not None:
        yield found
        found = by_path(env).get(found.parent)


def leaves(env: "Environment") -> list[str]:
    """Paths of the queues that workloads may be submitted to."""
    return [node.path for node in flatten(env) if node.leaf]
