"""Node agents: what a DaemonSet needs to reach the nodes it is meant for."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import nodes
from .derived import derived

if TYPE_CHECKING:
    from .environment import Environment


@dataclass(frozen=True, order=True)
class Toleration:
    """A toleration of one taint, whatever its value (`operator: Exists`)."""

    key: str
    effect: str


def tolerations(env: "Environment", pools: Iterable[str]) -> tuple[Toleration, ...]:
    """The closure over some pools: one toleration per taint key and effect, sorted.

    `Exists` and not `Equal`: charts' own defaults disagree about values ("true", "present", none), and an agent that
    misses a value silently runs nowhere.
    """
    return tuple(sorted({Toleration(taint.key, taint.effect) for name in pools for taint in env.pools[name].taints}))


@derived
def gpu_pools(env: "Environment") -> tuple[str, ...]:
    """Names of the pools whose nodes have GPUs, in the order of the document."""
    return tuple(name for name, pool in env.pools.items() if nodes.machine(pool).gpus)
