"""Where nodes stand: from labels that they carry, or from a static list of racks."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pydantic import Field

from .base import Declared, Listed
from .derived import derived
from .problems import Unanswerable

if TYPE_CHECKING:
    from .environment import Environment

HOSTNAME = "kubernetes.io/hostname"
DISCOVERY_TYPE = "gangline"
"""Name of our type in Volcano's label discovery; at most 20 characters (its label.go, networkTopologyTypeLength)."""


class Rack(Declared):
    """A static domain: a rack with its nodes, or a wider domain that others name as parent."""

    nodes: Listed[str] = ()
    """Names of the nodes in it."""
    pool: str | None = None
    """The pool that these nodes belong to; the only pool with GPUs when left out."""
    parent: str | None = None
    """The wider domain that it belongs to."""


class Topology(Declared):
    """At most one of `labels` and `racks`."""

    labels: Listed[str] = ()
    """Node labels from the widest level to the closest (the host itself is added). The last path segment of a
    label is the level's name: `topology.gangline.dev/rack` is level `rack`."""
    racks: dict[str, Rack] = Field(default_factory=dict)
    """Static domains by name, all leaves at the same depth."""
    levels: Listed[str] = ()
    """Names of the levels of `racks` from the widest to the closest, such as [spine, rack]; [rack] when left out."""


@dataclass(frozen=True)
class Level:
    """A level of the topology.

    Attributes:
        name: Its name in documents, such as `rack`.
        label: The node label that tells the domain of a node; None with static racks.
        tier: Volcano's number for it: 1 is the closest.
    """

    name: str
    label: str | None
    tier: int


@dataclass(frozen=True)
class HyperNode:
    """A static domain as Volcano's HyperNode object.

    Attributes:
        name: The object's name.
        tier: 1 for the closest level.
        tier_name: The level's name.
        members: Exact names: of nodes at tier 1, else of HyperNodes.
    """

    name: str
    tier: int
    tier_name: str
    members: tuple[str, ...]


def levels(env: "Environment") -> tuple[Level, ...]:
    """The levels from the widest to the closest; none without a topology."""
    topology = env.topology
    if topology.racks:
        names, labels = topology.levels or ("rack",), [None] * len(topology.levels or ("rack",))
    else:
        names, labels = [level_name(label) for label in topology.labels], list(topology.labels)
    depth = len(labels)
    return tuple(
        Level(name, label, depth - index) for index, (name, label) in enumerate(zip(names, labels, strict=True))
    )


def level_name(label: str) -> str:
    """The level that a node label stands for: its last path segment."""
    return label.rpartition("/")[2]


def level(env: "Environment", name: str) -> Level | None:
    """The level of that name, if there is one."""
    return next((found for found in levels(env) if found.name == name), None)


@derived
def children(env: "Environment") -> Mapping[str, tuple[str, ...]]:
    """The static domains below each one, in the order of the document."""
    below: dict[str, list[str]] = {name: [] for name in env.topology.racks}
    for name, rack in env.topology.racks.items():
        if rack.parent is not None and rack.parent in below:
            below[rack.parent].append(name)
    return MappingProxyType({name: tuple(names) for name, names in below.items()})


@derived
def tiers(env: "Environment") -> Mapping[str, int]:
    """The tier of each static domain: 1 for leaves, one more for what is above.

    Raises:
        Unanswerable: The domains are no forest of equal depth.
    """
    depth = len(levels(env))
    found: dict[str, int] = {}
    edge = [name for name, rack in env.topology.racks.items() if rack.parent is None]
    while edge:
        found |= dict.fromkeys(edge, depth)
        edge = [child for name in edge for child in children(env)[name]]
        depth -= 1
    if depth != 0 or len(found) != len(env.topology.racks):
        raise Unanswerable
    return MappingProxyType(found)


@derived
def rack_pool(env: "Environment", rack_name: str) -> str:
    """The pool that the nodes of a static rack belong to.

    Raises:
        Unanswerable: It says none, and not exactly one pool has GPUs.
    """
    from .agents import gpu_pools  # the other way round, agents need nodes and nodes their topology

    declared = env.topology.racks[rack_name].pool
    if declared is not None:
        return declared
    only = gpu_pools(env)
    if len(only) != 1:
        raise Unanswerable
    return only[0]


def rack_nodes(env: "Environment", pool_name: str) -> list[str]:
    """Names of the nodes of a pool that static racks list, in the order of the document."""
    racks = env.topology.racks
    return [
        node for name in racks if racks[name].nodes and rack_pool(env, name) == pool_name for node in racks[name].nodes
    ]


def _domain(index: int, nodes: int, domains: int) -> int:
    """The domain of the node with an index when nodes fill domains evenly and in order."""
    return index * domains // nodes


@derived
def domain_counts(env: "Environment", pool_name: str, level_name: str, nodes: int) -> tuple[int, ...]:
    """Nodes in each domain of a level when a pool has that many nodes. Empty where the document does not say.

    An outer domain holds whole inner ones, so its size follows from theirs.
    """
    pool = env.pools[pool_name]
    domains = pool.domains.get(level_name)
    if domains is None or nodes == 0:
        return ()
    counts = Counter(_node_domain(env, pool_name, level_name, index, nodes) for index in range(nodes))
    return tuple(counts[index] for index in range(domains))


def _node_domain(env: "Environment", pool_name: str, level_name: str, index: int, nodes: int) -> int:
    """The number of the domain in which a node stands: by the closest level that is known, then by whole domains."""
    domains = env.pools[pool_name].domains
    known = [domains[found.name] for found in levels(env) if found.name in domains]
    closest = known[-1]
    return _domain(index, nodes, closest) * domains[level_name] // closest


def largest_domain(env: "Environment", pool_name: str, level_name: str) -> int | None:
    """Nodes of a pool in the largest domain of a level when the pool is at its largest; None where nothing says."""
    most = env.pools[pool_name].most
    if not env.topology.racks:
        return max(domain_counts(env, pool_name, level_name, most), default=None)
    found = level(env, level_name)
    if found is None:
        raise Unanswerable
    return max((len(names) for names in _static_domains(env, pool_name, found.tier)), default=0)


def _static_domains(env: "Environment", pool_name: str, tier: int) -> list[list[str]]:
    below, racks = children(env), env.topology.racks

    def nodes(name: str) -> list[str]:
        if not below[name]:
            return list(racks[name].nodes) if rack_pool(env, name) == pool_name else []
        return [node for child in below[name] for node in nodes(child)]

    return [nodes(name) for name, at in tiers(env).items() if at == tier]


def node_labels(env: "Environment", pool_name: str, nodes: int) -> list[dict[str, str]]:
    """Topology labels of each of a pool's nodes; empty where the document does not tell the domains."""
    domains = env.pools[pool_name].domains
    known = [found for found in levels(env) if found.label and found.name in domains]
    return [
        {
            str(found.label): domain_name(pool_name, found.name, _node_domain(env, pool_name, found.name, index, nodes))
            for found in known
        }
        for index in range(nodes)
    ]


def domain_name(pool_name: str, level_name: str, number: int) -> str:
    """The label value of a domain that we number ourselves (the twin's nodes)."""
    return f"{pool_name}-{level_name}-{number}"


def hypernodes(env: "Environment") -> list[HyperNode]:
    """Static racks as HyperNodes, the closest first, so that members are there before what holds them."""
    names = {found.tier: found.name for found in levels(env)}
    below, racks = children(env), env.topology.racks
    made = [
        HyperNode(name, tier, names[tier], tuple(below[name]) or tuple(racks[name].nodes))
        for name, tier in tiers(env).items()
    ]
    return sorted(made, key=lambda hypernode: hypernode.tier)


def discovery(env: "Environment") -> dict[str, Any] | None:
    """Volcano's `networkTopologyDiscovery` value for label topology; None without labels.

    Labels stand highest tier first, and the last entry is always dropped, so the host stands there
    (https://github.com/volcano-sh/volcano, pkg/controllers/hypernode/discovery/label/label.go).
    """
    if not env.topology.labels:
        return None
    labels = [{"nodeLabel": label} for label in (*env.topology.labels, HOSTNAME)]
    config = {"networkTopologyTypes": {DISCOVERY_TYPE: labels}}
    return {"source": "label", "enabled": True, "config": config}
