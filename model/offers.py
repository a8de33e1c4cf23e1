"""The nodes that a document means, as the cluster will show them once everything is installed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import nodes, placing, racks, topology
from .pools import Taint

if TYPE_CHECKING:
    from .environment import Environment


@dataclass(frozen=True)
class NodeOffer:
    """A node as the cluster will show it.

    Attributes:
        name: The node's name.
        pool: The pool that it belongs to.
        labels: Its labels.
        taints: Its taints, effects in Kubernetes' spelling.
        capacity: What the kubelet reports, as Kubernetes quantities.
        allocatable: What pods may ask for, as Kubernetes quantities.
    """

    name: str
    pool: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    capacity: Mapping[str, str]
    allocatable: Mapping[str, str]


def node_names(env: "Environment", pool_name: str, count: int) -> list[str]:
    """Names of the nodes of a pool: those that static racks name, then `<pool>-<number>`."""
    pool = env.pools[pool_name]
    named = list(racks.nodes_of(env, pool_name))[:count]
    width = len(str(max(pool.most - 1, 0)))
    rest, taken = (f"{pool_name}-{number:0{width}}" for number in range(count)), set(named)
    return named + [name for name in rest if name not in taken][: count - len(named)]


def node_offers(env: "Environment") -> list[NodeOffer]:
    """The nodes that the pools begin with, in the order of the document."""
    offers: list[NodeOffer] = []
    for pool_name, pool in env.pools.items():
        whole = {name: str(amount) for name, amount in nodes.capacity(pool).items()}
        free = {name: str(amount) for name, amount in nodes.allocatable(pool).items()}
        places = topology.node_labels(env, pool_name, pool.initial)
        for name, place in zip(node_names(env, pool_name, pool.initial), places, strict=True):
            labels = {**placing.labels(env)[pool_name], "kubernetes.io/hostname": name, **place}
            offers.append(NodeOffer(name, pool_name, labels, pool.taints, dict(whole), dict(free)))
    return offers
