"""What follows from the contract about checkpoints: how long each step takes, and how much work is lost at worst.

The largest job decides: all its nodes write their parts at the same time. A tier is taken to give back what it holds no
slower than it takes it. Times are whole seconds, rounded up; None is what nobody can compute, as a speed is not
declared.
"""

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING, Literal

from model.aws import blocks
from model.derived import derived
from model.problems import Unanswerable

from . import speeds
from .checkpoints import Checkpoints, Tier

if TYPE_CHECKING:
    from model.environment import Environment

SPOT_NOTICE = 120
"""Seconds from a notice to the end of a spot instance
(https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html)."""
BLOCK_NOTICE = int(blocks.DRAIN.total_seconds())
"""Seconds from the drain of a block's nodes until EC2 begins to end them."""


@dataclass(frozen=True)
class Times:
    """How long the largest checkpoint takes, in seconds.

    Attributes:
        every: Between two checkpoints.
        write: Until the job goes on.
        flush: From where it was written to where it is kept; 0 where that is the same tier.
        archive: From there to the archive; 0 without one.
        restore: Back to where jobs write, from where it is kept.
        thaw: The same from the archive; 0 without one.
    """

    every: int
    write: int | None
    flush: int | None
    archive: int | None
    restore: int | None
    thaw: int | None

    @property
    def save(self) -> int | None:
        """From the beginning of a checkpoint until it is kept."""
        return None if self.write is None or self.flush is None else self.write + self.flush

    @property
    def grace(self) -> int:
        """The longest time from the end of a pod's work until all of it is carried on.

        What cannot be computed counts as `every`, as it would pile up if it took longer.
        """
        steps = (self.write, self.flush, self.archive)
        return sum(self.every if step is None else step for step in steps)


@dataclass(frozen=True)
class Event:
    """What an event costs at worst.

    Attributes:
        kind: A process dies, and its node with its disks is still there; a node is lost; a spot instance gets its
            notice; a block ends.
        loss: Seconds of work that are lost; None where that is not known.
        notice: Seconds of warning; 0 without.
        saved: Whether a checkpoint that is begun at the warning is kept in time.
    """

    kind: Literal["process", "node", "spot", "block"]
    loss: int | None
    notice: int = 0
    saved: bool = False


def declared(env: "Environment") -> Checkpoints:
    """The contract of an environment.

    Raises:
        Unanswerable: It has none.
    """
    if (found := env.storage.checkpoints) is None:
        raise Unanswerable
    return found


@derived
def times(env: "Environment") -> Times:
    """How long the largest checkpoint takes on each of its ways.

    Raises:
        Unanswerable: There is no contract, or part of it could not be read.
    """
    contract = declared(env)
    if contract.largest is None:
        same = contract.write == contract.keep
        none = None if contract.archive else 0
        return Times(contract.every.seconds, None, 0 if same else None, none, None, none)
    nodes = contract.largest.nodes
    return Times(
        every=contract.every.seconds,
        write=_moved(env, nodes, contract.write),
        flush=_moved(env, nodes, contract.write, contract.keep) if contract.write != contract.keep else 0,
        archive=_moved(env, nodes, contract.keep, contract.archive) if contract.archive else 0,
        restore=restore(env, nodes),
        thaw=_moved(env, nodes, contract.archive, contract.write) if contract.archive else 0,
    )


def restore(env: "Environment", nodes: int) -> int | None:
    """Seconds until the largest checkpoint is back on that many nodes, from where it is kept."""
    contract = declared(env)
    return _moved(env, nodes, contract.keep, contract.write)


def _moved(env: "Environment", nodes: int, *tiers: Tier) -> int | None:
    """Seconds in which the largest checkpoint passes tiers: the slowest of them decides."""
    largest = declared(env).largest
    found = [speeds.of(env, tier, nodes) for tier in tiers]
    known = [speed for speed in found if speed is not None]
    if largest is None or len(known) < len(found):
        return None
    return int((largest.size.value / min(known)).to_integral_value(ROUND_CEILING))


def events(env: "Environment") -> tuple[Event, ...]:
    """What may happen to the largest job, and what it costs at worst; on AWS with what its pool's capacity brings.

    When a node is lost just before a checkpoint is kept, all is lost since the one before began: the time between the
    two, and what it takes until the second is kept.
    """
    took, contract = times(env), declared(env)
    of_process = None if took.write is None else took.every + took.write
    of_node = None if took.save is None else took.every + took.save
    found = [Event("process", of_process), Event("node", of_node)]
    if contract.largest is not None:
        capacity = env.pools[contract.largest.pool].capacity.kind
        if capacity in ("spot", "block"):
            notice = SPOT_NOTICE if capacity == "spot" else BLOCK_NOTICE
            in_time = took.save is not None and took.save <= notice
            found.append(Event(capacity, 0 if in_time else of_node, notice, in_time))
    return tuple(found)


def part(env: "Environment") -> Decimal:
    """Bytes that each node of the largest job writes.

    Raises:
        Unanswerable: It is not declared.
    """
    largest = declared(env).largest
    if largest is None or largest.nodes < 1:
        raise Unanswerable
    return (largest.size.value / largest.nodes).to_integral_value(ROUND_CEILING)
