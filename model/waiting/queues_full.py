"""Queues and quotas that keep a workload waiting.

How Volcano judges: pkg/scheduler/plugins/capacity/capacity.go of https://github.com/volcano-sh/volcano, release 1.15.
"""

from collections.abc import Iterator
from decimal import Decimal

from model import queue_limits

from .seen import Amounts, Group, Queue, Seen, total
from .words import Reason, amounts, holders

ROOT = "root"


def states(seen: Seen, group: Group) -> Iterator[Reason]:
    """Queues that take nothing."""
    branch = list(seen.branch(group.queue))
    if not branch:
        known = ", ".join(sorted(name for name in seen.queues if name != ROOT)) or "there is none"
        yield Reason("missing", f"queue {group.queue} is not there", (f"queues: {known}",), "move it to one that is")
        return
    closed = [queue for queue in branch if queue.name != ROOT and queue.state != "Open"]
    if closed:
        top = closed[-1]
        message = f"queue {top.name} is {top.state or 'not open yet'}"
        if top.name != group.queue:
            message += f", and so is its part {group.queue}"
        fix = f"vcctl queue operate --name {top.name} --action open" if top.state in ("Closed", "Closing") else None
        yield Reason("closed", f"{message}: nothing new starts in it", fix=fix)
    parts = sorted(queue.name for queue in seen.queues.values() if queue.parent == group.queue)
    if parts and group.queue != ROOT:
        message = f"queue {group.queue} has parts, and Volcano places work of leaves only"
        yield Reason("closed", message, (f"parts: {', '.join(parts)}",), f"move it to {parts[0]} or another of them")


def stalled(seen: Seen, group: Group) -> Iterator[Reason]:
    """Other work in queues with parts: while there is any, over or not, Volcano places nothing in the whole cluster.

    The capacity plugin gives up at the first (buildHierarchicalQueueAttrs).
    """
    wholes = {queue.parent for queue in seen.queues.values()} - {ROOT, ""}
    others = [each for each in (*seen.groups, *seen.over) if each.workload != group.workload]
    inside = sorted((each for each in others if each.queue in wholes), key=lambda each: each.workload)
    if inside:
        message = "work is in queues that have parts, and while it is Volcano places nothing in the whole cluster"
        details = tuple(f"{each.workload} in {each.queue}, PodGroup {each.name}" for each in inside)
        yield Reason("closed", message, details, "delete it, or move it to one of the parts")


def never(seen: Seen, group: Group) -> Iterator[Reason]:
    """Queues that are smaller than the gang."""
    for queue in seen.branch(group.queue):
        most = _own_limits(seen, queue)
        over = [name for name, amount in group.asks.items() if name in most and amount > most[name]]
        if not over:
            continue
        message = f"the gang is larger than queue {queue.name}: it asks for {amounts(group.asks, over)}, the queue "
        message += f"may never use more than {amounts(most, over)}" if amounts(most, over) else "may use none of it"
        if any(most[name] != queue.capability.get(name) for name in over):
            message += ", the rest of the queue above being guaranteed to others"
        yield Reason("never", message, fix=f"a smaller gang, or a larger capability of {queue.name}")
        return  # those above are mostly larger, and else the next to be told


def _own_limits(seen: Seen, queue: Queue) -> Amounts:
    """What a queue may ever use where that is less than what the one above may: else that one is to be named."""
    return queue_limits.own(most_of(seen, queue.parent), most_of(seen, queue.name))


def most_of(seen: Seen, name: str) -> Amounts:
    """What a queue may ever use, of the resources that are limited at all."""
    most: Amounts = {}
    for queue in reversed(list(seen.branch(name))):
        promised = total(
            other.guarantee for other in seen.queues.values() if other.parent == queue.parent and other.name != ROOT
        )
        # A capability of no cores or no memory is none for the plugin; a queue of somebody else may have one.
        capability = {
            name: amount for name, amount in queue.capability.items() if amount or name not in ("cpu", "memory")
        }
        most = queue_limits.below(most, promised, queue.guarantee, capability)
    return most


def namespace(seen: Seen, group: Group) -> Iterator[Reason]:
    """Quotas of its namespace that have no room for pods that are not there yet."""
    have = sum(pod.namespace == group.workload.namespace and pod.group == group.name for pod in seen.pods)
    missing = max(0, group.members - have) if group.name or not have else 0
    if not missing:
        return
    needs = {**_share(group, missing), "pods": Decimal(missing)}
    for quota in seen.quotas:
        need = needs.get(quota.resource, Decimal(0))
        if quota.namespace != group.workload.namespace or quota.used + need <= quota.hard or not need:
            continue
        lacking = (
            f"{missing} pod that is not there yet needs"
            if missing == 1
            else f"{missing} pods that are not there yet need"
        )
        lacking += f" {amounts({quota.resource: need})}"
        place = f"the quota of namespace {quota.namespace}"
        numbers = f"{amounts({quota.resource: quota.used}) or f'0 {quota.resource}'} of {quota.hard:f} are used"
        whole = {**group.asks, "pods": Decimal(group.members)}
        if whole.get(quota.resource, Decimal(0)) > quota.hard:
            message = f"{place} is smaller than the gang: {lacking}, {numbers}"
            yield Reason("never", message, fix="a smaller gang, or a larger quota")
        else:
            message = f"{place} is used up: {lacking}, {numbers}"
            mine = [each for each in seen.groups if each.workload.namespace == quota.namespace]
            details = holders(seen, [each for each in mine if each.workload != group.workload], [quota.resource])
            yield Reason("quota", message, details, "wait until some of it ends, or ask for a larger quota")


def _share(group: Group, missing: int) -> Amounts:
    """What so many of its pods ask for: all of it when none is there, else as much as the largest do."""
    if missing >= group.members or not group.shapes:
        return {name: amount * missing / group.members for name, amount in group.asks.items()}
    return {name: max(shape.asks.get(name, Decimal(0)) for shape in group.shapes) * missing for name in group.asks}


def full(seen: Seen, group: Group) -> Iterator[Reason]:
    """Queues that have no room for it now: its own or one above."""
    for queue in seen.branch(group.queue):
        used, most = used_by(seen, queue, group), _own_limits(seen, queue)
        over = [
            name
            for name, amount in group.asks.items()
            if name in most and amount <= most[name] < used.get(name, Decimal(0)) + amount
        ]
        if over:
            inside = [each for each in seen.groups if seen.within(each, queue.name) and each.workload != group.workload]
            message = (
                f"queue {queue.name} is full: it may use {amounts(most, over)}, {amounts(used, over)} are in use, and "
                f"this asks for {amounts(group.asks, over)}"
            )
            yield Reason("queue", message, holders(seen, inside, over))


def used_by(seen: Seen, queue: Queue, but: Group | None = None) -> Amounts:
    """What a queue with its parts has in use."""
    return total(
        seen.holds(group)
        for group in seen.groups
        if seen.within(group, queue.name) and (but is None or group.workload != but.workload)
    )
