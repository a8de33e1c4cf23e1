"""Static racks: domains that a person lists, from racks with their nodes up to the widest."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from . import names
from .base import Declared, Listed
from .derived import derived
from .problems import ABSENT, NOTHING, Problem, Subject, Unanswerable, answered, each, lost, nearest, readable

if TYPE_CHECKING:
    from .environment import Environment
    from .pools import Pool


class Rack(Declared):
    """A static domain: a rack with its nodes, or a wider domain that others name as parent."""

    nodes: Listed[str] = ()
    """Names of the nodes in it."""
    pool: str | None = None
    """The pool that these nodes belong to; the only pool with GPUs when left out."""
    parent: str | None = None
    """The wider domain that it belongs to."""


@derived
def children(env: "Environment") -> Mapping[str, tuple[str, ...]]:
    """The domains right below each one, in the order of the document."""
    below: dict[str, list[str]] = {name: [] for name in env.topology.racks}
    for name, rack in env.topology.racks.items():
        if rack.parent is not None and rack.parent in below:
            below[rack.parent].append(name)
    return MappingProxyType({name: tuple(found) for name, found in below.items()})


@derived
def depths(env: "Environment") -> Mapping[str, int]:
    """How far below the widest each domain stands, 1 for the widest. Domains in a circle have no depth."""
    found: dict[str, int] = {}
    edge, depth = [name for name, rack in env.topology.racks.items() if rack.parent is None], 1
    while edge:
        found |= dict.fromkeys(edge, depth)
        edge = [child for name in edge for child in children(env)[name]]
        depth += 1
    return MappingProxyType(found)


@derived
def tiers(env: "Environment") -> Mapping[str, int]:
    """The tier of each domain: 1 for racks, one more for what is above.

    Raises:
        Unanswerable: They are no trees of equal depth, which is a problem of the document.
    """
    found = depths(env)
    deepest = max(found.values(), default=0)
    below = children(env)
    if len(found) != len(below) or any(not below[name] and depth != deepest for name, depth in found.items()):
        raise Unanswerable
    return MappingProxyType({name: deepest - depth + 1 for name, depth in found.items()})


@derived
def pool_of(env: "Environment", rack_name: str) -> str:
    """The pool that the nodes of a rack belong to.

    Raises:
        Unanswerable: It names none, and not exactly one pool has GPUs.
    """
    from .agents import gpu_pools

    declared = env.topology.racks[rack_name].pool
    if declared is not None:
        return declared
    only = gpu_pools(env)
    if len(only) != 1:
        raise Unanswerable
    return only[0]


@derived
def nodes_of(env: "Environment", pool_name: str) -> tuple[str, ...]:
    """Names of the nodes of a pool that racks list, in the order of the document."""
    listed = [name for name, rack in env.topology.racks.items() if rack.nodes and pool_of(env, name) == pool_name]
    return tuple(node for name in listed for node in env.topology.racks[name].nodes)


@derived
def largest(env: "Environment", pool_name: str, tier: int) -> int:
    """Nodes of a pool in the domain of a tier that has most of them."""

    def count(name: str) -> int:
        below, rack = children(env)[name], env.topology.racks[name]
        if below:
            return sum(count(child) for child in below)
        return len(rack.nodes) if pool_of(env, name) == pool_name else 0

    return max((count(name) for name, at in tiers(env).items() if at == tier), default=0)


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with the racks by themselves."""
    homes: dict[str, str] = {}
    yield from each(_RACKS, env.topology.racks, env, _name, lambda it: _nodes(it, homes), _parent)


def trees(env: "Environment") -> Iterator[Problem]:
    """What is wrong with the trees that the racks form."""
    yield from each(_RACKS, env.topology.racks, env, _members)
    yield from answered(_circles, env)
    yield from answered(_depths, env)


def references(env: "Environment") -> Iterator[Problem]:
    """What racks say about pools that the pools do not bear out."""
    yield from each(_RACKS, env.topology.racks, env, _pool)
    for name, pool in readable(env.pools):
        yield from answered(_size, env, name, pool)


_RACKS = ("topology", "racks")
_IN_PATTERNS = frozenset("*+?[](){}^$|\\")


def _name(it: Subject[Rack]) -> Iterator[Problem]:
    if fault := names.subdomain_fault(it.name):
        yield Problem(it.at, it.name, fault, names.DNS_SUBDOMAIN.allowed, spoils=NOTHING)


def _nodes(it: Subject[Rack], homes: dict[str, str]) -> Iterator[Problem]:
    for index, node in enumerate(it.value.nodes):
        at = (*it.at, "nodes", index)
        if lost(node):
            continue
        if fault := names.subdomain_fault(node):
            message = f"{fault}; nodes are named exactly, not by a pattern"
            # How many nodes a pattern stands for is unknown, and so is what the rack holds.
            spoils = ((*it.at, "nodes"),) if _IN_PATTERNS & set(node) else NOTHING
            yield Problem(at, node, message, names.DNS_SUBDOMAIN.allowed, spoils=spoils)
        elif node in homes:
            message = "is there twice" if homes[node] == it.name else f"stands in {homes[node]} already"
            yield Problem(at, node, message, "each node once", spoils=NOTHING)
        homes.setdefault(node, it.name)


def _parent(it: Subject[Rack]) -> Iterator[Problem]:
    parent, others = it.value.parent, [other for other in it.env.topology.racks if other != it.name]
    if parent is not None and parent not in others:
        message = "cannot be its own parent" if parent == it.name else "there is no such domain in racks"
        yield Problem((*it.at, "parent"), parent, message, ", ".join(others), nearest(parent, others))


def _members(it: Subject[Rack]) -> Iterator[Problem]:
    below, listed = children(it.env)[it.name], it.value.nodes
    if below and listed:
        message = f"it holds domains ({', '.join(below)}), so its nodes must stand in one of those"
        yield Problem((*it.at, "nodes"), list(listed), message, "nodes or domains, not both")
    if not below and not listed:
        yield Problem(it.at, it.name, "no node stands in it and no domain names it as parent", "nodes: [...]")


def _pool(it: Subject[Rack]) -> Iterator[Problem]:
    from .agents import gpu_pools  # see pool_of

    pool, pools, at = it.value.pool, it.env.pools, (*it.at, "pool")
    if pool is not None and pool not in pools:
        yield Problem(at, pool, "there is no such pool", ", ".join(pools), nearest(pool, pools))
    elif pool is None and it.value.nodes and len(gpu_pools(it.env)) != 1:
        message = "a rack must say whose nodes it holds, since not exactly one pool has GPUs"
        yield Problem(at, ABSENT, message, ", ".join(gpu_pools(it.env) or pools))


def _circles(env: "Environment") -> Iterator[Problem]:
    """Domains that hold each other: one problem per circle, at its first member."""
    racks, told = env.topology.racks, set[str]()
    for name in racks:
        circle: list[str] = []
        here: str | None = name
        while here is not None and here in racks and here not in told and here not in circle:
            circle.append(here)
            here = racks[here].parent
        if here in circle[:-1]:
            round_ = circle[circle.index(here) :]
            message = f"the domains hold each other: {' in '.join([*round_, here])}"
            yield Problem(("topology", "racks", here, "parent"), racks[here].parent, message, "trees")
        told.update(circle)


def _depths(env: "Environment") -> Iterator[Problem]:
    """Each tree, and each rack in it, must be as deep as the deepest: tiers are numbered once for the cluster."""
    found, below = depths(env), children(env)
    deepest = max(found.values(), default=0)

    def reach(name: str) -> int:
        return max((reach(child) for child in below[name]), default=found[name])

    for name in (name for name, depth in found.items() if depth == 1):
        if reach(name) < deepest:
            yield from _shallow(name, reach(name), deepest)
        else:
            yield from (
                problem
                for rack in _leaves(name, below)
                if found[rack] < deepest
                for problem in _shallow(rack, found[rack], deepest)
            )


def _shallow(name: str, depth: int, deepest: int) -> Iterator[Problem]:
    message = f"reaches {depth} of {deepest} levels, and all racks must stand equally deep"
    yield Problem(("topology", "racks", name), name, message, f"{deepest} levels")


def _leaves(name: str, below: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    for child in below[name]:
        yield from _leaves(child, below)
    if not below[name]:
        yield name


def _size(env: "Environment", pool_name: str, pool: "Pool") -> Iterator[Problem]:
    listed = len(nodes_of(env, pool_name))
    if listed > pool.most:
        message = f"racks list {listed} nodes of pool {pool_name}, which has at most {pool.most}"
        yield Problem(_RACKS, listed, message, f"at most {pool.most}", spoils=NOTHING)
