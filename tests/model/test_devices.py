"""The device plugin's configuration, and the agents that must reach each pool."""

from model import agents, devices
from tests.model.documents import add, environment


def test_whole_gpus_have_no_sharing_block():
    assert devices.device_plugin_configuration(environment().pools["train"]) == {
        "version": "v1",
        "flags": {"migStrategy": "none"},
    }


def test_slices_are_renamed_and_handed_out_one_by_one():
    assert devices.device_plugin_configuration(environment().pools["serve"])["sharing"] == {
        "timeSlicing": {
            "renameByDefault": True,
            "failRequestsGreaterThanOne": True,
            "resources": [{"name": "nvidia.com/gpu", "replicas": 4}],
        }
    }


def test_configurations_are_named_by_what_they_do():
    env = environment()
    assert sorted(devices.configurations(env)) == ["time-slicing-4", "whole"]
    assert devices.configuration_name(env.pools["serve"]) == "time-slicing-4"


def test_agents_tolerate_each_taint_once_whatever_its_value():
    env = environment(
        add("pools.train.taints", {"key": "team", "value": "x", "effect": "NoExecute"}),
        add("pools.serve.taints", {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}),
    )
    assert agents.gpu_pools(env) == ("train", "serve")
    assert [(found.key, found.effect) for found in agents.tolerations(env, agents.gpu_pools(env))] == [
        ("nvidia.com/gpu", "NoSchedule"),
        ("team", "NoExecute"),
    ]


def test_a_taint_of_one_team_is_tolerated_where_its_pool_is_meant():
    assert [found.key for found in agents.tolerations(environment(), ["serve"])] == ["team"]
    assert agents.tolerations(environment(), ["system"]) == ()
