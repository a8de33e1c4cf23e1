"""What it costs others when a gang takes what is its own: by its queue's share, or by its priority."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from lightkube import Client
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_global_resource
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.scheduling_v1 import PriorityClass
from lightkube.types import PatchType

from twin.bench import ground
from twin.bench.jobs import Gang
from twin.bench.scene import Scene
from twin.errors import TwinError

_Queue = create_global_resource("scheduling.volcano.sh", "v1beta1", "Queue", "queues")
LOW, HIGH = "bench-low", "bench-high"
_LIMIT = 90.0
_AFTER = 10.0
"""Seconds in which more may be broken after the claim is met."""
_RESTART_LIMIT = 300.0


@dataclass(frozen=True)
class Claim:
    """What a claim did.

    Attributes:
        seconds: From the creation of the gangs that claim until all are on nodes; None if they were not in time.
        broken: Gangs of which a pod was evicted.
        fewest: The fewest whole gangs whose nodes make enough room.
        evicted: Pods that were evicted.
        least: The fewest nodes that the others had at any time after.
        restarted: Whether all broken gangs completed afterwards; None where the claim was not met.
    """

    seconds: float | None
    broken: int
    fewest: int
    evicted: int
    least: int
    restarted: bool | None


def claim(scene: Scene, holders: Sequence[Gang], claimants: Sequence[Gang], keep: int) -> Claim:
    """Fill the cluster with some gangs, have others claim their part, and wait until all work is done.

    Args:
        scene: The cluster.
        holders: Gangs that hold all of it.
        claimants: Gangs that claim a part.
        keep: Nodes that holders may not be brought below.

    Raises:
        TwinError: The cluster was not filled.
    """
    scene.fill(list(holders))
    need = sum(gang.nodes for gang in claimants) - (scene.nodes - sum(gang.nodes for gang in holders))
    least = fewest([gang.nodes for gang in holders], need, sum(gang.nodes for gang in holders) - keep)
    began = time.monotonic()
    scene.submit(claimants)
    held = scene.nodes

    def met() -> bool:
        nonlocal held
        held = min(held, sum(len(scene.watch.bound(gang.name)) for gang in holders))
        return all(scene.bound_whole(gang) for gang in claimants)

    in_time = scene.watch.until(met, _LIMIT)
    took = time.monotonic() - began
    scene.watch.until(lambda: met() and False, _AFTER)
    evicted = {
        gang.name: sum(seen.ended is not None and not seen.completed for seen in scene.watch.of(gang.name))
        for gang in holders
    }
    broken = [gang for gang in holders if evicted[gang.name]]
    restarted = None
    if in_time:
        restarted = scene.watch.until(lambda: all(_completed(scene, gang) for gang in broken), _RESTART_LIMIT)
    return Claim(took if in_time else None, len(broken), least, sum(evicted.values()), held, restarted)


def _completed(scene: Scene, gang: Gang) -> bool:
    return sum(seen.completed for seen in scene.watch.of(gang.name)) >= gang.nodes


def fewest(sizes: Sequence[int], need: int, most: int) -> int:
    """Give the fewest whole gangs that free enough nodes and not too many.

    Args:
        sizes: Nodes of each gang.
        need: Nodes that must be free.
        most: Nodes that may be taken.

    Raises:
        TwinError: No choice of gangs does.
    """
    best = {0: 0}
    for size in sizes:
        for taken, count in list(best.items()):
            if taken + size <= most:
                best[taken + size] = min(best.get(taken + size, count + 1), count + 1)
    enough = [count for taken, count in best.items() if taken >= need]
    if not enough:
        raise TwinError(f"no choice of gangs frees {need} nodes without taking more than {most}")
    return min(enough)


def ensure_priorities(client: Client) -> None:
    """Have the two PriorityClasses that preemption is tried with."""
    for name, value in ((LOW, 100), (HIGH, 1000)):
        with suppress(ApiError):  # it is there already
            client.create(PriorityClass(value=value, metadata=ObjectMeta(name=name)))


@contextmanager
def guaranteed(client: Client, nodes: int) -> Iterator[None]:
    """Guarantee `red` its part for a while. Stock Volcano would keep it out of everybody's reach all the time."""
    amount = {"nvidia.com/gpu": str(nodes // ground.GUARANTEED * ground.GPUS)}

    def tell(guarantee: object) -> None:
        client.patch(_Queue, ground.RED, {"spec": {"guarantee": guarantee}}, patch_type=PatchType.MERGE)

    tell({"resource": amount})
    try:
        yield
    finally:
        tell(None)


def by_share(nodes: int, seconds: int, name: str) -> tuple[list[Gang], list[Gang], int]:
    """Queue `red` holds everything, and `blue` claims an eighth of its half: holders, claimants, nodes to keep."""
    holders = [Gang(f"{name}-red-{number}", nodes // 32, seconds, ground.RED) for number in range(32)]
    claimants = [Gang(f"{name}-blue", nodes // 16, seconds // 5, ground.BLUE)]
    return holders, claimants, nodes // ground.GUARANTEED


def whole_share(nodes: int, seconds: int, name: str) -> tuple[list[Gang], list[Gang], int]:
    """Queue `red` holds everything in gangs of two sizes, and `blue` claims all that it deserves."""
    sizes = [nodes // 16] * 8 + [nodes // 32] * 16
    holders = [Gang(f"{name}-red-{number}", size, seconds, ground.RED) for number, size in enumerate(sizes)]
    claimants = [Gang(f"{name}-blue-{number}", nodes // 16, seconds // 5, ground.BLUE) for number in range(8)]
    return holders, claimants, nodes // ground.GUARANTEED


def by_priority(nodes: int, seconds: int, name: str) -> tuple[list[Gang], list[Gang], int]:
    """In one queue gangs of low priority hold everything, and one of high priority comes."""
    holders = [Gang(f"{name}-low-{number}", nodes // 32, seconds, priority=LOW) for number in range(32)]
    return holders, [Gang(f"{name}-high", nodes // 16, seconds // 5, priority=HIGH)], 0
