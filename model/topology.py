"""Where nodes stand: from labels that they carry, or from a static list of racks."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from . import names, racks
from .base import Declared, Listed
from .derived import derived
from .problems import ABSENT, Path, Problem, Unanswerable, answered, known, lost
from .racks import Rack

if TYPE_CHECKING:
    from .environment import Environment

HOSTNAME = "kubernetes.io/hostname"
RACK = "rack"
"""Name of the level of static racks that have no wider domains."""
DISCOVERY_TYPE = "gangline"
"""Name of our type in Volcano's label discovery; at most 20 characters (its label.go, networkTopologyTypeLength)."""


AWS_LAYERS = tuple(f"topology.k8s.aws/network-node-layer-{number}" for number in (1, 2, 3))
"""Labels of the layers of EC2's network, the widest first
(https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-topology.html)."""


class Topology(Declared):
    """At most one of `source`, `labels` and `racks`."""

    source: Literal["aws"] | None = None
    """`aws`: from what EC2 says of its network, which its cloud controller writes on nodes: levels network-node-layer-1
    (the widest) to network-node-layer-3."""
    labels: Listed[str] = ()
    """Node labels from the widest level to the closest (the host itself is added). The last path segment of a
    label is the level's name: `topology.gangline.dev/rack` is level `rack`."""
    racks: dict[str, Rack] = Field(default_factory=dict)
    """Static domains by name, all leaves at the same depth."""
    levels: Listed[str] = ()
    """Names of the levels of `racks` from the widest to the closest, such as [spine, rack]; [rack] when left out."""

    @property
    def node_labels(self) -> tuple[str, ...]:
        """The node labels that tell the domains, from the widest to the closest; empty with racks.

        Raises:
            Unanswerable: They could not be read.
        """
        return AWS_LAYERS if known(self.source) == "aws" else known(self.labels)


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
        found = [(name, None) for name in topology.levels or (RACK,)]
    else:
        found = [(level_name(label), label) for label in topology.node_labels]
    return tuple(Level(name, label, len(found) - index) for index, (name, label) in enumerate(found))


def level_name(label: str) -> str:
    """The level that a node label stands for: its last path segment."""
    return label.rpartition("/")[2]


def level(env: "Environment", name: str) -> Level | None:
    """The level of that name, if there is one."""
    return next((found for found in levels(env) if found.name == name), None)


@derived
def domain_counts(env: "Environment", pool_name: str, level_name: str, nodes: int) -> tuple[int, ...]:
    """Nodes in each domain of a level when a pool has that many nodes. Empty where the document does not say.

    An outer domain holds whole inner ones, so its size follows from theirs.
    """
    pool = env.pools[pool_name]
    domains = pool.domains.get(level_name)
    if domains is None or nodes == 0:
        return ()
    closest = _closest(env, pool_name)
    # The first node of each domain, and the end: what `_node_domain` says, turned round.
    starts = [_up(_up(number * closest, domains) * nodes, closest) for number in range(domains + 1)]
    return tuple(end - start for start, end in pairwise(starts))


def _up(number: int, divisor: int) -> int:
    return -(-number // divisor)


def _closest(env: "Environment", pool_name: str) -> int:
    """Domains of a pool at the closest level that is known."""
    domains = env.pools[pool_name].domains
    return [domains[found.name] for found in levels(env) if found.name in domains][-1]


def _node_domain(env: "Environment", pool_name: str, level_name: str, index: int, nodes: int) -> int:
    """The number of the domain in which a node stands: by the closest level that is known, then by whole domains."""
    closest = _closest(env, pool_name)
    return (index * closest // nodes) * env.pools[pool_name].domains[level_name] // closest


def largest_domain(env: "Environment", pool_name: str, level_name: str) -> int | None:
    """Nodes of a pool in the largest domain of a level when the pool is at its largest; None where nothing says."""
    most = env.pools[pool_name].most
    if not env.topology.racks:
        return max(domain_counts(env, pool_name, level_name, most), default=None)
    found = level(env, level_name)
    if found is None:
        raise Unanswerable
    return racks.largest(env, pool_name, found.tier)


def node_labels(env: "Environment", pool_name: str, nodes: int) -> list[dict[str, str]]:
    """Topology labels of each of a pool's nodes; empty where the document does not tell the domains."""
    domains = env.pools[pool_name].domains
    told = [found for found in levels(env) if found.label and found.name in domains]
    return [
        {
            str(found.label): domain_name(pool_name, found.name, _node_domain(env, pool_name, found.name, index, nodes))
            for found in told
        }
        for index in range(nodes)
    ]


def domain_name(pool_name: str, level_name: str, number: int) -> str:
    """The label value of a domain that we number ourselves (the twin's nodes)."""
    return names.fit(f"{pool_name}-{level_name}-{number}", names.LABEL)


def hypernodes(env: "Environment") -> list[HyperNode]:
    """Static racks as HyperNodes, the closest first, so that members are there before what holds them."""
    level_names = {found.tier: found.name for found in levels(env)}
    below = racks.children(env)
    made = [
        HyperNode(name, tier, level_names[tier], below[name] or tuple(env.topology.racks[name].nodes))
        for name, tier in racks.tiers(env).items()
    ]
    return sorted(made, key=lambda hypernode: hypernode.tier)


def discovery(env: "Environment") -> dict[str, Any] | None:
    """Volcano's `networkTopologyDiscovery` value for label topology; None without labels.

    Labels stand highest tier first, and the last entry is always dropped, so the host stands there
    (https://github.com/volcano-sh/volcano, pkg/controllers/hypernode/discovery/label/label.go).
    """
    if not env.topology.node_labels:
        return None
    labels = [{"nodeLabel": label} for label in (*env.topology.node_labels, HOSTNAME)]
    config = {"networkTopologyTypes": {DISCOVERY_TYPE: labels}}
    return {"source": "label", "enabled": True, "config": config}


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with the topology by itself."""
    for rule in (_one_kind, _labels, racks.values):
        yield from answered(rule, env)


def references(env: "Environment") -> Iterator[Problem]:
    """What is wrong with the levels that racks form."""
    for rule in (racks.trees, _levels):
        yield from answered(rule, env)


def _one_kind(env: "Environment") -> Iterator[Problem]:
    topology = env.topology
    if known(topology.source) is not None and (topology.labels or topology.racks):
        other = "racks" if topology.racks else "labels"
        message = "the source says already where the nodes stand"
        yield Problem(("topology", other), other, message, "source, labels or racks, and one of them")
    if topology.racks and topology.labels:
        message = "racks say already where the nodes stand"
        yield Problem(("topology", "labels"), list(topology.labels), message, "labels or racks, not both")
    if topology.levels and not topology.racks:
        message = "only racks need names for their levels; labels bring their own"
        yield Problem(("topology", "levels"), list(topology.levels), message, fix="leave out levels")


def _labels(env: "Environment") -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for index, label in enumerate(env.topology.labels):
        at: Path = ("topology", "labels", index)
        if not lost(label):
            yield from _label(at, label, seen)
            seen.setdefault(level_name(label), label)


def _label(at: Path, label: str, seen: dict[str, str]) -> Iterator[Problem]:
    name = level_name(label)
    if label == HOSTNAME:
        yield Problem(at, label, "the host itself is always the closest level", fix="leave it out")
    elif fault := names.label_key_fault(label):
        yield Problem(at, label, fault, names.LABEL_KEY_ALLOWED)
    elif name in seen:
        other = seen[name]
        message = "is there twice" if other == label else f"is level {name}, and so is {other}"
        yield Problem(at, label, message, "each level once")


def _levels(env: "Environment") -> Iterator[Problem]:
    topology = env.topology
    if not topology.racks:
        return
    deepest = max(racks.tiers(env).values(), default=0)
    if len(topology.levels or (RACK,)) != deepest:
        value = list(topology.levels) or ABSENT
        message = f"racks stand {deepest} levels deep, so {deepest} levels must have names, the widest first"
        fix = "levels: [spine, rack]" if deepest == 2 else None
        yield Problem(("topology", "levels"), value, message, f"{deepest} names", fix)
    seen: set[str] = set()
    for index, name in enumerate(topology.levels):
        at: Path = ("topology", "levels", index)
        if fault := names.DNS_LABEL.fault(name):
            yield Problem(at, name, fault, names.DNS_LABEL.allowed)
        elif name in seen:
            yield Problem(at, name, "is there twice", "each level once")
        seen.add(name)
