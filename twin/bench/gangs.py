"""What must hold of gangs however busy the cluster is: whole or not at all, and nobody waits for each other."""

import time

from twin.bench import ground
from twin.bench.jobs import Gang
from twin.bench.scene import Scene, delete

_WATCHED = 8.0
"""Seconds in which a gang that does not fit must not get a node."""
_LIMIT = 120.0


def faults(scene: Scene, name: str) -> list[str]:
    """Try gangs on a busy cluster.

    Args:
        scene: The cluster.
        name: What their names begin with.

    Returns:
        What did not hold, a line each.
    """
    return [*_whole_or_nothing(scene, name), *_too_large(scene, name), *_no_deadlock(scene, name)]


def _whole_or_nothing(scene: Scene, name: str) -> list[str]:
    """An eighth of the cluster is asked for where a little less is free, and then free."""
    scene.say("a gang of an eighth of the cluster where one node is missing for it")
    large, part = scene.nodes // 8, scene.nodes // 32
    free = large - 1
    holders = [_gang(f"{name}-holder-{number}", part) for number in range((scene.nodes - free) // part - 1)]
    holders.append(_gang(f"{name}-holder-last", scene.nodes - free - sum(gang.nodes for gang in holders)))
    scene.fill(holders)
    gang = _gang(f"{name}-large", large)
    scene.submit([gang])
    found = _unbound_for_a_while(scene, gang, f"{free} nodes are free")
    delete(scene.client, holders[0])
    if not scene.watch.until(lambda: scene.bound_whole(gang), _LIMIT):
        found.append(f"a gang of {large} was not bound within {_LIMIT:g} s after there was room")
    scene.clear()
    return found


def _too_large(scene: Scene, name: str) -> list[str]:
    scene.say("a gang of one node more than there are")
    gang = _gang(f"{name}-too-large", scene.nodes + 1)
    scene.submit([gang])
    found = _unbound_for_a_while(scene, gang, f"there are {scene.nodes} nodes")
    scene.clear()
    return found


def _no_deadlock(scene: Scene, name: str) -> list[str]:
    """Two gangs, each of which fits alone, come at once: one runs, then the other."""
    scene.say("two gangs at once that fit only one after the other")
    size = scene.nodes * 5 // 8
    both = [_gang(f"{name}-rival-{number}", size, 5) for number in range(2)]
    scene.submit(both)
    done = scene.watch.until(
        lambda: all(sum(seen.completed for seen in scene.watch.of(gang.name)) >= size for gang in both), _LIMIT
    )
    found = [] if done else [f"of two gangs of {size} that came at once, not both had completed after {_LIMIT:g} s"]
    scene.clear()
    return found


def _gang(name: str, nodes: int, seconds: int | None = None) -> Gang:
    """Give a gang of a queue without a limit: what does not fit must lack nodes, and nothing else."""
    return Gang(name, nodes, seconds, ground.RED)


def _unbound_for_a_while(scene: Scene, gang: Gang, why: str) -> list[str]:
    """Say whether any pod of a gang that does not fit gets a node, for as long as that may take to show."""
    began = time.monotonic()
    if scene.watch.until(lambda: bool(scene.watch.bound(gang.name)), _WATCHED):
        after = time.monotonic() - began
        return [f"a pod of a gang of {gang.nodes} ({ground.POOL}) got a node after {after:.1f} s although {why}"]
    return []
