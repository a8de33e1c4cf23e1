"""How much of the cluster a mix of jobs keeps busy, as long as there is more work than room."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lightkube import Client

from twin.bench.jobs import Gang
from twin.bench.mix import Mix
from twin.bench.scene import Scene
from twin.bench.watching import Seen
from twin.errors import TwinError

RAMP = 60.0
"""Seconds until an empty cluster counts as filled, where run times are of full length."""
STEPS = 100
"""Points of a curve."""
_BACKLOG = 1
"""Work that waits at any time while there is more to submit, in clusters full of nodes."""
_PAUSE = 0.2
_DRAIN_LIMIT = 900.0


@dataclass(frozen=True)
class Run:
    """How a mix ran.

    Attributes:
        busy: Part of all GPU time in the busy window in which a GPU belonged to a pod.
        useful: Part of it that belonged to pods which completed.
        window: Length of the busy window in seconds: from the end of the ramp until nothing was left to submit.
        makespan: Seconds from the first submission until all was done.
        ideal: The least that any scheduler could have taken.
        waits: Seconds from submission until all pods had nodes, by gang.
        restarts: Pods that were evicted.
        curve: Busy part of the cluster in each hundredth of the makespan.
    """

    busy: float
    useful: float
    window: float
    makespan: float
    ideal: float
    waits: dict[str, float]
    restarts: int
    curve: list[float]


def run(scene: Scene, mix: Mix, submit: Callable[[Client, Gang], None]) -> Run:
    """Run a mix to its end, with a backlog that is never empty before the last job is submitted.

    Args:
        scene: The cluster.
        mix: The jobs.
        submit: How each is submitted.

    Raises:
        TwinError: It does not end.
    """
    began = time.monotonic()
    submitted: dict[str, float] = {}
    waiting: dict[str, Gang] = {}
    placed: dict[str, float] = {}
    for gang in mix.gangs:
        while sum(each.nodes for each in waiting.values()) >= _BACKLOG * scene.nodes:
            time.sleep(_PAUSE)
            _note(scene, waiting, placed)
        submit(scene.client, gang)
        submitted[gang.name] = time.monotonic()
        waiting[gang.name] = gang
    last = time.monotonic()
    if not scene.watch.until(lambda: _done(scene, waiting, placed, mix), _DRAIN_LIMIT):
        raise TwinError(f"the mix did not end within {_DRAIN_LIMIT:g} s after its last job")
    ended = time.monotonic()
    pods = [seen for gang in mix.gangs for seen in scene.watch.of(gang.name)]
    start = began + RAMP / mix.scale
    room = scene.nodes * (last - start)
    return Run(
        busy=_overlap(pods, start, last) / room,
        useful=_overlap((seen for seen in pods if seen.completed), start, last) / room,
        window=last - start,
        makespan=ended - began,
        ideal=mix.ideal(scene.nodes),
        waits={name: placed[name] - at for name, at in submitted.items()},
        restarts=sum(seen.ended is not None and not seen.completed for seen in pods),
        curve=_curve(pods, scene.nodes, began, ended),
    )


def _note(scene: Scene, waiting: dict[str, Gang], placed: dict[str, float]) -> None:
    for gang in list(waiting.values()):
        bound = [seen.bound for seen in scene.watch.of(gang.name) if seen.bound is not None]
        if len(bound) >= gang.nodes:
            placed[gang.name] = max(bound)
            del waiting[gang.name]


def _done(scene: Scene, waiting: dict[str, Gang], placed: dict[str, float], mix: Mix) -> bool:
    _note(scene, waiting, placed)
    if waiting:
        return False
    return all(sum(seen.completed for seen in scene.watch.of(gang.name)) >= gang.nodes for gang in mix.gangs)


def _overlap(pods: Iterable[Seen], start: float, end: float) -> float:
    """Node seconds of pods between two moments."""
    return sum(
        max(0.0, min(end, seen.ended or end) - max(start, seen.bound)) for seen in pods if seen.bound is not None
    )


def _curve(pods: list[Seen], nodes: int, began: float, ended: float) -> list[float]:
    step = (ended - began) / STEPS
    moments = [began + number * step for number in range(STEPS)]
    return [_overlap(pods, moment, moment + step) / nodes / step for moment in moments]
