"""The tree of queues that workloads are submitted to."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING

from pydantic import Field

from . import names, nodes, quotas
from .base import Declared
from .derived import derived
from .problems import ABSENT, NOTHING, Problem, Unanswerable, answered, lost
from .quantities import Quantity, beside, readable, written
from .quotas import Quota, resource_name
from .shares import Amount

if TYPE_CHECKING:
    from .environment import Environment

ROOT = "root"
DEFAULT = "default"
"""Queues that Volcano's scheduler makes by itself when it starts."""
DEPTH = 5
"""Most levels of queues (Volcano's webhook flag --max-queue-depth, which its chart does not set)."""
PRIORITY = 2**31 - 1
"""Highest priority of a queue (its field is an int32)."""


class Queue(Declared):
    """A queue. Jobs go to leaves; a queue with `queues` only divides what it has."""

    guarantee: dict[str, Amount] = Field(default_factory=dict)
    """Kept for this queue even when it is idle; with Volcano only for a part, of what a queue above it has a
    `capability` of, while a top queue gets it back like what it deserves. At most `deserved`. An amount may be a share
    of what a pool offers at its largest: {gpu: 50% of train}."""
    deserved: dict[str, Amount] = Field(default_factory=dict)
    """Its share: may be lent to others while unused and is reclaimed when needed. At most `capability`."""
    capability: dict[str, Amount] = Field(default_factory=dict)
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
    while path != ROOT and (found := by_path(env).get(path)) is not None:
        yield found
        path = found.parent


@derived
def leaves(env: "Environment") -> tuple[str, ...]:
    """Paths of the queues that workloads may be submitted to."""
    return tuple(node.path for node in flatten(env) if node.leaf)


def problems(env: "Environment") -> Iterator[Problem]:
    """All that is wrong with the queues: each by itself, in its place in the tree, and what they claim of the pools.

    The rules are those by which Volcano's webhook refuses a queue, so that it is refused here, before anything is
    created (https://github.com/volcano-sh/volcano, pkg/webhooks/admission/queues/validate/validate_queue.go).
    """
    for rule in (values, references, limits, tree, claims):
        yield from answered(rule, env)


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with each queue by itself."""
    yield from _each(env, _name, _default, _priority, _amounts)


def references(env: "Environment") -> Iterator[Problem]:
    """Resources that no pool offers."""
    yield from _each(env, _resources)


def limits(env: "Environment") -> Iterator[Problem]:
    """Amounts of one queue that contradict each other: guarantee <= deserved <= capability."""
    yield from _each(env, _guarantees, _deserves)


def tree(env: "Environment") -> Iterator[Problem]:
    """Amounts that contradict those of the queues above."""
    yield from _each(env, _within_ancestors, _parts)


def claims(env: "Environment") -> Iterator[Problem]:
    """What the top queues claim in sum, and what nothing limits."""
    yield from answered(_claims, env)
    yield from _each(env, _unlimited)


def _each(env: "Environment", *rules: Callable[[QueueNode, "Environment"], Iterable[Problem]]) -> Iterator[Problem]:
    for node in flatten(env):
        for rule in rules:
            yield from answered(rule, node, env)


def _name(node: QueueNode, _: "Environment") -> Iterator[Problem]:
    name = node.keys[-1]
    if fault := names.DNS_LABEL.fault(name):
        yield Problem(node.keys, name, fault, names.DNS_LABEL.allowed, spoils=NOTHING)
    elif node.path == ROOT:
        yield Problem(node.keys, name, "Volcano has a root queue of its own, above all others", "any other name")
    elif len(node.path) > names.LABEL >= len(node.parent):
        message = f"the queue is called {node.path}, {len(node.path)} characters; as a label value it has at most 63"
        yield Problem(node.keys, name, message, f"a path of at most {names.LABEL} characters", spoils=NOTHING)
    if node.path.count(".") == DEPTH:
        yield Problem(node.keys, name, f"is level {DEPTH + 1} of the tree", f"at most {DEPTH} levels", spoils=NOTHING)


def _default(node: QueueNode, _: "Environment") -> Iterator[Problem]:
    """Jobs that name no queue go to `default`, and Volcano takes jobs in leaves only."""
    if node.path == DEFAULT and node.queue.queues:
        message = "default takes the jobs that name no queue, so it must stay a leaf: jobs go to leaves only"
        yield Problem((*node.keys, "queues"), ", ".join(node.queue.queues), message, "no queues below default")


def _priority(node: QueueNode, _: "Environment") -> Iterator[Problem]:
    if not 0 <= node.queue.priority <= PRIORITY:
        yield Problem((*node.keys, "priority"), node.queue.priority, "is out of range", f"0 to {PRIORITY}")


_QUOTAS = ("guarantee", "deserved", "capability")


def _amounts(node: QueueNode, _: "Environment") -> Iterator[Problem]:
    for kind in _QUOTAS:
        yield from answered(quotas.values, (*node.keys, kind), getattr(node.queue, kind))


def _resources(node: QueueNode, env: "Environment") -> Iterator[Problem]:
    # Volcano's queues do not count them.
    useless = () if lost(env.scheduler.kind) or env.scheduler.kind != "volcano" else ("pods",)
    for kind in _QUOTAS:
        yield from answered(quotas.references, (*node.keys, kind), getattr(node.queue, kind), env, (), useless)


def _amount(quota: Quota, resource: str) -> Quantity | None:
    return quota.get(quotas.key(quota, resource))


def _value(quota: Quota, resource: str) -> Decimal | None:
    amount = _amount(quota, resource)
    return None if amount is None else amount.value


def _named(*quotas: Quota) -> list[str]:
    return sorted({resource_name(name) for quota in quotas if not lost(quota) for name in quota})


def _guarantees(node: QueueNode, _: "Environment") -> Iterator[Problem]:
    for resource in _named(node.queue.guarantee):
        yield from answered(_guarantee, node, resource)


def _guarantee(node: QueueNode, resource: str) -> Iterator[Problem]:
    queue = node.queue
    key = quotas.key(queue.guarantee, resource)
    guarantee, deserved = queue.guarantee[key], _amount(queue.deserved, resource)
    at = (*node.keys, "guarantee", key)
    both = (at, (*node.keys, "deserved", quotas.key(queue.deserved, resource)))
    if deserved is None:
        message = f"guarantee {guarantee} is more than deserved, which has no {key}"
        fix = f"deserved: {{{key}: {guarantee}}}"
        yield Problem(at, guarantee.text, message, "at most what is deserved", fix, spoils=both)
    elif guarantee > deserved:
        mine, most = beside(resource, guarantee, deserved)
        message = f"guarantee {mine} is more than deserved {most}"
        yield Problem(at, guarantee.text, message, f"at most {deserved}", spoils=both)


def _deserves(node: QueueNode, _: "Environment") -> Iterator[Problem]:
    for resource in _named(node.queue.deserved):
        yield from answered(_deserved, node, resource)


def _deserved(node: QueueNode, resource: str) -> Iterator[Problem]:
    key = quotas.key(node.queue.deserved, resource)
    deserved, capability = node.queue.deserved[key], _amount(node.queue.capability, resource)
    if capability is not None and deserved > capability:
        mine, most = beside(resource, deserved, capability)
        message = f"deserved {mine} is more than capability {most}"
        at, other = (
            (*node.keys, "deserved", key),
            (*node.keys, "capability", quotas.key(node.queue.capability, resource)),
        )
        yield Problem(at, deserved.text, message, f"at most {capability}", spoils=(at, other))


def _within_ancestors(node: QueueNode, env: "Environment") -> Iterator[Problem]:
    for resource in _named(node.queue.capability):
        yield from answered(_capability, node, resource, env)


def _capability(node: QueueNode, resource: str, env: "Environment") -> Iterator[Problem]:
    """The nearest queue above that limits the resource decides."""
    key = quotas.key(node.queue.capability, resource)
    mine = node.queue.capability[key]
    for above in branch(env, node.parent):
        limit = _amount(above.queue.capability, resource)
        if limit is None:
            continue
        if mine > limit:
            this, most = beside(resource, mine, limit)
            message = f"capability {this} is more than capability {most} of {above.path}"
            at, other = (
                (*node.keys, "capability", key),
                (*above.keys, "capability", quotas.key(above.queue.capability, resource)),
            )
            yield Problem(at, mine.text, message, f"at most {limit}", spoils=(at, other))
        return


def _parts(node: QueueNode, _: "Environment") -> Iterator[Problem]:
    """What the parts of a queue deserve or are guaranteed, in sum, it must have itself; what it does not name is 0."""
    for kind in ("deserved", "guarantee"):
        for resource in _named(*(getattr(part, kind) for part in node.queue.queues.values() if not lost(part))):
            yield from answered(_sum_of_parts, node, kind, resource)


def _sum_of_parts(node: QueueNode, kind: str, resource: str) -> Iterator[Problem]:
    own: Quota = getattr(node.queue, kind)
    total, mine = _total(node.queue.queues, kind, resource), _value(own, resource)
    unnamed = mine is None and resource not in ("cpu", "memory")  # refused even where the parts name it with 0
    if total > (0 if mine is None else _counted(resource, mine)) or unnamed:
        key, needed = quotas.key(own, resource), written(resource, total)
        value = ABSENT if mine is None else own[key].text
        has = "it has none" if mine is None else f"it has {value}"
        if mine is not None and total - len(node.queue.queues) < mine and resource == "memory":
            # They may look as if they came out even.
            has += f" ({written(resource, _counted(resource, mine))}); a part of a byte counts as a whole one"
        message = f"the parts of {node.path} have {kind} {needed} in sum, {has}"
        yield Problem((*node.keys, kind, key), value, message, f"at least {needed}", f"{kind}: {{{key}: {needed}}}")


def _total(queues: dict[str, Queue], kind: str, resource: str) -> Decimal:
    amounts = (_value(getattr(queue, kind), resource) or Decimal(0) for queue in queues.values())
    return sum((_counted(resource, amount) for amount in amounts), Decimal(0))


def _counted(resource: str, amount: Decimal) -> Decimal:
    """An amount as Volcano counts it (pkg/scheduler/api/resource_info.go): each is rounded up before they are added.

    Memory counts in bytes, all else in thousandths: twice 1.2Ti is a byte more than 2.4Ti.
    """
    thousandths = 1 if resource == "memory" else 1000
    return (amount * thousandths).to_integral_value(ROUND_CEILING) / thousandths


def _claims(env: "Environment") -> Iterator[Problem]:
    """What the top queues claim in sum, all pools together must offer when each is at its largest.

    One problem for all resources: it is either the queues that claim too much, or the pools that are too small.
    """
    offered, over = nodes.most_offered(env), list[tuple[str, str, str, str]]()
    for kind in ("deserved", "guarantee"):
        for resource in _named(*(getattr(queue, kind) for queue in env.queues.values() if not lost(queue))):
            with suppress(Unanswerable):
                total, most = _total(env.queues, kind, resource), offered.get(resource)
                if most is not None and total > most:
                    over.append((kind, resource, *_told(resource, total, most)))
    if over:
        told = [f"{kind} {total} of {name} in sum, the pools offer at most {most}" for kind, name, total, most in over]
        allowed = dict.fromkeys(f"at most {most} of {name}" for _, name, _, most in over)
        message = f"the top queues have {'; '.join(told)}"
        yield Problem(("queues",), over[0][2], message, ", ".join(allowed))


def _told(resource: str, total: Decimal, most: Decimal) -> tuple[str, str]:
    """Two amounts, so exactly that they look different."""
    rounded = readable(resource, total), readable(resource, most)
    return rounded if rounded[0] != rounded[1] else (f"{total.normalize():f}", f"{most.normalize():f}")


def _unlimited(node: QueueNode, env: "Environment") -> Iterator[Problem]:
    if not node.leaf:
        return
    if any(quotas.misnamed(found.queue.capability, env) for found in branch(env, node.path)):
        return
    for resource in sorted(nodes.advertised(env)):
        if all(_value(found.queue.capability, resource) is None for found in branch(env, node.path)):
            key, most = (
                quotas.key(node.queue.capability, resource),
                written(resource, nodes.most_offered(env)[resource]),
            )
            message = f"nothing limits {resource} here or above: one team may take all {most}"
            # Named, it is a decision: a limit of all there is says that taking all is meant.
            fix = f"{key}: {most}, or less"
            yield Problem((*node.keys, "capability", key), ABSENT, message, fix=fix, severity="warning")
