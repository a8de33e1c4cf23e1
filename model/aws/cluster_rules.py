"""What a document may say of a cluster on AWS, and of other clusters not."""

import ipaddress
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from model import aws, names, networks
from model.problems import ABSENT, NOTHING, Path, Problem, Subject, answered, each, known, lost, nearest

from . import here, subnets
from .partitions import partition
from .registry import UPSTREAMS
from .shape import Access, Network, said

if TYPE_CHECKING:
    from model.environment import Environment

_ZONE = re.compile(r"[a-z]{2,4}(-[a-z]+)+-[0-9][a-z]")
"""Availability zones. Local and Wavelength zones have longer names, and EKS makes no managed nodes there
(https://docs.aws.amazon.com/eks/latest/userguide/local-zones.html)."""
_VPC = re.compile(r"vpc-([0-9a-f]{8}|[0-9a-f]{17})")
_SUBNET = re.compile(r"subnet-([0-9a-f]{8}|[0-9a-f]{17})")
_PRINCIPAL = re.compile(r"arn:aws[a-z-]*:iam::[0-9]{12}:(role|user)/([!-.0-~]+/)*[\w+=,.@-]{1,64}", re.ASCII)
"""Names have 64 characters at most, and paths before them are of ASCII
(https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html)."""
_SECRET = re.compile(
    r"arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:ecr-pullthroughcache/[\w+=.@/-]+", re.ASCII
)
_PRIVATE = tuple(
    ipaddress.IPv4Network(text)
    for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "198.18.0.0/15")
)
"""RFC 1918, RFC 6598 and RFC 2544: what a VPC may have."""
_NOBODY = tuple(ipaddress.IPv4Network(text) for text in ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/3"))
"""Where nobody comes from over the internet (RFC 6890)."""
_MOST_PUBLIC = 40
"""Networks of one cluster, a quota that is not raised
(https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html)."""
_ONLY_AWS = ("zones", "network", "publicAccessCidrs", "access", "addons", "registry")


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with what a document says of its cluster on AWS."""
    if not here(env):
        yield from _elsewhere(env)
        return
    for rule in (_zones, _network, _public, _registry):
        yield from answered(rule, env)
    yield from each(("cluster", "access"), env.cluster.access, env, _access)


def references(env: "Environment") -> Iterator[Problem]:
    """Zones without a subnet, and subnets in zones that the cluster does not have."""
    if here(env):
        yield from answered(_subnets, env)
        yield from each(("cluster", "access"), env.cluster.access, env, _partition)
        yield from subnets.limits(env)


def _elsewhere(env: "Environment") -> Iterator[Problem]:
    for key in _ONLY_AWS:
        if said(env.cluster, key):
            message = "the cluster is there already, and this is how one on AWS is made"
            yield Problem(("cluster", key), key, message, "with provider aws", "leave it out", spoils=NOTHING)


def _zones(env: "Environment") -> Iterator[Problem]:
    at, zones = ("cluster", "zones"), known(env.cluster.zones)
    if not 2 <= len(zones) <= subnets.MOST_ZONES:
        message = "EKS wants its control plane in two zones at least, even where all GPU nodes stand in one"
        if len(zones) > subnets.MOST_ZONES:
            message = f"a network is divided among {subnets.MOST_ZONES} zones at most"
        value = list(zones) or ABSENT
        yield Problem(at, value, message, "two to four zones of one region", "zones: [us-east-2a, us-east-2b]")
        return
    seen: set[str] = set()
    for index, zone in enumerate(zones):
        place = (*at, index)
        if lost(zone):
            continue
        if not _ZONE.fullmatch(zone):
            yield Problem(place, zone, "is no availability zone", "such as us-east-2a", spoils=(at,))
        elif zone in seen:
            yield Problem(place, zone, "is there twice", "each zone once", spoils=(at,))
        elif seen and zone[:-1] != (region := min(seen)[:-1]):
            message = f"is in region {zone[:-1]}, and the others are in {region}"
            yield Problem(place, zone, message, f"zones of {region}", spoils=(at,))
        else:
            seen.add(zone)


def _network(env: "Environment") -> Iterator[Problem]:
    at, network = ("cluster", "network"), known(env.cluster.network)
    if known(network.vpc) is None:
        yield from answered(_made, at, network)
        for key, value in (("subnets", network.subnets), ("gpuSubnets", network.gpu_subnets)):
            if not lost(value) and value:
                message = "belongs to a VPC that is there already, and none is named"
                yield Problem((*at, key), key, message, "with vpc", "vpc: vpc-…")
    else:
        yield from answered(_existing, at, network)


def _existing(at: Path, network: Network) -> Iterator[Problem]:
    if not _VPC.fullmatch(network.vpc or ""):
        yield Problem((*at, "vpc"), network.vpc, "is no id of a VPC", "such as vpc-0a1b2c3d4e5f67890", spoils=NOTHING)
    for key, value in (("cidr", network.cidr), ("nat", network.nat), ("endpoints", network.endpoints)):
        if not lost(value) and value:
            message = "belongs to a VPC that is made, and this one is there already"
            yield Problem((*at, key), key, message, "without vpc", "leave it out", spoils=NOTHING)
    for key, ids in (("subnets", network.subnets), ("gpuSubnets", network.gpu_subnets)):
        for zone, subnet in known(ids).items():
            if not lost(subnet) and not _SUBNET.fullmatch(subnet):
                allowed = "such as subnet-0a1b2c3d4e5f67890"
                yield Problem((*at, key, zone), subnet, "is no id of a subnet", allowed)


def _made(at: Path, network: Network) -> Iterator[Problem]:
    if known(network.nat) == "none" and not known(network.endpoints):
        message = "without a way out and without end points nodes cannot join, and images cannot be pulled"
        yield Problem((*at, "nat"), "none", message, "with endpoints: true; single, zonal", "endpoints: true")
    cidr = known(network.cidr)
    if cidr is None:
        return
    place = (*at, "cidr")
    try:
        found = ipaddress.IPv4Network(cidr)
    except ValueError as error:
        yield Problem(place, cidr, f"is no network: {error}", f"such as {subnets.CIDR}")
        return
    if not 16 <= found.prefixlen <= 20:
        size = "larger than AWS allows" if found.prefixlen < 16 else "too small to be divided among zones"
        yield Problem(place, cidr, f"is {size}", "/16 to /20", f"{found.network_address}/16")
    elif not _private(found):
        yield Problem(place, cidr, "are public addresses of others", f"private ones, such as {subnets.CIDR}")


def _private(network: ipaddress.IPv4Network) -> bool:
    return any(network.subnet_of(private) for private in _PRIVATE)


def _public(env: "Environment") -> Iterator[Problem]:
    cidrs = known(env.cluster.public_access_cidrs)
    if len(cidrs) > _MOST_PUBLIC:
        message = f"EKS takes {_MOST_PUBLIC} networks at most"
        yield Problem(("cluster", "publicAccessCidrs"), len(cidrs), message, f"at most {_MOST_PUBLIC}")
        return
    seen: set[ipaddress.IPv4Network] = set()
    for index, cidr in enumerate(cidrs):
        at = ("cluster", "publicAccessCidrs", index)
        if lost(cidr):
            continue
        try:
            found = ipaddress.IPv4Network(cidr)
        except ValueError as error:
            yield Problem(at, cidr, f"is no network: {error}", "such as 203.0.113.0/24")
            continue
        if cidr != str(found):
            yield Problem(at, cidr, "must say its length", "such as 203.0.113.0/24", str(found))
        elif networks.wide(cidr):
            part = "a large part of the internet" if found.prefixlen else "the whole internet"
            message = f"opens the cluster's API to {part}"
            yield Problem(at, cidr, message, "networks of yours, such as 203.0.113.0/24", "leave it out")
        elif any(found.subnet_of(other) for other in _NOBODY):
            message = "is where nobody comes from over the internet"
            yield Problem(at, cidr, message, "public addresses, such as 203.0.113.0/24", "leave it out")
        elif _private(found):
            message = "is private: it says nothing of who comes over the internet"
            yield Problem(at, cidr, message, "public addresses, such as 203.0.113.0/24", "leave it out")
        elif found in seen:
            yield Problem(at, cidr, "is there twice", "each network once", "leave it out")
        seen.add(found)


def _access(it: Subject[Access]) -> Iterator[Problem]:
    if fault := names.DNS_LABEL.fault(it.name):
        yield Problem(it.at, it.name, fault, names.DNS_LABEL.allowed, spoils=NOTHING)
    yield from answered(_principal, it)
    if known(it.value.policy) is None and not known(it.value.groups):
        yield Problem(it.at, it.name, "gives nothing: neither a policy nor groups", fix="policy: view")
    groups = known(it.value.groups)
    for index, group in enumerate(groups):
        at = (*it.at, "groups", index)
        if lost(group):
            continue
        if group.startswith(("system:", "eks:", "aws:", "amazon:", "iam:")):
            yield Problem(at, group, "EKS gives no groups that begin so", "groups of your own", spoils=NOTHING)
        elif not group.strip():
            yield Problem(at, group, "must name a group", "such as research-engineers", spoils=NOTHING)
        elif group in groups[:index]:
            yield Problem(at, group, "is there twice", "each once", spoils=NOTHING)


def _principal(it: Subject[Access]) -> Iterator[Problem]:
    principal, at = known(it.value.principal), (*it.at, "principal")
    if not _PRINCIPAL.fullmatch(principal):
        message = "is no ARN of an IAM role or user"
        if ":assumed-role/" in principal:
            message = "is a session, which ends; access is given to the role behind it"
        yield Problem(at, principal, message, "such as arn:aws:iam::123456789012:role/platform")
    elif any(
        not lost(other) and name < it.name and not lost(other.principal) and other.principal == principal
        for name, other in it.env.cluster.access.items()
    ):
        yield Problem(at, principal, "has an entry already: EKS keeps one for each", "each once")


def _registry(env: "Environment") -> Iterator[Problem]:
    registry, at = known(env.cluster.registry), ("cluster", "registry")
    cached = known(registry.cache)
    for index, name in enumerate(cached):
        if lost(name):
            continue
        place = (*at, "cache", index)
        if name not in UPSTREAMS:
            message = "ECR keeps no cache of it"
            yield Problem(place, name, message, ", ".join(UPSTREAMS), nearest(name, UPSTREAMS))
        elif name in cached[:index]:
            yield Problem(place, name, "is there twice", "each once")
        elif not UPSTREAMS[name].open and name not in known(registry.credentials):
            message = "is cached with credentials only"
            fix = f"credentials: {{{name}: arn:aws:secretsmanager:…:secret:ecr-pullthroughcache/…}}"
            yield Problem(place, name, message, fix=fix)
    for name, secret in known(registry.credentials).items():
        place = (*at, "credentials", name)
        if name not in cached:
            yield Problem(place, name, "is not cached", ", ".join(cached) or None, "leave it out", spoils=NOTHING)
        elif not lost(secret) and not _SECRET.fullmatch(secret):
            message = "is no ARN of a secret for ECR, whose name begins with ecr-pullthroughcache/"
            yield Problem(place, secret, message, "arn:aws:secretsmanager:REGION:ACCOUNT:secret:ecr-pullthroughcache/…")


def _partition(it: Subject[Access]) -> Iterator[Problem]:
    region, principal = aws.region(it.env), known(it.value.principal)
    wanted, named = partition(region).name, principal.split(":")[1]
    if named != wanted:
        message = f"is in partition {named}, and {region} is in {wanted}"
        yield Problem((*it.at, "principal"), principal, message, f"arn:{wanted}:iam::…")


def _subnets(env: "Environment") -> Iterator[Problem]:
    network, zones = env.cluster.network, aws.zones(env)
    if known(network.vpc) is None:
        return
    at = ("cluster", "network")
    if missing := [zone for zone in zones if zone not in known(network.subnets)]:
        message = f"no subnet is named for {', '.join(missing)}"
        yield Problem((*at, "subnets"), list(network.subnets), message, f"one for each of {', '.join(zones)}")
    places: dict[str, str] = {}
    for key, ids in (("subnets", network.subnets), ("gpuSubnets", network.gpu_subnets)):
        for zone, subnet in known(ids).items():
            if not lost(subnet) and (other := places.setdefault(subnet, zone)) != zone and zone in zones:
                message = f"is the subnet of {other} already, and a subnet is in one zone"
                yield Problem((*at, key, zone), subnet, message, f"a subnet in {zone}", spoils=NOTHING)
            if zone not in zones:
                message = "the cluster has no such zone"
                yield Problem((*at, key, zone), zone, message, ", ".join(zones), nearest(zone, zones), spoils=NOTHING)
