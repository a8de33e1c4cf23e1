"""Numbers of nodes or workers: fixed, or a range under an autoscaler."""

from collections.abc import Iterator
from typing import Annotated

from .base import Declared, Mapped, Plain, PlainOrMapped
from .problems import Path, Problem, answered


class Size(Declared):
    """A number of nodes or workers that an autoscaler may change."""

    min: int
    """Lowest number, >= 0."""
    max: int
    """Highest number, >= min."""
    desired: int | None = None
    """Number to begin with, between min and max; `min` when left out. Afterwards it belongs to the autoscaler."""


Count = Annotated[Annotated[int, Plain] | Annotated[Size, Mapped], PlainOrMapped]
"""A fixed number, or a range under an autoscaler."""

MOST_RESTARTS = 2**31 - 2
"""Operators add one to what they are told, in an int32: Volcano's `maxRetry`, KubeRay's `backoffLimit`
(ray-operator/controllers/ray/rayjob_controller.go, checkBackoffLimitAndUpdateStatusIfNeeded)."""


def fewest(count: int | Size) -> int:
    """The lower end of a number."""
    return count.min if isinstance(count, Size) else count


def initial(count: int | Size) -> int:
    """Where a number begins: `desired`, or the lower end."""
    if isinstance(count, Size):
        return count.min if count.desired is None else count.desired
    return count


def most(count: int | Size) -> int:
    """The upper end of a number."""
    return count.max if isinstance(count, Size) else count


def count_problems(at: Path, count: int | Size, limit: int) -> Iterator[Problem]:
    """What is wrong with a number or range of at most a limit."""
    if not isinstance(count, Size):
        yield from bounded(at, count, limit)
        return
    ends = (("min", count.min), ("max", count.max))
    found = [problem for key, end in ends for problem in answered(bounded, (*at, key), end, limit)]
    yield from found
    if found:
        return
    if count.min > count.max:
        message = f"min {count.min} is more than max {count.max}"
        yield Problem((*at, "min"), count.min, message, f"at most {count.max}", spoils=(at,))
    elif count.desired is not None and not count.min <= count.desired <= count.max:
        message = f"desired {count.desired} is not between min {count.min} and max {count.max}"
        yield Problem((*at, "desired"), count.desired, message, f"{count.min} to {count.max}", spoils=(at,))


def bounded(at: Path, number: int, limit: int) -> Iterator[Problem]:
    """What is wrong with a number of at least none and at most a limit."""
    if number < 0:
        yield Problem(at, number, "must not be negative", f"0 to {limit}")
    elif number > limit:
        yield Problem(at, number, f"is more than {limit}, the most there can be", f"0 to {limit}")
