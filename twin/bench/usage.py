"""What the control plane's processes cost while something is measured."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import psutil

from twin.keeper import Keeper


@dataclass(frozen=True)
class Usage:
    """What a process used.

    Attributes:
        cores: Processor time per second, in cores.
        memory: Its own memory (RSS) at the end, in bytes.
    """

    cores: float
    memory: int


@contextmanager
def metered(keeper: Keeper) -> Iterator[dict[str, Usage]]:
    """Fill a mapping, when the block ends, with what each process used in it. What was restarted is left out."""
    found: dict[str, Usage] = {}
    before, began = _times(keeper), time.monotonic()
    yield found
    took = time.monotonic() - began
    for (name, pid), (used, memory) in _times(keeper).items():
        if (name, pid) in before:
            found[name] = Usage((used - before[name, pid][0]) / took, memory)


def _times(keeper: Keeper) -> dict[tuple[str, int], tuple[float, int]]:
    found = {}
    for name, process in keeper.processes().items():
        with suppress(psutil.Error):
            if process.pid:
                here = psutil.Process(process.pid)
                times = here.cpu_times()
                found[name, process.pid] = times.user + times.system, here.memory_info().rss
    return found
