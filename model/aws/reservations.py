"""Reservations and capacity blocks as AWS has them, against the pools that name them."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from model.pools import Pool
from model.problems import Problem, Subject, each

from .answers import Answers, Reservation, known
from .shape import written

if TYPE_CHECKING:
    from model.environment import Environment

_COMING = ("scheduled", "pending", "payment-pending", "assessing", "delayed")
_PLATFORM = "Linux/UNIX"
"""What the images of EKS are, Bottlerocket included."""


def faults(env: "Environment", answers: Answers) -> Iterator[Problem]:
    """What keeps pools from the reservations that they name.

    A pool of no nodes wants nothing of its reservation, which may be over.
    """
    found = known(answers.reservations)
    if found is not None:
        yield from each(("pools",), env.pools, env, lambda it: _faults(it, found, answers))


def _faults(it: Subject[Pool], found: Mapping[str, Reservation], answers: Answers) -> Iterator[Problem]:
    capacity, at = it.value.capacity, (*it.at, "capacity")
    if capacity.reservation is None or it.value.most == 0:
        return
    there = found.get(capacity.reservation)
    if there is None:
        usable = sorted(
            name for name, other in found.items() if other.state == "active" and other.instance == it.value.instance
        )
        yield Problem(
            (*at, "reservation"),
            capacity.reservation,
            f"account {answers.account} has no such reservation in this region, and none is shared with it",
            ", ".join(usable) or None,
            "the id that `aws ec2 describe-capacity-reservations` shows",
        )
        return
    if there.state not in ("active", *_COMING):
        message = f"it is {there.state}: no instance starts in it"
        yield Problem((*at, "reservation"), capacity.reservation, message, fix="another one, or size: 0")
        return
    for rule in (_kind, _state, _place, _end, _group, _use):
        yield from rule(it, there)
    yield from _room(it, there, answers)


def _kind(it: Subject[Pool], there: Reservation) -> Iterator[Problem]:
    wanted, kind = it.value.capacity.kind, "block" if there.block else "reservation"
    if wanted != kind:
        named = f"{it.value.capacity.reservation} is a {'capacity block' if there.block else 'capacity reservation'}"
        yield Problem((*it.at, "capacity", "kind"), wanted, named, kind, f"kind: {kind}")


def _state(it: Subject[Pool], there: Reservation) -> Iterator[Problem]:
    if there.state == "active":
        return
    at, name = (*it.at, "capacity", "reservation"), it.value.capacity.reservation
    if it.value.initial > 0:
        when = f" and begins at {written(there.starts)}" if there.starts else ""
        message = f"it is {there.state}{when}; until then none of the pool's {it.value.initial} nodes can be had"
        size = f"size: {{min: 0, max: {it.value.most}}}" if it.value.most else "size: 0"
        yield Problem(at, name, message, fix=f"{size} until it has begun")
    else:
        when = f" until {written(there.starts)}" if there.starts else ""
        yield Problem(at, name, f"it is {there.state}{when}: the pool cannot grow before", severity="warning")


def _place(it: Subject[Pool], there: Reservation) -> Iterator[Problem]:
    name, pool = it.value.capacity.reservation, it.value
    if pool.instance != there.instance:
        at = (*it.at, "instance")
        yield Problem(
            at, pool.instance, f"{name} holds {there.instance}", there.instance, f"instance: {there.instance}"
        )
    if pool.zone != there.zone:
        yield Problem((*it.at, "zone"), pool.zone, f"{name} is in {there.zone}", there.zone, f"zone: {there.zone}")
    at = (*it.at, "capacity", "reservation")
    if there.platform != _PLATFORM:
        yield Problem(at, name, f"it is for {there.platform}, and the nodes run {_PLATFORM}", _PLATFORM)
    if there.tenancy != "default":
        yield Problem(at, name, f"its tenancy is {there.tenancy}, and that of nodes is default", "default")


def _end(it: Subject[Pool], there: Reservation) -> Iterator[Problem]:
    capacity = it.value.capacity
    if there.ends is None:
        return
    ends = written(there.ends)
    if there.block and capacity.ends != there.ends:
        stated = written(capacity.ends) if capacity.ends else None
        message = f"{capacity.reservation} ends at {ends}: nodes would be drained at the wrong time"
        yield Problem((*it.at, "capacity", "ends"), stated, message, ends, f"ends: {ends}")
    if not there.block:
        message = f"it ends at {ends}; its instances run on as on-demand ones then, and new ones cannot be had"
        yield Problem((*it.at, "capacity", "reservation"), capacity.reservation, message, severity="warning")


def _group(it: Subject[Pool], there: Reservation) -> Iterator[Problem]:
    capacity = it.value.capacity
    if capacity.placement_group == there.placement_group:
        return
    at = (*it.at, "capacity", "placementGroup")
    if there.placement_group:
        message = f"{capacity.reservation} was made in placement group {there.placement_group}: only nodes there use it"
        fix = f"placementGroup: {there.placement_group}"
    else:
        message = f"{capacity.reservation} was made in none: nodes in a placement group may find no room in it"
        fix = "leave it out"
    yield Problem(at, capacity.placement_group, message, there.placement_group, fix)


def _use(it: Subject[Pool], there: Reservation) -> Iterator[Problem]:
    if not there.targeted:
        message = "it is open: any instance of its type may take its place, and those of this pool then find none"
        fix = (
            f"aws ec2 modify-capacity-reservation --capacity-reservation-id {it.value.capacity.reservation} "
            "--instance-match-criteria targeted"
        )
        at = (*it.at, "capacity", "reservation")
        yield Problem(at, it.value.capacity.reservation, message, "targeted", fix, severity="warning")


def _room(it: Subject[Pool], there: Reservation, answers: Answers) -> Iterator[Problem]:
    """A reservation that is smaller than its pool, or of which others use a part."""
    name, most, running = it.value.capacity.reservation, it.value.most, known(answers.running)
    if there.state != "active":
        return
    at = (*it.at, "size")
    ours = sum(one.reservation == name and one.cluster == it.env.cluster.name for one in running or ())
    free = there.available + ours
    if most > there.total:
        message = f"{name} has {there.total} instances, and the pool wants {most} at its largest"
        yield Problem(at, most, message, f"at most {there.total}", f"size: {there.total}")
    elif running is not None and most > free:
        message = f"others use {there.total - free} of the {there.total} instances of {name}, so {free} are left"
        yield Problem(at, most, message, f"at most {free}", severity="warning")
