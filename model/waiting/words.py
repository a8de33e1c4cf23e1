"""How reasons are told."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from model.gpu_requests import is_gpu
from model.quantities import readable

from .seen import Amounts, Group, Seen

Kind = Literal[
    "placed",
    "scheduler",
    "closed",
    "missing",
    "stopped",
    "never",
    "quota",
    "queue",
    "nodes",
    "domain",
    "share",
    "order",
    "next",
]


@dataclass(frozen=True)
class Reason:
    """One thing that keeps a workload waiting.

    Attributes:
        kind: What sort of thing.
        says: What it is, with the numbers.
        details: Who is concerned, a line each.
        fix: What to do about it.
    """

    kind: Kind
    says: str
    details: tuple[str, ...] = ()
    fix: str | None = None


def amounts(found: Amounts, only: Iterable[str] | None = None) -> str:
    """Amounts in words, GPUs first: `64 nvidia.com/gpu, 512 cpu`."""
    names = sorted(found if only is None else only, key=lambda name: (not is_gpu(name), "/" not in name, name))
    return ", ".join(f"{readable(name, found[name])} {name}" for name in names if found.get(name))


def since(now: datetime, then: datetime) -> str:
    """How long ago something was: `40 s`, `12 min`, `3 h`, `5 d`."""
    seconds = max(0, int((now - then).total_seconds()))
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def holders(seen: Seen, groups: Iterable[Group], resources: Iterable[str], most: int = 8) -> tuple[str, ...]:
    """Who holds how much of some resources, the largest first; those beyond the first few only as a number."""
    wanted = tuple(resources)
    rows = [(seen.holds(group), group) for group in groups]
    rows = [(held, group) for held, group in rows if any(held.get(name) for name in wanted)]
    rows.sort(key=lambda row: ([-row[0].get(name, 0) for name in wanted], row[1].workload))
    lines = [
        f"{group.workload}  {amounts(held, wanted)}  queue {group.queue}, priority {group.priority}, "
        f"{since(seen.now, group.created)}"
        for held, group in rows[:most]
    ]
    if len(rows) > most:
        lines.append(f"and {len(rows) - most} more")
    return tuple(lines)
