"""Nodes and topology domains that have no room for a gang."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from .fitting import candidates, empty, free, placed, size, suits
from .queues_full import used_by
from .seen import Amounts, Domain, Group, Node, Seen, gpus, total
from .words import Reason, amounts, holders


def never(seen: Seen, group: Group, levels: Mapping[int, str]) -> Iterator[Reason]:
    """Nodes that could not hold the gang if nothing else ran on them."""
    if not group.shapes:
        return
    nodes = candidates(seen.nodes, group)
    if not nodes:
        yield _nowhere(seen, group)
        return
    room = placed(group, nodes, empty(nodes))
    if room < group.members:
        message = (
            f"the gang is larger than its nodes: even empty, the {len(nodes)} nodes that suit it hold {room} of its "
            f"{group.members} pods"
        )
        yield Reason("never", message, (_largest(group),), "a smaller gang, smaller pods, or more nodes")
        return
    if group.tier is not None:
        domains = _domains(seen, group)
        holding = {domain.name: placed(group, _in(nodes, domain), empty(_in(nodes, domain))) for domain in domains}
        best = max(holding.values(), default=0)
        if best < group.members:
            called = levels.get(group.tier, f"domain of tier {group.tier}")
            message = (
                f"it must stay within one {called}, and none is large enough: even empty, the largest holds {best} of "
                f"its {group.members} pods"
                if domains
                else f"it must stay within one {called}, and the scheduler knows none"
            )
            yield Reason("never", message, fix=f"a smaller gang, or a wider level than {called}")


def _nowhere(seen: Seen, group: Group) -> Reason:
    """No node holds any of its pods: labels, taints, or their size."""
    suiting = [node for node in seen.nodes if any(suits(node, shape) for shape in group.shapes)]
    if suiting:
        roomiest = max(suiting, key=lambda node: size(node.allocatable))
        most = {name: amount for name, amount in roomiest.allocatable.items() if name in group.asks}
        message = f"its pods are larger than any node that suits them: the largest offers {amounts(most)}"
        return Reason("never", message, (_largest(group),), "smaller pods, or a pool of larger nodes")
    asked = {f"{label}={value}" for shape in group.shapes for label, value in shape.selector.items()}
    labels = f"with {', '.join(sorted(asked))} " if asked else ""
    message = f"no node {labels}has only taints that its pods tolerate"
    return Reason("never", message, fix="nodes with these labels and taints, or other selectors and tolerations")


def _largest(group: Group) -> str:
    largest = max(group.shapes, key=lambda shape: size(shape.asks))
    return f"each of its largest pods asks for {amounts(largest.asks)}"


def _domains(seen: Seen, group: Group) -> list[Domain]:
    """The domains that it may be placed in whole."""
    return [domain for domain in seen.domains if group.tier is not None and domain.tier <= group.tier]


def _in(nodes: Sequence[Node], domain: Domain) -> list[Node]:
    return [node for node in nodes if node.name in domain.nodes]


def busy(seen: Seen, group: Group, levels: Mapping[int, str], *, reclaim: bool) -> Iterator[Reason]:
    """Nodes, or domains, that hold too little of it now."""
    nodes = candidates(seen.nodes, group)
    takes = [node for node in nodes if node.away is None]
    rooms = free(seen, takes)
    room = placed(group, takes, rooms)
    if room < group.members:
        yield from _away(seen, group, nodes)
        yield _full(seen, group, takes, rooms, room)
        yield from _share(seen, group, reclaim=reclaim)
        return
    if group.tier is None:
        return
    holding = {
        domain.name: placed(group, _in(takes, domain), {node.name: rooms[node.name] for node in _in(takes, domain)})
        for domain in _domains(seen, group)
    }
    best = max(holding, key=lambda name: holding[name], default=None)
    if best is None or holding[best] < group.members:
        called = levels.get(group.tier, f"domain of tier {group.tier}")
        found = holding[best] if best else 0
        message = (
            f"there is room for it, but not within one {called}: the one with most, {best}, has room for {found} of "
            f"its {group.members} pods"
        )
        inside = [node for domain in seen.domains if domain.name == best for node in _in(nodes, domain)]
        yield from _away(seen, group, inside)
        yield Reason("domain", message, _on(seen, inside, group), "mode: soft, a wider level, or wait")
        yield from _share(seen, group, reclaim=reclaim)


def _away(seen: Seen, group: Group, nodes: Sequence[Node]) -> Iterator[Reason]:
    """Nodes that take nothing now, where they would make the difference."""
    away = [node for node in nodes if node.away is not None]
    if away and placed(group, nodes, free(seen, nodes)) >= group.members:
        why = Counter(node.away for node in away)
        told = ", ".join(f"{count} {reason}" for reason, count in why.most_common())
        message = f"with all nodes there would be room, but {len(away)} of {len(nodes)} take no pods: {told}"
        yield Reason("nodes", message, (_listed([node.name for node in away]),))


def _full(seen: Seen, group: Group, nodes: Sequence[Node], rooms: Mapping[str, Amounts], room: int) -> Reason:
    wanted = list(gpus(group.asks)) or ["cpu", "memory"]
    left = total(rooms.values())
    enough = all(left.get(name, Decimal(0)) >= amount for name, amount in group.asks.items() if name in wanted)
    where = f"the {len(nodes)} nodes that suit it and take pods"
    message = f"{where} have room for {room} of its {group.members} pods"
    if enough:
        message += (
            f": {amounts(left, wanted)} are free, as many as it asks for, but scattered: too few on any one node, or "
            "too little of something else beside them"
        )
    else:
        message += (
            f": {amounts(left, wanted) or f'0 {wanted[0]}'} are free, and it asks for {amounts(group.asks, wanted)}"
        )
    return Reason("nodes", message, _on(seen, nodes, group, wanted))


def _on(seen: Seen, nodes: Sequence[Node], group: Group, wanted: Sequence[str] | None = None) -> tuple[str, ...]:
    """Who holds these nodes."""
    names = {node.name for node in nodes}
    there = [
        each
        for each in seen.groups
        if each.workload != group.workload and any(pod.node in names for pod in seen.bound(each))
    ]
    return holders(seen, there, wanted or list(gpus(group.asks)) or ["cpu"])


def _listed(names: Sequence[str], most: int = 6) -> str:
    rest = len(names) - most
    return ", ".join(sorted(names)[:most]) + (f" and {rest} more" if rest > 0 else "")


def _share(seen: Seen, group: Group, *, reclaim: bool) -> Iterator[Reason]:
    """Whether its queue has a right to the room that others hold."""
    queue = seen.queues.get(group.queue)
    wanted = list(gpus(group.asks))
    if queue is None or not wanted:
        return
    used = used_by(seen, queue, group)
    deserved = {name: queue.deserved.get(name, Decimal(0)) for name in wanted}
    mine = {name: used.get(name, Decimal(0)) for name in wanted}
    if any(mine[name] + group.asks[name] > deserved[name] for name in wanted):
        message = (
            f"queue {queue.name} deserves {amounts(deserved) or 'none of it'}, has "
            f"{amounts(mine) or 'none'} and would have more than its share with this: it waits until others are done"
        )
        yield Reason("share", message)
        return
    above = [
        other.name
        for other in seen.queues.values()
        if other.reclaimable
        and other.name not in {each.name for each in seen.branch(queue.name)}
        and not any(each.parent == other.name for each in seen.queues.values())
        and any(used_by(seen, other).get(name, Decimal(0)) > other.deserved.get(name, Decimal(0)) for name in wanted)
    ]
    has = f"queue {queue.name} has a right to it: it deserves {amounts(deserved)} and has {amounts(mine) or 'none'}"
    if above and reclaim:
        yield Reason("share", f"{has}; the scheduler takes it back, gang by gang, from {_listed(above)}")
    elif above:
        message = f"{has}, and {_listed(above)} hold more than they deserve, but nothing is taken back"
        yield Reason("share", message, fix="scheduler.reclaim: true")
    else:
        yield Reason("share", f"{has}, but no queue holds more than it deserves that may be taken from it")
