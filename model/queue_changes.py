"""Changes of queues that Volcano refuses on the way, although it would take the document as a whole.

Its webhook holds each queue that is made or updated against the others as they are at that moment
(validateHierarchicalQueueResources, https://github.com/volcano-sh/volcano, release 1.15,
pkg/webhooks/admission/queues/validate/validate_queue.go): parts deserve and are guaranteed in sum at most what the
whole has, and no part's capability is above the whole's. The engine changes a queue before its parts, the parts of one
queue in any order, and removes queues last. So a whole meets its parts as they were, and each part the others as they
were or as they will be.

Of what a leaf deserves Volcano is told only what decides (model/volcano.py, `claimed`). Less is safe wherever more is,
but for a queue that loses its parts: it must not be told less than they have until they are removed.

What is safe in any order is a step on which nothing is taken from a whole that its old parts still have, and nothing
given to parts that others of them still have. `first_step` gives the one that leads the nearest to a document; after it
the document itself can be brought up, or is a level of queues nearer.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from . import nodes, queues, quotas, volcano
from .problems import ABSENT, Problem
from .quantities import readable, written

if TYPE_CHECKING:
    from .environment import Environment

SUMMED = ("guarantee", "deserved")
"""Kinds of amounts of which parts have in sum at most what the whole has."""
CAPABILITY = "capability"
_FLOATS = ("cpu", "memory")
"""Resources of which Volcano does not tell an amount of 0 from none."""

Key = tuple[str, str, str]
"""Path of a queue, kind of amount, resource as Kubernetes calls it."""
Amounts = Mapping[Key, Decimal]


@dataclass(frozen=True)
class Held:
    """An amount that must not have its new value yet.

    Attributes:
        amount: What it is to be in a first `up`; None for not declared.
        because: Why.
        beyond: Whether the top queues have more in that `up` than the pools of the document offer.
    """

    amount: Decimal | None
    because: str
    beyond: bool = False


def problems(before: "Environment", after: "Environment") -> Iterator[Problem]:
    """What Volcano refuses on the way from one document to another: an error for each amount that changes too early.

    A queue that gets its first parts is a warning: whether pods are in it is not for documents to say.
    """
    if not before.scheduler.kind == after.scheduler.kind == "volcano":
        return
    old, kept = amounts(before), untold(before, after)
    for (path, kind, resource), held in first_step(before, after).items():
        if resource in kept.get(path, {}):
            continue
        node = queues.by_path(after)[path]
        quota = getattr(node.queue, kind)
        key = quotas.key(quota, resource)
        new = quota.get(key)
        first = f"without {key}" if held.amount is None else f"with {key}: {written(resource, held.amount)}"
        pools = ", the pools as they were, shares of them as amounts" if held.beyond else ""
        yield Problem(
            (*node.keys, kind, key),
            ABSENT if new is None else new.text,
            f"{kind} {_told(resource, old.get((path, kind, resource)))} -> "
            f"{_told(resource, None if new is None else new.value)} is refused on the way: {held.because}",
            fix=f"a first up {first} here{pools}, then this document",
        )
    for path, resources in kept.items():
        yield from _undivided(queues.by_path(after)[path], resources)
    yield from _divided(before, after)


def _told(resource: str, amount: Decimal | None) -> str:
    return "none" if amount is None else readable(resource, amount)


def _divided(before: "Environment", after: "Environment") -> Iterator[Problem]:
    """Leaves that get parts: Volcano takes no first part for a queue with pods (validateHierarchicalQueue)."""
    old = queues.by_path(before)
    for node in queues.flatten(after):
        if not node.leaf and node.path in old and old[node.path].leaf:
            message = f"{node.path} gets its first parts, which Volcano refuses while pods are in it"
            fix = "let what runs there end, or move it, before the up"
            yield Problem((*node.keys, "queues"), ", ".join(node.queue.queues), message, fix=fix, severity="warning")


def _undivided(node: queues.QueueNode, resources: Mapping[str, list[str]]) -> Iterator[Problem]:
    """A queue that becomes a leaf, of which Volcano is then told less than its parts have until they are removed."""
    for resource, parts in resources.items():
        key = quotas.key(node.queue.deserved, resource)
        yield Problem(
            (*node.keys, "queues"),
            ABSENT,
            f"no part is left, and of a queue without parts Volcano is told no {key} that it deserves: refused on the "
            "way, as its parts keep theirs until they are removed after it",
            fix=f"a first up of the document as it was, without {key} in {', '.join(parts)}, then this document",
        )


def untold(before: "Environment", after: "Environment") -> dict[str, dict[str, list[str]]]:
    """What parts must have given up before their whole becomes a leaf, which Volcano is told not to deserve it.

    Returns:
        By the path of the whole: the paths of all queues that were below it and deserve of a resource, by resource.
    """
    first = {key: held.amount for key, held in first_step(before, after).items()}
    step = [key for key, amount in {**amounts(after), **first}.items() if amount is not None]
    old, parts = queues.by_path(before), _parts(before)
    found: dict[str, dict[str, list[str]]] = {}
    for node in queues.flatten(after):
        if not node.leaf:
            continue
        named = {kind: [name for path, each, name in step if (path, each) == (node.path, kind)] for kind in SUMMED}
        told = volcano.claimed_names(named["deserved"], named["guarantee"])
        have = {name for part in parts.get(node.path, ()) for name in _told_of(old[part])}
        for resource in sorted(have - told):
            below = [path for path, kind, name in amounts(before) if (kind, name) == ("deserved", resource)]
            found.setdefault(node.path, {})[resource] = [path for path in below if path.startswith(f"{node.path}.")]
    return found


def _told_of(node: queues.QueueNode) -> set[str]:
    """The resources of which Volcano is told that a queue deserves some."""
    deserved = volcano.claimed(node.queue) if node.leaf else node.queue.deserved
    return {name for name, amount in quotas.resolved(deserved).items() if amount.value}


def amounts(env: "Environment") -> dict[Key, Decimal]:
    """All amounts of all queues, in base units."""
    return {
        (node.path, kind, resource): amount.value
        for node in queues.flatten(env)
        for kind in (*SUMMED, CAPABILITY)
        for resource, amount in quotas.resolved(getattr(node.queue, kind)).items()
    }


def first_step(before: "Environment", after: "Environment") -> dict[Key, Held]:
    """The amounts in which a first `up` must differ from a document, by place; nothing where it may come at once.

    With these the webhook accepts each change of that `up`, in any order in which the engine makes them.
    """
    old, new = amounts(before), amounts(after)
    offered = nodes.most_offered(after)
    found: dict[Key, Held] = {}
    for resource in sorted({resource for _, _, resource in (*old, *new)}):
        step = _Step(
            resource,
            {(path, kind): amount for (path, kind, name), amount in old.items() if name == resource},
            {(path, kind): amount for (path, kind, name), amount in new.items() if name == resource},
            _parts(before),
            _parts(after),
            offered.get(resource),
        )
        step.take()
        found |= {(path, kind, resource): held for (path, kind), held in step.held.items()}
    order = {node.path: index for index, node in enumerate(queues.flatten(after))}
    return dict(sorted(found.items(), key=lambda item: order[item[0][0]]))


def _parts(env: "Environment") -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for node in queues.flatten(env):
        found.setdefault(node.parent, []).append(node.path)
    return found


@dataclass
class _Step:
    """The first step for one resource: resources do not meet in any of the webhook's rules."""

    resource: str
    old: Mapping[tuple[str, str], Decimal]
    new: Mapping[tuple[str, str], Decimal]
    parts_before: Mapping[str, list[str]]
    parts: Mapping[str, list[str]]
    offered: Decimal | None
    amount: dict[tuple[str, str], Decimal | None] = field(default_factory=dict[tuple[str, str], Decimal | None])
    held: dict[tuple[str, str], Held] = field(default_factory=dict[tuple[str, str], Held])

    def take(self) -> None:
        """Say what each queue has in it, from the top."""
        self._family(queues.ROOT)
        tops = self.parts.get(queues.ROOT, ())
        for kind in SUMMED:
            total = sum((self.amount[top, kind] or Decimal(0) for top in tops), Decimal(0))
            if self.offered is not None and total > self.offered:
                self.held = {key: replace(held, beyond=True) for key, held in self.held.items()}

    def _family(self, whole: str) -> None:
        parts = self.parts.get(whole, [])
        crowded = [text for kind in SUMMED if (text := self._crowded(whole, kind))]
        for part in parts:
            for kind in SUMMED:
                wanted = self._wanted(part, kind)
                if crowded:
                    self._set(part, kind, self._least(whole, part, kind, wanted), crowded[0])
                else:
                    self._set(part, kind, wanted, "")
            self._cap(part)
        for part in parts:
            self._family(part)

    def _set(self, path: str, kind: str, amount: Decimal | None, crowded: str) -> None:
        self.amount[path, kind] = amount
        new = self.new.get((path, kind))
        same = amount == new or (self.resource in _FLOATS and (amount or 0) == (new or 0))
        if not same:
            kept = self._kept(path, kind)
            lowered = amount is not None and amount == kept and amount > (new or 0)
            has = f"its parts have {_told(self.resource, kept)} of it in sum until they are changed after it"
            named = "its parts name it until they are changed after it"
            unnamed = amount is not None and new is None and not amount
            self.held[path, kind] = Held(amount, has if lowered else named if unnamed else crowded)

    def _kept(self, path: str, kind: str) -> Decimal | None:
        """What the parts of a queue have in sum before they are changed; None where none of them names it."""
        named = [self.old[part, kind] for part in self.parts_before.get(path, ()) if (part, kind) in self.old]
        total = sum(named, Decimal(0))
        return None if not named or (self.resource in _FLOATS and not total) else total

    def _wanted(self, path: str, kind: str) -> Decimal | None:
        """What a queue may have at the earliest: the new amount, and no less than its parts have until then."""
        return _most(self.new.get((path, kind)), self._kept(path, kind))

    def _least(self, whole: str, path: str, kind: str, wanted: Decimal | None) -> Decimal | None:
        """The smaller of what it has and what it wants; what the whole does not name, it cannot name either."""
        nameable = whole == queues.ROOT or self.resource in _FLOATS or self.amount[whole, kind] is not None
        had = self.old.get((path, kind), Decimal(0) if nameable else None)
        return None if wanted is None or had is None else min(had, wanted)

    def _crowded(self, whole: str, kind: str) -> str:
        """Why the parts of a queue cannot have what they want yet; empty where they can."""
        wanted = {part: self._wanted(part, kind) for part in self.parts.get(whole, ())}
        if whole == queues.ROOT:
            # The webhook knows no pools. A document whose top queues claim more than they offer is not sound.
            total = sum((amount or Decimal(0) for amount in wanted.values()), Decimal(0))
            if self.offered is None or total <= self.offered:
                return ""
            return (
                f"the other top queues keep their {kind} until their parts are changed, and the pools offer "
                f"{_told(self.resource, self.offered)}"
            )
        both = {*wanted, *self.parts_before.get(whole, ())}
        highest = [_most(self.old.get((part, kind)), wanted.get(part)) for part in both]
        total, most = sum((amount or Decimal(0) for amount in highest), Decimal(0)), self.amount[whole, kind]
        unnamed = most is None and self.resource not in _FLOATS and any(amount is not None for amount in highest)
        if total <= (most or 0) and not unnamed:
            return ""
        return (
            f"the parts of {whole} are changed in any order, those that go last, and have up to "
            f"{_told(self.resource, total)} in sum meanwhile, {whole} has {_told(self.resource, most)}"
        )

    def _cap(self, path: str) -> None:
        new, deserved = self.new.get((path, CAPABILITY)), self.amount[path, "deserved"] or Decimal(0)
        if new is None or not (new or deserved):
            return  # Without it, or with 0, the webhook looks at no part.
        highest = max((self._highest(part) for part in self.parts_before.get(path, ())), default=Decimal(0))
        amount = max(new, highest, deserved)
        if amount != new:
            why = f"a part of it has {_told(self.resource, highest)} until it is changed after it"
            kept = f"its deserved stays {_told(self.resource, deserved)} until its parts are changed after it"
            self.held[path, CAPABILITY] = Held(amount, why if highest == amount else kept)

    def _highest(self, path: str) -> Decimal:
        """The largest capability of a queue as it was and its parts, each down to the first that has one."""
        own = self.old.get((path, CAPABILITY))
        return own or max((self._highest(part) for part in self.parts_before.get(path, ())), default=Decimal(0))


def _most(*amounts: Decimal | None) -> Decimal | None:
    return max((amount for amount in amounts if amount is not None), default=None)
