"""Files of the device plugin: each mistake is told once, at its place."""

from typing import Any

import pytest

from model import device_plugin, devices
from model.problems import spoken
from tests.model.documents import drop, environment
from tests.model.plugin_files import FILES, MISTAKES, Mistake


@pytest.mark.parametrize("name", FILES)
def test_files_that_are_right(name: str):
    assert not list(device_plugin.problems(FILES[name]))


def test_our_own_files_are_right():
    for plan in devices.plans(environment()):
        assert not list(device_plugin.problems(plan.configuration))


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_each_mistake_is_one_error_at_its_place(mistake: Mistake):
    found = [problem for problem in device_plugin.problems(mistake.value) if problem.severity == "error"]
    assert [spoken(problem.path).removeprefix("environment.") for problem in found] == [mistake.at]
    assert mistake.said in found[0].message


@pytest.mark.parametrize("key", ["renameByDefault", "failRequestsGreaterThanOne"])
def test_sharing_that_surprises_is_a_warning(key: str):
    value: dict[str, Any] = Mistake(key, "slices", (drop(f"sharing.timeSlicing.{key}"),), "", "", "").value
    (problem,) = device_plugin.problems(value)
    assert (problem.severity, problem.path) == ("warning", ("sharing", "timeSlicing", key))


def test_several_mistakes_are_told_at_once():
    value = {"flags": {"migStrategy": "double"}, "sharing": {"mps": {"resources": [{"name": "nvidia.com/gpus"}]}}}
    found = [spoken(problem.path) for problem in device_plugin.problems(value) if problem.severity == "error"]
    assert found == [
        "environment.flags.migStrategy",
        "environment.sharing.mps.resources[0].replicas",
        "environment.flags.mpsRoot",
        "environment.sharing.mps.resources[0].name",
    ]
