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
from tests.upstream.mutations import mutate, places
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


_KEYS = sorted({step for file in FILES.values() for place in places(file) for step in place if isinstance(step, str)})


@st.composite
def _mutated(draw: st.DrawFn) -> Any:
    value = copy.deepcopy(FILES[draw(st.sampled_from(sorted(FILES)))])
    for _ in range(draw(st.integers(1, 3))):
        mutate(draw, value, _KEYS)
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
