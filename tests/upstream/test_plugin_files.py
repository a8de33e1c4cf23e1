"""The device plugin's own parser takes what we render, as we mean it; what it would drop or die of, we refuse."""

import copy
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model import device_plugin
from model.problems import Problem
from tests.model.plugin_files import FILES, MISTAKES, Mistake
from tests.upstream.parsers import Answer, Request, Upstream

_many = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)


def _read(upstream: Upstream, configuration: Any) -> Answer:
    return upstream.read(Request("device-plugin", yaml.safe_dump(configuration, sort_keys=False)))


def _errors(configuration: Any) -> list[Problem]:
    return [problem for problem in device_plugin.problems(configuration) if problem.severity == "error"]


@pytest.mark.parametrize("name", FILES)
def test_files_that_are_right_count_in_full(upstream: Upstream, name: str):
    assert _read(upstream, FILES[name]).silent


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_mistakes_have_the_effect_that_they_are_told_with(upstream: Upstream, mistake: Mistake):
    found = _read(upstream, mistake.value)
    effect = "ends" if found.error else "warns" if found.warnings else "ignores" if found.ignored else "obeys"
    assert effect == mistake.upstream, found


def _places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [at] if at else []
    for key, inner in items:
        found += _places(inner, (*at, key))
    return found


def _holder(value: Any, place: tuple[Any, ...]) -> Any:
    for step in place:
        value = value[step]
    return value


_KEYS = sorted({step for file in FILES.values() for place in _places(file) for step in place if isinstance(step, str)})
_junk = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 60), st.text(max_size=5), st.just([]), st.just({}),
    st.sampled_from([["x"], [0], {"x": 1}, "4", 2.5, "nvidia.com/gpu", "mixed", "single", "60s"]),
)  # fmt: skip


@st.composite
def _mutated(draw: st.DrawFn) -> Any:
    """A file with one to three keys renamed, moved to another level, taken out, or of another value."""
    value = copy.deepcopy(FILES[draw(st.sampled_from(sorted(FILES)))])
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.sampled_from(_places(value) or [()]))
        if not place:
            continue
        holder, last = _holder(value, place[:-1]), place[-1]
        change = draw(st.sampled_from(["value", "rename", "move", "remove"]))
        if change == "value" or not isinstance(holder, dict):
            holder[last] = copy.deepcopy(draw(_junk))
        elif change == "rename":
            holder[draw(st.sampled_from([*_KEYS, f"{last}s", last[:-1], last.upper()]))] = holder.pop(last)
        else:
            taken = holder.pop(last)
            levels = [place for place in [(), *_places(value)] if isinstance(_holder(value, place), dict)]
            if change == "move":
                _holder(value, draw(st.sampled_from(levels)))[last] = taken
    return value


@_many
@given(configuration=_mutated())
def test_what_upstream_would_drop_or_die_of_is_refused(upstream: Upstream, configuration: Any):
    if _errors(configuration):
        return
    found = _read(upstream, configuration)
    assert found.silent, found
    strategy = "mps" if "mps" in configuration.get("sharing", {}) else "time-slicing"
    assert found.config["strategy"] == (strategy if configuration.get("sharing") else "none")
