"""Over how many racks and spines gangs are spread on a loaded cluster whose jobs come and go."""

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lightkube.resources.core_v1 import Node

from twin.bench import jobs
from twin.bench.jobs import Gang
from twin.bench.scene import Scene
from twin.bench.watching import Seen

LOAD = 0.85
"""Part of the nodes that is busy."""
MEASURED = 16
"""Nodes of the gangs that are looked at: half a rack."""
_SIZES = {1: 30, 2: 20, 4: 20, 8: 15, MEASURED: 15}
_SHORTEST, _LONGEST = 4, 2
"""Run times: from a quarter to half of the time in which gangs come and go. Much shorter, and two cores for the whole
control plane cannot start and end pods as fast as that many nodes need them."""
_PAUSE = 0.2
_WARM = 0.3
"""Part of the time in which the cluster fills, so that gangs of then are not looked at."""
_COOL = 0.15
"""Part of the time at its end whose gangs are not looked at either, so that all others had at least that long to get
nodes while more gangs came. One that has none by then counts as never placed."""


@dataclass(frozen=True)
class Spread:
    """Where gangs of half a rack were placed.

    Attributes:
        submitted: How many were looked at.
        unplaced: How many of them never had nodes for all their pods.
        one_rack: Part of all that were submitted that is within one rack.
        one_spine: Part of all that were submitted that is within one spine.
        waits: Seconds from submission until all pods had nodes; of those that never had, until the end.
        load: Part of the nodes that was busy in the mean.
    """

    submitted: int
    unplaced: int
    one_rack: float
    one_spine: float
    waits: list[float]
    load: float


def spread(scene: Scene, seed: int, seconds: float, within: tuple[int, str] | None, name: str) -> Spread:
    """Keep a part of the cluster busy with gangs of up to half a rack, and look at where the largest ones are.

    Args:
        scene: The cluster.
        seed: What sizes and run times follow from.
        seconds: How long.
        within: What all gangs ask of topology.
        name: What their names begin with.
    """
    chosen = random.Random(f"placement {seed}")  # noqa: S311 - where gangs go is no secret
    racks, spines = _domains(scene, "rack"), _domains(scene, "spine")
    began = time.monotonic()
    submitted: dict[str, tuple[Gang, float]] = {}
    loads: list[tuple[float, float]] = []
    number = 0
    while time.monotonic() - began < seconds:
        wanted, busy = 0, 0
        for gang, _ in submitted.values():
            pods = scene.watch.of(gang.name)
            left = gang.nodes - sum(seen.completed for seen in pods)
            wanted += left
            busy += sum(seen.bound is not None and seen.ended is None for seen in pods)
        loads.append((time.monotonic(), busy / scene.nodes))
        # Gangs that wait come on top, as far as there is room for them: nodes that are asked for are not busy yet.
        on_top = min(wanted - busy, (1 - LOAD) * scene.nodes)
        while wanted < LOAD * scene.nodes + on_top:
            (size,) = chosen.choices(list(_SIZES), list(_SIZES.values()))
            lasting = chosen.randint(round(seconds) // _SHORTEST, round(seconds) // _LONGEST)
            gang = Gang(f"{name}-{number:04}", size, lasting, within=within)
            jobs.submit(scene.client, gang)
            submitted[gang.name] = (gang, time.monotonic())
            wanted += size
            number += 1
        time.sleep(_PAUSE)
    end = time.monotonic()
    warm, late = began + _WARM * seconds, began + (1 - _COOL) * seconds
    measured = [
        (at, scene.watch.of(gang.name))
        for gang, at in submitted.values()
        if gang.nodes == MEASURED and warm <= at < late
    ]
    after = [part for at, part in loads if at >= warm]
    return summed(measured, end, racks, spines, sum(after) / max(1, len(after)))


def summed(
    gangs: Sequence[tuple[float, Sequence[Seen]]],
    end: float,
    racks: Mapping[str, str],
    spines: Mapping[str, str],
    load: float,
) -> Spread:
    """Say where gangs of half a rack were placed; those that were not count as submitted, and as waiting until the end.

    Args:
        gangs: When each was submitted, and its pods.
        end: Until when they were watched.
        racks: The rack of each node.
        spines: The spine of each node.
        load: Part of the nodes that was busy in the mean.
    """
    placed: list[list[Seen]] = []
    waits: list[float] = []
    for at, pods in gangs:
        if whole := _first_whole(pods):
            placed.append(whole)
            waits.append(max(seen.bound or 0 for seen in whole) - at)
        else:
            waits.append(end - at)
    count = max(1, len(gangs))
    return Spread(
        submitted=len(gangs),
        unplaced=len(gangs) - len(placed),
        one_rack=_within(placed, racks) / count,
        one_spine=_within(placed, spines) / count,
        waits=waits,
        load=load,
    )


def _first_whole(pods: Sequence[Seen]) -> list[Seen]:
    """Give the pods of a gang when first all of it was on nodes; none if it never was. Made again, it has more pods."""
    there: list[Seen] = []
    for moment, pod in sorted(((pod.bound, pod) for pod in pods if pod.bound is not None), key=lambda each: each[0]):
        there = [*(pod for pod in there if pod.ended is None or pod.ended > moment), pod]
        if len(there) == MEASURED:
            return there
    return []


def _within(placed: Sequence[Sequence[Seen]], domains: Mapping[str, str]) -> int:
    return sum(len({domains[seen.node] for seen in pods}) == 1 for pods in placed)


def _domains(scene: Scene, level: str) -> dict[str, str]:
    label = f"topology.gangline.dev/{level}"
    found = {}
    for node in scene.client.list(Node, labels={label: None}):
        if node.metadata and node.metadata.name and node.metadata.labels:
            found[node.metadata.name] = node.metadata.labels[label]
    return found
