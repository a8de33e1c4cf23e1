"""Why a workload waits.

The order is that in which things must be right: what never comes true first, then queues, quotas and nodes, then
those who are before it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from . import between_runs, nodes_full, queues_full
from .seen import COMPLETED, Group, Seen, gpus, total
from .words import Reason, amounts, holders, since

Verdict = Literal["runs", "waits", "is over"]


@dataclass(frozen=True)
class Answer:
    """How a workload is doing.

    Attributes:
        group: The workload.
        verdict: In two words.
        reasons: Why it waits, the one that must be settled first in front; where it runs otherwise.
    """

    group: Group
    verdict: Verdict
    reasons: tuple[Reason, ...]


def explain(
    seen: Seen,
    group: Group,
    levels: Mapping[int, str],
    *,
    reclaim: bool = True,
    preempt: bool = True,
    fair: bool = False,
) -> Answer:
    """Say how a workload is doing, and why.

    Args:
        seen: The cluster.
        group: The workload, one of the cluster's groups.
        levels: Names of the topology levels by tier.
        reclaim: Whether queues take back from others what they deserve.
        preempt: Whether work takes the place of that of lower priority in its queue.
        fair: Whether among equal priorities the age does not count, but who holds least.
    """
    if group.phase == COMPLETED:
        return Answer(group, "is over", ())
    bound = len(seen.bound(group))
    if bound >= group.members:
        return Answer(group, "runs", tuple(_where(seen, group, levels)))
    ahead = [each for each in ahead_of(seen, group) if not fair or each.priority > group.priority]
    return Answer(group, "waits", tuple(_reasons(seen, group, levels, ahead, reclaim=reclaim, preempt=preempt)))


def _where(seen: Seen, group: Group, levels: Mapping[int, str]) -> Iterator[Reason]:
    names = {pod.node for pod in seen.bound(group) if pod.node}
    inside = [domain for domain in seen.domains if domain.nodes & names]
    places = [f"{len(names)} node{'' if len(names) == 1 else 's'}"]
    for tier in sorted({domain.tier for domain in inside}):
        found = sorted(domain.name for domain in inside if domain.tier == tier)
        called = levels.get(tier, f"domain of tier {tier}")
        listed = f" ({', '.join(found)})" if len(found) <= 4 else ""
        places.append(f"{len(found)} {called}{'' if len(found) == 1 else 's'}{listed}")
    yield Reason("placed", f"{len(seen.bound(group))} pods on {', in '.join(places)}")


def _reasons(
    seen: Seen,
    group: Group,
    levels: Mapping[int, str],
    ahead: Sequence[Group],
    *,
    reclaim: bool,
    preempt: bool,
) -> Iterator[Reason]:
    if not seen.scheduler:
        message = "Volcano's scheduler does not run, so nothing is placed"
        yield Reason("scheduler", message, fix="kubectl -n volcano-system get pods")
    yield from queues_full.stalled(seen, group)
    yield from queues_full.states(seen, group)
    stopped = list(between_runs.reasons(seen, group))
    yield from stopped
    if stopped:
        return
    never = [*queues_full.never(seen, group), *nodes_full.never(seen, group, levels)]
    yield from never
    quota = list(queues_full.namespace(seen, group))
    yield from quota
    if never:
        return
    full = [*queues_full.full(seen, group)]
    yield from full
    if not group.shapes:
        if not full and not quota:
            yield from _order(seen, group, ahead)
        return
    busy = list(nodes_full.busy(seen, group, levels, reclaim=reclaim))
    yield from busy
    if (full or busy) and not quota:
        yield from _lower(seen, group, preempt=preempt)
    if full or busy or quota:
        yield from _before(seen, group, ahead)
    else:
        yield from _order(seen, group, ahead)


def _lower(seen: Seen, group: Group, *, preempt: bool) -> Iterator[Reason]:
    """Work of lower priority in its queue, whose place it may take."""
    lower = [each for each in seen.groups if each.queue == group.queue and each.priority < group.priority]
    wanted = list(gpus(group.asks)) or ["cpu"]
    held = amounts(total(seen.holds(each) for each in lower), wanted)
    if held:
        message = f"work of lower priority in queue {group.queue} holds {held}"
        message += ": the scheduler takes its place, gang by gang" if preempt else ", and keeps it"
        yield Reason("share", message, holders(seen, lower, wanted), None if preempt else "scheduler.preempt: true")


def _before(seen: Seen, group: Group, ahead: Sequence[Group]) -> Iterator[Reason]:
    if ahead:
        message = f"{len(ahead)} before it in queue {group.queue}, of higher priority or older"
        yield Reason("order", message, tuple(_told(seen, each) for each in ahead[:5]))


def ahead_of(seen: Seen, group: Group) -> Sequence[Group]:
    """What waits in its queue and is served before it, the first in front."""
    waiting = [
        each
        for each in seen.groups
        if each.queue == group.queue
        and each.workload != group.workload
        and each.rank < group.rank
        and len(seen.bound(each)) < each.members
    ]
    return sorted(waiting, key=lambda each: each.rank)


def _told(seen: Seen, group: Group) -> str:
    return f"{group.workload}  priority {group.priority}, {since(seen.now, group.created)}"


def _order(seen: Seen, group: Group, ahead: Sequence[Group]) -> Iterator[Reason]:
    """Nothing stands in its way, but perhaps those who are served before it, and take the room that is there now."""
    yield from _before(seen, group, ahead)
    if ahead:
        return
    waited = since(seen.now, group.created)
    if seen.now - group.created < between_runs.ROUND:
        yield Reason("next", "nothing stands in its way: the scheduler places it in its next rounds")
    else:
        message = f"nothing that can be seen stands in its way, and it has waited for {waited}"
        yield Reason("next", message, fix="see the log of volcano-scheduler, and kubectl describe podgroup")
