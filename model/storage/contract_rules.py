"""Whether the contract about checkpoints can be kept: tiers that are there, fast enough and large enough."""

from collections.abc import Iterator
from decimal import ROUND_CEILING
from typing import TYPE_CHECKING

from model.durations import told
from model.problems import ABSENT, Path, Problem, answered, known, nearest
from model.quantities import readable

from . import contract, disks, speeds
from .checkpoints import Tier

if TYPE_CHECKING:
    from model.environment import Environment

_AT: Path = ("storage", "checkpoints")
_MINUTE = 60
_MOST_KEPT = 1000
"""Checkpoints of a job. A bound of ours against a slip of the pen."""


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with the contract by itself."""
    yield from answered(_numbers, env)
    yield from answered(_archived_twice, env)


def references(env: "Environment") -> Iterator[Problem]:
    """Tiers and pools that it names and that are not there."""
    for way in ("write", "keep", "archive"):
        yield from answered(_tier, env, way)
    yield from answered(_pool, env)


def limits(env: "Environment") -> Iterator[Problem]:
    """What must agree: the largest job with its pool, the times with each other."""
    if wrong := list(answered(_scratch, env)):
        yield from wrong  # and how many nodes the wrong pool has does not matter
    else:
        yield from answered(_nodes, env)
    for rule in (_unknown, _cadence, _loss):
        yield from answered(rule, env)


def fits(env: "Environment") -> Iterator[Problem]:
    """Checkpoints for which there is no room."""
    yield from answered(_room_kept, env)
    yield from answered(_room_written, env)


def _numbers(env: "Environment") -> Iterator[Problem]:
    it = contract.declared(env)
    if known(it.retain) < 1:
        message = "with none kept there is nothing to go on from"
        yield Problem((*_AT, "retain"), it.retain, message, f"1 to {_MOST_KEPT}", "retain: 2")
    elif it.retain > _MOST_KEPT:
        yield Problem((*_AT, "retain"), it.retain, "is no number of checkpoints to keep", f"1 to {_MOST_KEPT}")
    if it.largest is not None and known(it.largest.nodes) < 1:
        yield Problem((*_AT, "largest", "nodes"), it.largest.nodes, "must be at least 1", "1 or more")


def _archived_twice(env: "Environment") -> Iterator[Problem]:
    it = contract.declared(env)
    if known(it.keep) == "archive" and known(it.archive) is not None:
        message = "checkpoints are kept in the archive, so there is nowhere to carry them on to"
        yield Problem((*_AT, "archive"), it.archive, message, "keep: shared beside it, or none", "leave out archive")


def _tier(env: "Environment", way: str) -> Iterator[Problem]:
    tier = known(getattr(contract.declared(env), way))
    if tier is None or getattr(env.storage, tier) is not None:
        return
    able = {"write": ("scratch", "shared"), "keep": ("shared", "archive"), "archive": ("archive",)}[way]
    there = [name for name in able if getattr(env.storage, name) is not None]
    fix = f"{way}: {there[0]}" if there else f"declare storage.{tier}"
    yield Problem((*_AT, way), tier, f"there is no storage.{tier}", ", ".join(there) or None, fix)


def _pool(env: "Environment") -> Iterator[Problem]:
    largest = contract.declared(env).largest
    if largest is not None and known(largest.pool) not in env.pools:
        fix = nearest(largest.pool, env.pools)
        yield Problem((*_AT, "largest", "pool"), largest.pool, "there is no such pool", ", ".join(env.pools), fix)


def _nodes(env: "Environment") -> Iterator[Problem]:
    largest = contract.declared(env).largest
    if largest is not None and known(largest.nodes) > (most := env.pools[known(largest.pool)].most):
        message = f"pool {largest.pool} has at most {most} nodes"
        yield Problem((*_AT, "largest", "nodes"), largest.nodes, message, f"1 to {most}")


def _scratch(env: "Environment") -> Iterator[Problem]:
    it = contract.declared(env)
    if it.write != "scratch" or it.largest is None or disks.size(env, known(it.largest.pool)) > 0:
        return
    message = f"checkpoints are written to scratch, and nodes of pool {it.largest.pool} have none"
    yield Problem((*_AT, "largest", "pool"), it.largest.pool, message, "a pool with NVMe disks in storage.scratch")


def _unknown(env: "Environment") -> Iterator[Problem]:
    """Speeds without which times are not known, each once."""
    it = contract.declared(env)
    if it.largest is None:
        if it.loss is not None:
            message = "whether it can be kept is not known without the largest job"
            fix = "largest: {size: …, pool: …, nodes: …}"
            yield Problem((*_AT, "loss"), it.loss.text, message, fix=fix, severity="warning")
        return
    steps: dict[Tier, str] = {}
    ways: tuple[tuple[Tier | None, str], ...] = ((it.write, "write"), (it.keep, "keep"), (it.archive, "archive"))
    for tier, step in ways:
        if tier is not None and speeds.of(env, tier, it.largest.nodes) is None:
            steps.setdefault(tier, step)
    for tier, step in steps.items():
        message = f"without it nobody can compute how long it takes to {step} a checkpoint"
        whose = "that a node writes to its disks" if tier == "scratch" else "that all nodes together write to it"
        fix = f"bytes per second {whose}, as measured, such as write: 5G"
        yield Problem(speeds.place(tier), ABSENT, message, fix=fix, severity="warning")


def _cadence(env: "Environment") -> Iterator[Problem]:
    """Every step must be done before the next checkpoint comes to it."""
    it, took = contract.declared(env), contract.times(env)
    ways = (
        (took.write, f"to write to {it.write}"),
        (took.flush, f"from {it.write} to {it.keep}"),
        (took.archive, f"from {it.keep} to the archive"),
    )
    late = {words: seconds for seconds, words in ways if seconds is not None and seconds > took.every}
    if late:
        slow = " and ".join(f"{told(seconds)} {words}" for words, seconds in late.items())
        message = f"the largest checkpoint takes {slow}, so they would pile up"
        least = _text(_up(max(late.values())))
        yield Problem((*_AT, "every"), it.every.text, message, f"at least {least}", f"every: {least}")


def _loss(env: "Environment") -> Iterator[Problem]:
    it, took = contract.declared(env), contract.times(env)
    if it.loss is None:
        return
    parts = {"between two": took.every, "to write": took.write or 0, "until it is kept": took.flush or 0}
    lost = sum(parts.values())
    if lost <= it.loss.seconds:
        return
    follows = " + ".join(f"{told(seconds)} {words}" for words, seconds in parts.items() if seconds)
    message = f"when a node is lost just before a checkpoint is kept, {told(lost)} of work are lost: {follows}"
    longest = max(took.write or 0, took.flush or 0, took.archive or 0, 1)
    every = _down(it.loss.seconds - (lost - took.every))
    fix = f"every: {_text(every)}" if every >= longest else "faster tiers"
    at = (*_AT, "loss")
    yield Problem(at, it.loss.text, message, f"at least {_text(_up(lost))}", fix, spoils=(at, (*_AT, "every")))


def _up(seconds: int) -> int:
    """The next length of time that people would write: whole minutes from one on."""
    return seconds if seconds < _MINUTE else -(-seconds // _MINUTE) * _MINUTE


def _down(seconds: int) -> int:
    return seconds if seconds < _MINUTE else seconds // _MINUTE * _MINUTE


def _text(seconds: int) -> str:
    """It as documents write it, in one unit."""
    unit, size = next((it for it in (("h", 3600), ("m", 60)) if seconds % it[1] == 0), ("s", 1))
    return f"{seconds // size}{unit}"


def _room_kept(env: "Environment") -> Iterator[Problem]:
    """What is kept, and one more, as none goes before the next is complete."""
    it = contract.declared(env)
    if it.largest is None or it.keep != "shared" or env.storage.shared is None:
        return
    size, holds = it.largest.size, env.storage.shared.size.value
    needs, fitting = size.value * (it.retain + 1), int(holds // size.value) - 1
    if needs <= holds:
        return
    message = (
        f"{it.retain + 1} checkpoints of {size}, as none goes before the next is complete, are "
        f"{readable('memory', needs)}; the shared tier holds {readable('memory', holds)}"
    )
    at = (*_AT, "retain")
    if fitting < 1:
        yield Problem(at, it.retain, message, f"a shared tier of at least twice {size}")
    else:
        yield Problem(at, it.retain, message, f"1 to {fitting}", f"retain: {fitting}")


def _room_written(env: "Environment") -> Iterator[Problem]:
    """Each node holds two parts: the one that is being written, and the one that is being carried on."""
    it = contract.declared(env)
    if it.write != "scratch" or it.largest is None:
        return
    holds, part = disks.size(env, known(it.largest.pool)), contract.part(env)
    if holds == 0 or 2 * part <= holds:
        return
    message = (
        f"each of {it.largest.nodes} nodes writes {readable('memory', part)} while the part before is carried on; its "
        f"disks hold {readable('memory', holds)}"
    )
    least = int((2 * it.largest.size.value / holds).to_integral_value(ROUND_CEILING))
    most = env.pools[it.largest.pool].most
    allowed = f"{least} to {most}" if least <= most else "larger disks, or write: shared"
    yield Problem((*_AT, "largest", "nodes"), it.largest.nodes, message, allowed)
