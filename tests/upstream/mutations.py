"""Configurations with keys renamed, moved to another level, taken out, or of another value."""

import copy
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import strategies as st

JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 60), st.text(max_size=5), st.just([]), st.just({}),
    st.sampled_from([["x"], [0], {"x": 1}, "4", 2.5, "nvidia.com/gpu", "mixed", "single", "60s"]),
)  # fmt: skip


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all that a value holds."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if at:
        yield at
    for key, inner in items:
        yield from places(inner, (*at, key))


def _at(value: Any, place: tuple[Any, ...]) -> Any:
    for step in place:
        value = value[step]
    return value


def mutate(draw: st.DrawFn, value: Any, keys: Sequence[str]) -> None:
    """Make one mutation in a value.

    Args:
        draw: Hypothesis' own.
        value: What is changed in place.
        keys: Names to give keys, beside misspelt ones.
    """
    found = list(places(value))
    if not found:
        return
    place = draw(st.sampled_from(found))
    holder, last = _at(value, place[:-1]), place[-1]
    change = draw(st.sampled_from(["value", "rename", "move", "remove"]))
    if change == "value" or not isinstance(holder, dict):
        holder[last] = copy.deepcopy(draw(JUNK))
    elif change == "rename":
        holder[draw(st.sampled_from([*keys, f"{last}s", last[:-1], last.upper()]))] = holder.pop(last)
    else:
        taken = holder.pop(last)
        levels = [place for place in [(), *places(value)] if isinstance(_at(value, place), dict)]
        if change == "move":
            _at(value, draw(st.sampled_from(levels)))[last] = taken
