"""Capacity Blocks and their ends.

A block is bought for a time. EC2 begins to end its instances 30 minutes before
(https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html), so work must have left them by then.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from model.pools import Pool
from model.problems import Problem, Subject, each, known

from . import here
from .shape import written

if TYPE_CHECKING:
    from model.environment import Environment

ENDING = timedelta(minutes=30)
"""How long before the end of a block EC2 begins to end its instances."""
DRAIN = timedelta(minutes=10)
"""How long before that the nodes should be drained, as Karpenter does it
(https://karpenter.sh/docs/tasks/odcrs/)."""
NEAR = timedelta(hours=48)
"""How long before the end of a block a preview warns."""


def drains(env: "Environment") -> dict[str, dict[str, str]]:
    """For each pool of a block: when to drain its nodes (`drain`), when EC2 begins to end them (`ending`), its end."""
    found: dict[str, dict[str, str]] = {}
    for name, pool in env.pools.items():
        if (ends := _ends(pool)) is not None:
            begins = ends - ENDING
            found[name] = {"drain": written(begins - DRAIN), "ending": written(begins), "ends": written(ends)}
    return found


def _ends(pool: Pool) -> datetime | None:
    capacity = known(pool.capacity)
    return known(capacity.ends) if known(capacity.kind) == "block" else None


def passing(env: "Environment", now: datetime) -> Iterator[Problem]:
    """What the time makes of a document: blocks that end soon, and nodes in blocks that are over.

    A pool without nodes may keep its block's past end: scaling to zero is always right.
    """
    if here(env):
        yield from each(("pools",), env.pools, env, lambda it: _passing(it, now))


def _passing(it: Subject[Pool], now: datetime) -> Iterator[Problem]:
    ends = _ends(it.value)
    if ends is None or it.value.most == 0:
        return
    at, text = (*it.at, "capacity", "ends"), written(ends)
    if now >= ends - ENDING:
        what = "the block is over" if now >= ends else f"EC2 has begun to end its instances at {written(ends - ENDING)}"
        message = f"{what}, and the pool still wants {it.value.most} nodes, which cannot be had"
        yield Problem(at, text, message, fix="size: 0, or the reservation and the end of another block")
    elif now >= ends - NEAR:
        left = ends - ENDING - DRAIN - now
        hours, minutes = divmod(int(left.total_seconds()) // 60, 60)
        when = f"in {hours} h {minutes} min" if left > timedelta(0) else "now"
        message = f"the block ends soon: its nodes should be drained {when}, at {written(ends - ENDING - DRAIN)}"
        yield Problem(at, text, message, severity="warning")
