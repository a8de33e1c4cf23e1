"""Bottlerocket's own device plugin is told by its settings what the pool says."""

import tomllib
from typing import Any

import pytest

from catalog import reader as catalog
from model import bottlerocket, images, nodes
from tests.model.documents import environment, errors, only, put

BOTTLEROCKET = put("pools.serve.image", "bottlerocket-nvidia")
SETTINGS = ("settings", "kubelet-device-plugins", "nvidia")


def sharing(plan: Any):
    return put("pools.serve.sharing", plan)


def told(text: str | None) -> Any:
    value: Any = tomllib.loads(text or "")
    for step in SETTINGS:
        value = value[step]
    return value


def test_time_slices():
    env = environment(BOTTLEROCKET)
    assert told(bottlerocket.settings(env, "serve")) == {
        "device-sharing-strategy": "time-slicing",
        "time-slicing": {"replicas": 4, "rename-by-default": True, "fail-requests-greater-than-one": True},
    }
    assert nodes.gpu_resource(env.pools["serve"]) == "nvidia.com/gpu.shared", "the plugin renames as well"


def test_mps():
    assert told(bottlerocket.settings(environment(BOTTLEROCKET, *only_shared({"mps": {"replicas": 8}})), "serve")) == {
        "device-sharing-strategy": "mps",
        "mps": {"replicas": 8, "rename-by-default": True},
    }


def test_instances():
    plan = {"mig": {"profiles": {"1g.10gb": 7}, "strategy": "single"}}
    env = environment(BOTTLEROCKET, *only_shared(plan))
    assert told(bottlerocket.settings(env, "serve")) == {
        "device-partitioning-strategy": "mig",
        "mig": {"profile": {"a100.80gb": "1g.10gb"}},
    }
    assert nodes.gpu_resource(env.pools["serve"]) == "nvidia.com/gpu"
    assert images.plugin_owner(env, "serve") == "image"


def only_shared(plan: Any) -> list[Any]:
    """The pool with this plan, and nothing that speaks of its slices."""

    def silent(value: Any) -> None:
        value["ray"]["clusters"].pop("answers")
        for queue in value["queues"].values():
            for amounts in queue.values():
                if isinstance(amounts, dict):
                    amounts.pop("nvidia.com/gpu.shared", None)

    return [sharing(plan), silent]


def test_nothing_to_set():
    env = environment()
    assert bottlerocket.settings(env, "serve") is None, "another image"
    env = environment(BOTTLEROCKET, *only_shared("none"))
    assert bottlerocket.settings(env, "serve") is None, "whole GPUs"


@pytest.mark.parametrize(
    ("plan", "path"),
    [
        ({"profiles": {"1g.10gb": 7}}, "pools.serve.sharing.mig.strategy"),
        ({"profiles": {"1g.10gb": 4}, "strategy": "single"}, 'pools.serve.sharing.mig.profiles["1g.10gb"]'),
        ({"profiles": {"1g.10gb": 1, "2g.20gb": 3}, "strategy": "mixed"}, "pools.serve.sharing.mig.profiles"),
    ],
)
def test_cuts_that_bottlerocket_does_not_know(plan: Any, path: str):
    found, problem = only(errors(BOTTLEROCKET, *only_shared({"mig": plan})))
    assert found == path
    assert "Bottlerocket" in problem.message


@pytest.mark.parametrize("gpu", [name for name, it in catalog.gpus().items() if it.mig])
def test_each_gpu_that_can_be_cut_is_known_to_bottlerocket_or_refused(gpu: str):
    profile = next(iter(catalog.gpus()[gpu].mig))
    model = put("pools.serve.shape.gpu.model", gpu)
    most = 4 if gpu == "a30" else 7
    plan = {"mig": {"profiles": {profile: most}, "strategy": "single"}}
    changes = [BOTTLEROCKET, model, *only_shared(plan)]
    if found := errors(*changes):
        path, problem = only(found)
        assert path == "pools.serve.sharing"
        assert "Bottlerocket does not cut" in problem.message
        return
    ((name, cut),) = told(bottlerocket.settings(environment(*changes), "serve"))["mig"]["profile"].items()
    assert (name, cut) == (f"{gpu.partition('-')[0]}.{gpu.rpartition('-')[2]}", profile)


def test_a_gpu_whose_name_has_no_memory_is_refused_by_its_name():
    model = put("pools.serve.shape.gpu.model", "a30")
    plan = {"mig": {"profiles": {"1g.6gb": 4}, "strategy": "single"}}
    path, problem = only(errors(BOTTLEROCKET, model, *only_shared(plan)))
    assert (path, problem.value) == ("pools.serve.sharing", "mig")
    assert problem.message == "Bottlerocket does not cut GPUs of the model a30"
