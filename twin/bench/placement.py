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


@dataclass(frozen=True)
class Spread:
    """Where gangs of half a rack were placed.

    Attributes:
        gangs: How many were looked at.
        one_rack: Part of them within one rack.
        one_spine: Part of them within one spine.
        waits: Seconds from submission until all pods had nodes.
        load: Part of the nodes that was busy in the mean.
    """

    gangs: int
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
    loads: list[float] = []
    number = 0
    while time.monotonic() - began < seconds:
        wanted, busy = 0, 0
        for gang, _ in submitted.values():
            pods = scene.watch.of(gang.name)
            left = gang.nodes - sum(seen.completed for seen in pods)
            wanted += left
            busy += sum(seen.bound is not None and seen.ended is None for seen in pods)
        loads.append(busy / scene.nodes)
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
    warm = began + _WARM * seconds
    placed = [
        (at, [seen for seen in scene.watch.of(gang.name) if seen.bound is not None])
        for gang, at in submitted.values()
        if gang.nodes == MEASURED and at >= warm
    ]
    whole = [(at, pods) for at, pods in placed if len(pods) == MEASURED]
    return Spread(
        gangs=len(whole),
        one_rack=_within(whole, racks),
        one_spine=_within(whole, spines),
        waits=[max(seen.bound or 0 for seen in pods) - at for at, pods in whole],
        load=sum(loads[int(len(loads) * _WARM) :]) / max(1, len(loads) - int(len(loads) * _WARM)),
    )


def _within(placed: Sequence[tuple[float, Sequence[Seen]]], domains: Mapping[str, str]) -> float:
    together = sum(len({domains[seen.node] for seen in pods}) == 1 for _, pods in placed)
    return together / len(placed) if placed else 0.0


def _domains(scene: Scene, level: str) -> dict[str, str]:
    label = f"topology.gangline.dev/{level}"
    found = {}
    for node in scene.client.list(Node, labels={label: None}):
        if node.metadata and node.metadata.name and node.metadata.labels:
            found[node.metadata.name] = node.metadata.labels[label]
    return found
