"""The subnets of a network that is made: where each stands, whatever else the document says.

A subnet cannot grow, and a new one means new nodes. So their places follow from the network's addresses and the place
of the zone in `cluster.zones` alone: a pool that grows, or a zone that is added at the end, moves none.
"""

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from model import agents, aws
from model.derived import derived
from model.pools import Pool
from model.problems import Problem, known

from . import here

if TYPE_CHECKING:
    from model.environment import Environment

CIDR = "10.0.0.0/16"
MOST_ZONES = 4
KEPT = 5
"""Addresses of a subnet that AWS keeps (https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html)."""
PREFIX = 16
"""Addresses of one prefix (/28) that the VPC CNI takes for pods
(https://docs.aws.amazon.com/eks/latest/userguide/cni-increase-ip-addresses.html)."""

Kind = Literal["private", "public", "gpu"]


@dataclass(frozen=True)
class Subnet:
    """A subnet that is made.

    Attributes:
        name: Its name inside the network: kind and zone.
        kind: `private` for nodes and the control plane's interfaces, `public` for NAT and load balancers, `gpu` for
            nodes with GPUs.
        zone: Its zone.
        cidr: Its addresses.
    """

    name: str
    kind: Kind
    zone: str
    cidr: ipaddress.IPv4Network


def network(env: "Environment") -> ipaddress.IPv4Network:
    """The addresses of the VPC that is made.

    Raises:
        ValueError: The document's are none.
    """
    return ipaddress.ip_network(known(env.cluster.network.cidr) or CIDR)  # pyright: ignore[reportReturnType]


@derived
def subnets(env: "Environment") -> tuple[Subnet, ...]:
    """The subnets that are made; none where the network is there already.

    Each zone has a quarter of the network: half of it for GPU nodes, a quarter for other nodes, an eighth in public.
    The last eighth is left for what comes.
    """
    if known(env.cluster.network.vpc) is not None:
        return ()
    found: list[Subnet] = []
    for zone, quarter in zip(aws.zones(env), network(env).subnets(2), strict=False):
        gpu, rest = quarter.subnets(1)
        private, last = rest.subnets(1)
        public = next(last.subnets(1))
        places: tuple[tuple[Kind, ipaddress.IPv4Network], ...] = (
            ("private", private),
            ("public", public),
            ("gpu", gpu),
        )
        for kind, cidr in places:
            if (kind != "gpu" or zone in gpu_zones(env)) and (kind != "public" or env.cluster.network.nat != "none"):
                found.append(Subnet(f"{kind}-{zone}", kind, zone, cidr))
    return tuple(found)


@derived
def gpu_zones(env: "Environment") -> tuple[str, ...]:
    """The zones in which pools may have GPU nodes, in the order of the document."""
    wanted = {zone for name in agents.gpu_pools(env) for zone in zones(env, env.pools[name])}
    return tuple(zone for zone in aws.zones(env) if zone in wanted)


def zones(env: "Environment", pool: Pool) -> tuple[str, ...]:
    """The zones in which a pool's nodes may stand."""
    zone = known(pool.zone)
    return aws.zones(env) if zone is None else (zone,)


def mismatches(wanted_vpc: str, wanted_zone: str, *, vpc: str, zone: str, public: bool) -> tuple[str, ...]:
    """What keeps a subnet that is there already from being one of nodes.

    Args:
        wanted_vpc: The VPC that it should belong to.
        wanted_zone: The zone that it should be in.
        vpc: Its VPC.
        zone: Its zone.
        public: Whether what starts in it gets a public address.
    """
    return (
        *([f"is in {zone}"] if zone != wanted_zone else []),
        *([f"belongs to {vpc}"] if vpc != wanted_vpc else []),
        *(["gives public addresses, which nodes with several interfaces cannot have"] if public else []),
    )


def addresses(pool: Pool) -> int:
    """Addresses that a node of a pool may take: its own, and whole prefixes for its pods and one more held ready.

    EFA interfaces have none.
    """
    return 1 + PREFIX * (-(-pool.max_pods // PREFIX) + 1)


def limits(env: "Environment") -> Iterator[Problem]:
    """Subnets that are too small for the nodes that may stand in them."""
    if not here(env) or known(env.cluster.network.vpc) is not None:
        return
    gpu = agents.gpu_pools(env)
    for subnet in subnets(env):
        if subnet.kind == "public":
            continue
        inside = [
            name
            for name, pool in env.pools.items()
            if (name in gpu) == (subnet.kind == "gpu") and zones(env, pool) == (subnet.zone,)
        ]
        # Pools without a zone spread over several: each takes its share.
        spread = [
            name
            for name, pool in env.pools.items()
            if (name in gpu) == (subnet.kind == "gpu") and len(zones(env, pool)) > 1 and subnet.zone in zones(env, pool)
        ]
        needed = sum(addresses(env.pools[name]) * env.pools[name].most for name in inside)
        needed += sum(
            addresses(env.pools[name]) * -(-env.pools[name].most // len(zones(env, env.pools[name]))) for name in spread
        )
        room = subnet.cidr.num_addresses - KEPT
        if needed > room:
            named = ", ".join(sorted({*inside, *spread}))
            message = (
                f"its {subnet.kind} subnet in {subnet.zone} ({subnet.cidr}) has {room} addresses, and pools {named} "
                f"may take {needed}: a node takes 1 and {PREFIX} for each {PREFIX} of its maxPods, and {PREFIX} more"
            )
            cidr = network(env)
            value = str(cidr)
            fix = (
                f"fewer maxPods, {f'a cidr of /{cidr.prefixlen - 1}, ' if cidr.prefixlen > 16 else ''}or a VPC of yours"
            )
            yield Problem(("cluster", "network", "cidr"), value, message, fix=fix)
            return
