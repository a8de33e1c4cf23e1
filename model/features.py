"""Node feature discovery: which nodes it looks at, and the labels that it gives them because the document says so.

On an existing cluster nobody labels nodes by hand for what the document implies: its worker on each pool does, by a
rule of its own (https://kubernetes-sigs.github.io/node-feature-discovery/v0.19/usage/customization-guide).
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from . import agents, devices, gpu_labels, images, network_operator
from .derived import derived
from .pools import Pool
from .problems import NOTHING, Problem, Subject, each

if TYPE_CHECKING:
    from .environment import Environment


@dataclass(frozen=True)
class Worker:
    """The workers of nodes that get the same labels.

    Attributes:
        name: What sets them apart from others; a DNS label, empty where they give no labels.
        pools: Names of the pools, in the order of the document.
        labels: What their nodes get besides what is discovered, sorted.
    """

    name: str
    pools: tuple[str, ...]
    labels: Mapping[str, str]


@derived
def labels(env: "Environment", pool: str) -> Mapping[str, str]:
    """The labels that the document implies for the nodes of a pool: how their GPUs are shared, and what runs there."""
    plan = _plan(env, pool)
    return MappingProxyType(dict(sorted({**(plan.labels if plan else {}), **images.node_labels(env, pool)}.items())))


@derived
def workers(env: "Environment") -> tuple[Worker, ...]:
    """The workers of all pools with devices to discover, one per distinct set of labels."""
    groups: dict[tuple[tuple[str, str], ...], list[str]] = {}
    # The network operator, too, looks for what is discovered.
    wanted = {*agents.gpu_pools(env), *network_operator.pools(env)}
    for pool in (name for name in env.pools if name in wanted):
        groups.setdefault(tuple(labels(env, pool).items()), []).append(pool)
    return tuple(
        Worker(_name(env, pools[0]), tuple(pools), MappingProxyType(dict(given))) for given, pools in groups.items()
    )


def references(env: "Environment") -> Iterator[Problem]:
    """Labels of pools that feature discovery will write itself."""
    yield from each(("pools",), env.pools, env, _labels)


def _labels(it: Subject[Pool]) -> Iterator[Problem]:
    implied = {**gpu_labels.labels(it.env, it.name), **labels(it.env, it.name)}
    for key, value in it.value.labels.items():
        if key in implied:
            message = f"the nodes get it by feature discovery, as {implied[key]}: it follows from the pool"
            yield Problem((*it.at, "labels", key), value, message, "nothing: leave it out", spoils=NOTHING)


def _name(env: "Environment", pool: str) -> str:
    """The plan's name, with a hash where the nodes get more labels than the plan's."""
    given, plan = labels(env, pool), _plan(env, pool)
    if plan and given == plan.labels:
        return plan.name
    if not given:
        return ""
    digest = hashlib.sha256(json.dumps(dict(given)).encode()).hexdigest()[:8]
    return f"{plan.name if plan else 'image'}-{digest}"


def _plan(env: "Environment", pool: str) -> devices.Plan | None:
    return next((plan for plan in devices.plans(env) if pool in plan.pools), None)
