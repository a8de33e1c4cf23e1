"""An AWS account against a document: what would stop an `up` half-way, or nodes later.

https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html and the pages that the rules name.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from model import agents
from model.pools import Pool
from model.problems import Problem, Subject, answered, each, nearest

from . import addons, quotas, region, reservations, subnets
from .answers import Answers, known

if TYPE_CHECKING:
    from model.environment import Environment

_WITHOUT_EKS = frozenset({"use1-az3", "usw1-az2", "cac1-az3"})
"""Zones in which EKS puts no interface of a control plane (page above, subnet requirements for clusters)."""


def problems(env: "Environment", answers: Answers) -> Iterator[Problem]:
    """All that is wrong with an account for a document; questions without an answer are warnings."""
    rules = (
        _zones, _versions, _addons, _offerings, quotas.shortages, reservations.faults, _subnets, _room, _unanswered,
    )  # fmt: skip
    for rule in rules:
        yield from answered(rule, env, answers)


def _zones(env: "Environment", answers: Answers) -> Iterator[Problem]:
    zones = known(answers.zones)
    if zones is None:
        return
    usable = sorted(name for name, zone in zones.items() if zone.usable and zone.identity not in _WITHOUT_EKS)
    for number, name in enumerate(env.cluster.zones):
        at, there = ("cluster", "zones", number), zones.get(name)
        if there is None:
            message = f"account {answers.account} has no such zone in {region(env)}"
            yield Problem(at, name, message, ", ".join(usable), nearest(name, usable))
        elif there.identity in _WITHOUT_EKS:
            message = f"it is {there.identity}, in which EKS puts no control plane"
            yield Problem(at, name, message, ", ".join(usable), "another zone")
        elif not there.usable:
            message = f"the zone is not open to account {answers.account}, or out of order"
            yield Problem(at, name, message, ", ".join(usable), "another zone, or opt in to its zone group")


def _versions(env: "Environment", answers: Answers) -> Iterator[Problem]:
    versions, at, wanted = known(answers.versions), ("cluster", "kubernetes"), env.cluster.kubernetes
    if versions is None:
        return
    offered = sorted((name for name, state in versions.items() if state != "UNSUPPORTED"), key=_minor)
    if wanted not in offered:
        yield Problem(
            at, wanted, "EKS offers no such version", ", ".join(offered), f'"{offered[-1]}"' if offered else None
        )
    elif versions[wanted] == "EXTENDED_SUPPORT":
        message = "it is in extended support, for which EKS charges extra"
        standard = [name for name in offered if versions[name] == "STANDARD_SUPPORT"]
        yield Problem(at, wanted, message, ", ".join(standard) or None, severity="warning")


def _minor(version: str) -> int:
    return int(version.partition(".")[2])


def _addons(env: "Environment", answers: Answers) -> Iterator[Problem]:
    offered = known(answers.addons)
    if offered is None:
        return
    for addon in (*addons.before_nodes(env), *addons.after_nodes(env)):
        versions = sorted(offered.get(addon.name, ()))
        if addon.version not in versions:
            message = f"EKS offers no such version of {addon.name} for Kubernetes {env.cluster.kubernetes}"
            near = nearest(addon.version, versions)
            fix = f"cluster.addons: {{{addon.name}: {near}}}" if near else None
            at = ("cluster", "addons", addon.name)
            yield Problem(at, addon.version, message, ", ".join(versions[-5:]) or None, fix)


def _offerings(env: "Environment", answers: Answers) -> Iterator[Problem]:
    """Instance types where they are not offered: EC2 would refuse each launch there."""
    if known(answers.offerings) is not None:
        yield from each(("pools",), env.pools, env, lambda it: _offered(it, answers))


def _offered(it: Subject[Pool], answers: Answers) -> Iterator[Problem]:
    instance, there = it.value.instance, known(answers.zones)
    wanted = [zone for zone in subnets.zones(it.env, it.value) if there is None or zone in there]
    if instance is None or not wanted:
        return
    offered = (known(answers.offerings) or {}).get(instance, frozenset())
    missing = [zone for zone in wanted if zone not in offered]
    # Karpenter looks for a zone that has the type; a node group begins nodes in each of its zones.
    if not missing or (it.value.provisioner == "karpenter" and len(missing) < len(wanted)):
        return
    inside = [zone for zone in it.env.cluster.zones if zone in offered]
    at, value = ((*it.at, "zone"), it.value.zone) if it.value.zone and inside else ((*it.at, "instance"), instance)
    message = f"{instance} is not offered in {', '.join(missing)}" + (
        "" if offered else f", nor elsewhere in {region(it.env)}"
    )
    fix = f"zone: {inside[0]}" if inside else "another instance type, or another region"
    yield Problem(at, value, message, ", ".join(sorted(offered)) or None, fix)


def _subnets(env: "Environment", answers: Answers) -> Iterator[Problem]:
    """Subnets of a network that is there already: where they are, and that they are private."""
    found, network = known(answers.subnets), env.cluster.network
    if found is None or network.vpc is None:
        return
    for key, named in (("subnets", network.subnets), ("gpuSubnets", network.gpu_subnets)):
        for zone, name in named.items():
            at, there = ("cluster", "network", key, zone), found.get(name)
            if there is None:
                yield Problem(at, name, f"account {answers.account} has no such subnet in {region(env)}")
            elif wrong := subnets.mismatches(network.vpc, zone, vpc=there.vpc, zone=there.zone, public=there.public):
                yield Problem(at, name, f"it {'; it '.join(wrong)}", f"a private subnet of {network.vpc} in {zone}")


def _room(env: "Environment", answers: Answers) -> Iterator[Problem]:
    """Subnets of a network that is there already, and too small for the nodes that may still come."""
    found = known(answers.subnets)
    if found is None or env.cluster.network.vpc is None:
        return
    coming: dict[str, dict[str, int]] = {}
    for name, pool in env.pools.items():
        zones = subnets.zones(env, pool)
        for zone in zones:
            subnet = subnet_of(env, name, zone)
            ours = sum(
                one.cluster == env.cluster.name and one.subnet == subnet and one.instance == pool.instance
                for one in known(answers.running) or ()
            )
            nodes = max(-(-pool.most // len(zones)) - ours, 0)
            if subnet and nodes:
                taken = coming.setdefault(subnet, {})
                taken[name] = taken.get(name, 0) + nodes * subnets.addresses(pool)
    for subnet, taken in coming.items():
        there, needed = found.get(subnet), sum(taken.values())
        if there is not None and needed > there.free:
            parts = ", ".join(f"{name} {count}" for name, count in taken.items())
            message = f"it has {there.free} free addresses, and nodes that may still come take {needed} ({parts})"
            fix = "a larger subnet, fewer nodes, or a smaller maxPods"
            yield Problem(_where(env, subnet), subnet, message, f"at least {needed} free", fix)


def subnet_of(env: "Environment", pool: str, zone: str) -> str | None:
    """The subnet of a network that is there already in which a pool's nodes of a zone stand."""
    network = env.cluster.network
    own = network.gpu_subnets.get(zone) if pool in agents.gpu_pools(env) else None
    return own or network.subnets.get(zone)


def _where(env: "Environment", subnet: str) -> tuple[str | int, ...]:
    network = env.cluster.network
    for key, named in (("gpuSubnets", network.gpu_subnets), ("subnets", network.subnets)):
        for zone, name in named.items():
            if name == subnet:
                return ("cluster", "network", key, zone)
    return ("cluster", "network")


def _unanswered(env: "Environment", answers: Answers) -> Iterator[Problem]:
    """Questions that AWS would not answer: what they are about stays unchecked."""
    for question in answers.unknown:
        fix = f"allow {question.action} to whoever runs this" if question.denied else None
        message = f"not checked, since {question.action} was refused: {question.reason}"
        yield Problem(("cluster", "provider"), env.cluster.provider, message, fix=fix, severity="warning")
