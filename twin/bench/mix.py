"""The job mix: which gangs come, in which order, and how long each runs: from a seed and the number of nodes.

The sizes are powers of two with many small and few large ones, and the run times spread over more than an order of
magnitude, as published traces of GPU clusters have it (https://github.com/msr-fiddle/philly-traces,
https://github.com/alibaba/clusterdata): most jobs are small, most GPU time is that of large ones. One second here
stands for about a minute there.
"""

import math
import random
from dataclasses import dataclass

from twin.bench import ground
from twin.bench.jobs import Gang

NAME = "mix-1"
"""Goes into reports. Whatever changes what a seed means changes this name."""
SIZES = {1: 40, 2: 15, 4: 15, 8: 12, 16: 9, 32: 5, 64: 3, 128: 1}
"""Nodes of a gang, and how many of a hundred gangs have that many."""
SHORTEST, MEDIAN, LONGEST = 30, 80, 240
"""Run times in seconds of full length. Their logarithms are normally distributed between the ends."""
_SPREAD = 0.7


@dataclass(frozen=True)
class Mix:
    """Gangs in the order in which they come.

    Attributes:
        seed: What they follow from.
        scale: How many times shorter run times are than of full length.
        gangs: The gangs.
    """

    seed: int
    scale: int
    gangs: tuple[Gang, ...]

    @property
    def node_seconds(self) -> int:
        """The work in all."""
        return sum(gang.nodes * (gang.seconds or 0) for gang in self.gangs)

    def ideal(self, nodes: int) -> float:
        """Seconds that no scheduler can do it in less: all nodes are always busy, or the longest gang is alone."""
        return max(self.node_seconds / nodes, max(gang.seconds or 0 for gang in self.gangs))


def mix(seed: int, nodes: int, seconds: int, *, scale: int, prefix: str) -> Mix:
    """Give a mix that keeps so many nodes busy for about so long.

    Args:
        seed: What it follows from.
        nodes: Nodes of the cluster; no gang takes more than an eighth of them.
        seconds: How long, if all nodes were always busy.
        scale: How many times shorter run times are than of full length.
        prefix: What the gangs' names begin with. It does not change the mix.
    """
    chosen = random.Random(f"{NAME} {seed} {nodes}")  # noqa: S311 - a mix is no secret
    sizes = [size for size in SIZES if size * 8 <= nodes]
    weights = [SIZES[size] for size in sizes]
    gangs: list[Gang] = []
    work = 0
    while work < nodes * seconds:
        (size,) = chosen.choices(sizes, weights)
        drawn = round(math.exp(chosen.gauss(math.log(MEDIAN), _SPREAD)))
        duration = min(LONGEST, max(SHORTEST, drawn)) // scale
        gangs.append(Gang(f"{prefix}-{len(gangs):04}", size, duration, ground.EVERYTHING))
        work += size * duration
    return Mix(seed, scale, tuple(gangs))
