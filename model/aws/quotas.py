"""Service quotas of EC2 that bound the vCPUs of nodes: one per family of instance types, and apart for spot.

Codes and names are those of Service Quotas in every region
(https://docs.aws.amazon.com/general/latest/gr/ec2-service.html#limits_ec2).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from catalog import reader as catalog
from model.problems import Path, Problem

from .answers import Answers, Unknown, known

if TYPE_CHECKING:
    from model.environment import Environment

Kind = Literal["on-demand", "spot", "reservation", "block"]


@dataclass(frozen=True, slots=True)
class Quota:
    """One quota, in vCPUs per account and region.

    Attributes:
        code: Its code at Service Quotas.
        name: Its name there.
        families: First letters of the families of instance types that it bounds.
        spot: Whether it bounds spot instances, instead of all others.
    """

    code: str
    name: str
    families: str
    spot: bool


_STANDARD = "acdhimrtz"

QUOTAS: tuple[Quota, ...] = (
    Quota("L-417A185B", "Running On-Demand P instances", "p", spot=False),
    Quota("L-DB2E81BA", "Running On-Demand G and VT instances", "gv", spot=False),
    Quota("L-1216C47A", "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", _STANDARD, spot=False),
    Quota("L-7212CCBC", "All P Spot Instance Requests", "p", spot=True),
    Quota("L-3819A6DF", "All G and VT Spot Instance Requests", "gv", spot=True),
    Quota("L-34B43A08", "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests", _STANDARD, spot=True),
)
"""The quotas of all families in `catalog/instances.yaml`."""


def quota(instance: str, kind: Kind) -> Quota | None:
    """The quota that instances of a type count against; None where none does.

    A reservation counts against the quota of on-demand instances, in use or not
    (https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html, InstanceLimitExceeded); instances in a
    capacity block count against none
    (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html, considerations).

    Args:
        instance: The instance type, such as `p5en.48xlarge`.
        kind: How its capacity is had.
    """
    if kind == "block":
        return None
    spot = kind == "spot"
    return next((each for each in QUOTAS if instance[0] in each.families and each.spot == spot), None)


def asked(env: "Environment") -> tuple[Quota, ...]:
    """The quotas that the pools of a document count against."""
    found = {quota(pool.instance, pool.capacity.kind) for pool in env.pools.values() if pool.instance and pool.most}
    return tuple(each for each in QUOTAS if each in found)


def shortages(env: "Environment", answers: Answers) -> Iterator[Problem]:
    """Quotas that are too small for the pools at their largest, beside what else counts against them.

    It is an error where the nodes to begin with do not fit, or not one node of a pool; else a warning, since the pools
    would grow to the quota and no further.
    """
    for each in asked(env):
        granted = answers.quotas.get(each.code)
        if granted is not None and not isinstance(granted, Unknown):
            yield from _shortage(env, answers, each, granted)


def _shortage(env: "Environment", answers: Answers, bound: Quota, granted: int) -> Iterator[Problem]:
    # What a reservation holds is counted with the reservation, whoever uses it.
    pools = {
        name: (pool, catalog.instances()[pool.instance].cpu)
        for name, pool in env.pools.items()
        if pool.instance and pool.capacity.kind != "reservation" and quota(pool.instance, pool.capacity.kind) == bound
    }
    pools = {name: (pool, cpu) for name, (pool, cpu) in pools.items() if pool.most}
    if not pools:
        return
    held, others = _held(answers, bound), _others(env, answers, bound)
    largest = sum(pool.most * cpu for pool, cpu in pools.values())
    first = sum(max(pool.initial, 1) * cpu for pool, cpu in pools.values())
    if largest + held + others <= granted:
        return
    parts = ", ".join(f"{name} {pool.most} × {cpu}" for name, (pool, cpu) in pools.items())
    beside = f", reservations hold {held}" if held else ""
    beside += f", other instances run with {others}" if others else ""
    whole = f", {largest + held + others} in all" if beside else ""
    message = (
        f"the pools want {largest} vCPUs at their largest ({parts}){beside}{whole}; the quota of account "
        f"{answers.account} for {bound.name} ({bound.code}) is {granted}"
    )
    enough = first + held + others <= granted
    if enough:
        message += ": they will not grow to their largest"
    room = granted - held - others
    fix = (
        "aws service-quotas request-service-quota-increase --service-code ec2 "
        f"--quota-code {bound.code} --desired-value {largest + held + others}"
    )
    at: Path = ("pools", next(iter(pools)), "size") if len(pools) == 1 else ("pools",)
    yield Problem(
        at, largest, message, f"at most {max(room, 0)} vCPUs", fix, severity="warning" if enough else "error", spoils=()
    )


def _held(answers: Answers, bound: Quota) -> int:
    """The vCPUs of the account's reservations, which count against the quota of on-demand instances."""
    if bound.spot:
        return 0
    return sum(
        each.total * catalog.instances()[each.instance].cpu
        for each in (known(answers.reservations) or {}).values()
        if each.state == "active"
        and not each.block
        and each.owner == answers.account
        and each.instance in catalog.instances()
        and quota(each.instance, "reservation") == bound
    )


def _others(env: "Environment", answers: Answers, bound: Quota) -> int:
    """The vCPUs of instances that are none of this cluster's and in no reservation."""
    return sum(
        each.cpu
        for each in known(answers.running) or ()
        if each.cluster != env.cluster.name
        and each.reservation is None
        and quota(each.instance, "spot" if each.spot else "on-demand") == bound
    )
