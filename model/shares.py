"""Amounts of queues that are written as a share of a pool: `50% of train`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from . import nodes
from .problems import LOST, Path, Problem, Unanswerable, lost, nearest
from .quantities import BYTES, EXAMPLES, PATTERN, Quantity, readable, written
from .quotas import UNCOUNTED, resource_name

if TYPE_CHECKING:
    from .environment import Environment

_GRAMMAR = r"([0-9]+(?:\.[0-9]+)?)% of ([a-z0-9](?:[a-z0-9-]*[a-z0-9])?)"
_SHARE = re.compile(_GRAMMAR)
_KINDS = ("guarantee", "deserved", "capability")


@dataclass(frozen=True, eq=False)
class Share(Quantity):
    """A share of what a pool offers at its largest. Its value is unknown, and 0, until `settled` knows the pools.

    Attributes:
        percent: How much, from 0 to 100.
        pool: Of which pool.
    """

    percent: Decimal = Decimal(0)
    pool: str = ""


def _read(value: Any) -> Any:
    if not isinstance(value, str) or "%" not in value:
        return value
    match = _SHARE.fullmatch(value)
    if match is None:
        amount = re.match(r"\s*([0-9]+(?:\.[0-9]+)?)\s*%", value)
        fix = f"{amount[1]}% of POOL" if amount else None
        context = {"reason": "is no share of a pool", "allowed": "a share such as 50% of train", "fix": fix}
        raise PydanticCustomError("rule", "{reason}", context)
    percent = Decimal(match[1])
    if percent > 100:
        context = {"reason": "is more than the whole pool", "allowed": "at most 100%", "fix": None}
        raise PydanticCustomError("rule", "{reason}", context)
    return Share(Decimal(0), value, percent, match[2])


Amount = Annotated[
    Quantity,
    BeforeValidator(_read),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0},
                {"type": "string", "pattern": f"^{PATTERN}$"},
                {"type": "string", "pattern": f"^{_GRAMMAR}$"},
            ],
            "description": f"{EXAMPLES[0].upper()}{EXAMPLES[1:]}, or a share of a pool such as 50% of train.",
        }
    ),
]
"""An amount, or a share of a pool."""


def settled(env: "Environment") -> tuple[dict[Path, Quantity], list[Problem]]:
    """What the shares of an environment amount to, by their places, and those that amount to nothing exact.

    Cores and bytes are rounded down, to a thousandth of a core and to a byte: the parts of a whole stay within it. A
    share whose pool could not be read is `LOST`.
    """
    found: dict[Path, Quantity] = {}
    problems: list[Problem] = []
    for at, name, share in _shares(env.queues, ("queues",)):
        try:
            answer = _amount(env, at, name, share)
        except Unanswerable:
            answer = None
        if isinstance(answer, Problem):
            problems.append(answer)
        found[at] = answer if isinstance(answer, Quantity) else LOST
    return found, problems


def _shares(queues: Any, at: Path) -> Iterator[tuple[Path, str, Share]]:
    if lost(queues):
        return
    for name, queue in queues.items():
        if lost(queue):
            continue
        for kind in _KINDS:
            quota = getattr(queue, kind)
            for resource, amount in () if lost(quota) else quota.items():
                if isinstance(amount, Share):
                    yield (*at, name, kind, resource), resource, amount
        yield from _shares(queue.queues, (*at, name, "queues"))


def _amount(env: "Environment", at: Path, name: str, share: Share) -> Quantity | Problem:
    resource, pools = resource_name(name), env.pools
    if share.pool not in pools:
        meant = nearest(share.pool, pools)
        fix = f"{share.percent}% of {meant}" if meant else None
        return Problem(at, share.text, f"there is no pool {share.pool}", ", ".join(pools), fix)
    each = nodes.offered(env, share.pool).get(resource)
    if each is None:
        having = [pool for pool in pools if not lost(pools[pool]) and resource in nodes.offered(env, pool)]
        if resource == UNCOUNTED:
            return Problem(at, share.text, f"no pool says how much {resource} it has", "an amount such as 1Ti")
        if not having:
            raise Unanswerable  # that the name means nothing is told once, where names are judged
        return Problem(at, share.text, f"pool {share.pool} offers no {resource}", ", ".join(having))
    whole = each * pools[share.pool].most
    exact = whole * share.percent / 100
    unit = Decimal("0.001") if resource == "cpu" else Decimal(1)
    below = exact // unit * unit
    # A part of a byte is nothing that anyone could miss, a part of a GPU is one that somebody does not get.
    if below == exact or resource == "cpu" or resource in BYTES:
        return Quantity.parse(written(resource, below))
    least, most = (written(resource, amount) for amount in (below, below + unit))
    message = (
        f"{share.percent}% of the {readable(resource, whole)} of {resource} that pool {share.pool} offers at its "
        f"largest is {exact.normalize():f}, between {least} and {most}"
    )
    return Problem(at, share.text, message, f"a share that comes out even, or {least}, or {most}", least)
