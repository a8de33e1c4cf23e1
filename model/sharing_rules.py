"""What may be shared, and how far: rules about the sharing of pools."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .pools import MOST_PODS, Pool
from .problems import Problem, Subject, each

if TYPE_CHECKING:
    from .environment import Environment


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with each plan by itself."""
    yield from each(("pools",), env.pools, env, _replicas)


def references(env: "Environment") -> Iterator[Problem]:
    """Plans for GPUs that are not there."""
    yield from each(("pools",), env.pools, env, _shareable)


def _replicas(it: Subject[Pool]) -> Iterator[Problem]:
    sharing = it.value.sharing
    if sharing == "none" or sharing.time_slicing is None:
        return
    at, replicas = (*it.at, "sharing", "timeSlicing", "replicas"), sharing.time_slicing.replicas
    if replicas < 2:
        message = "a GPU is shared by at least 2; for whole GPUs there is nothing to configure"
        yield Problem(at, replicas, message, "2 or more", "sharing: none")
    elif replicas > MOST_PODS:
        message = f"is more than {MOST_PODS}: each slice needs a pod, and no node has more pods"
        yield Problem(at, replicas, message, f"2 to {MOST_PODS}")


def _shareable(it: Subject[Pool]) -> Iterator[Problem]:
    pool = it.value
    if pool.sharing != "none" and pool.shape is not None and pool.shape.gpu is None:
        yield Problem((*it.at, "sharing"), "sharing", "the pool has no GPUs to share", "none", "sharing: none")
