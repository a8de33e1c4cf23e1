"""Node feature discovery: the labels that it gives nodes because the document says so.

On an existing cluster nobody labels nodes by hand for what the document implies: the worker of each pool does, by a
rule of its own (https://kubernetes-sigs.github.io/node-feature-discovery/v0.19/usage/customization-guide).
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from . import agents, devices, gpu_labels, images, network_operator
from .derived import derived
from .pools import Pool
from .problems import NOTHING, Problem, Subject, each

if TYPE_CHECKING:
    from .environment import Environment


@derived
def labels(env: "Environment", pool: str) -> Mapping[str, str]:
    """The labels that the document implies for the nodes of a pool: how their GPUs are shared, and what runs there."""
    found = dict(images.node_labels(env, pool))
    for plan in devices.plans(env):
        if pool in plan.pools:
            found |= plan.labels
    return MappingProxyType(dict(sorted(found.items())))


@derived
def pools(env: "Environment") -> tuple[str, ...]:
    """Names of the pools whose nodes are looked at, in the order of the document."""
    # The network operator, too, looks for what is discovered.
    wanted = {*agents.gpu_pools(env), *network_operator.pools(env)}
    return tuple(pool for pool in env.pools if pool in wanted)


def references(env: "Environment") -> Iterator[Problem]:
    """Labels of pools that feature discovery will write itself."""
    yield from each(("pools",), env.pools, env, _labels)


def _labels(it: Subject[Pool]) -> Iterator[Problem]:
    implied = {**gpu_labels.labels(it.env, it.name), **labels(it.env, it.name)}
    for key, value in it.value.labels.items():
        if key in implied:
            message = f"the nodes get it by feature discovery, as {implied[key]}: it follows from the pool"
            yield Problem((*it.at, "labels", key), value, message, "nothing: leave it out", spoils=NOTHING)
