"""What Volcano is told."""

import pytest

from model import queues, scheduler_rules, volcano
from tests.model.documents import drop, environment, put


def test_the_scheduler_configuration_keeps_our_own_rules():
    for env in (
        environment(),
        environment(put("topology", {}), drop("pools.train.domains"), drop("ray.clusters.tuning.within")),
    ):
        assert not list(scheduler_rules.problems(volcano.scheduler_configuration(env), deserving=True))


def test_victims_are_chosen_in_one_tier_with_capacity():
    first, second = volcano.scheduler_configuration(environment())["tiers"]
    names = [plugin["name"] for plugin in first["plugins"]]
    assert names == ["priority", "gang", "conformance", "capacity", "resourcequota"]
    assert first["plugins"][3] == {"name": "capacity", "enableHierarchy": True, "enableJobEnqueued": False}
    assert [plugin["name"] for plugin in second["plugins"]] == [
        "predicates",
        "nodeorder",
        "binpack",
        "network-topology-aware",
    ]


def test_gpus_of_all_pools_are_packed():
    packing = volcano.scheduler_configuration(environment())["tiers"][1]["plugins"][2]["arguments"]
    assert packing["binpack.resources"] == "nvidia.com/gpu, nvidia.com/gpu.shared"
    assert packing["binpack.resources.nvidia.com/gpu"] == volcano.GPU_WEIGHT


def test_without_topology_nothing_is_said_of_it():
    env = environment(put("topology", {}), drop("pools.train.domains"), drop("ray.clusters.tuning.within"))
    names = [plugin["name"] for plugin in volcano.scheduler_configuration(env)["tiers"][1]["plugins"]]
    assert "network-topology-aware" not in names
    assert volcano.controller_configuration(env) == {}


def test_a_queue_names_its_parent_and_keeps_amounts_as_written():
    specs = {node.path: volcano.queue_spec(node) for node in queues.flatten(environment())}
    assert specs["research"] == {
        "parent": "root",
        "weight": 1,
        "reclaimable": True,
        "guarantee": {"resource": {"nvidia.com/gpu": "16"}},
        "deserved": {"cpu": "2000", "memory": "16Ti", "nvidia.com/gpu": "96"},
        "capability": {"cpu": "3000", "memory": "24Ti", "nvidia.com/gpu": "128", "nvidia.com/gpu.shared": "64"},
    }
    assert specs["research.vision"]["parent"] == "research"
    assert specs["research.vision"]["priority"] == 5
    assert specs["production"]["reclaimable"] is False


@pytest.mark.parametrize(
    ("queue", "told"),
    [
        ({"deserved": {"cpu": 96, "memory": "1Ti", "gpu": 8}}, {"nvidia.com/gpu": "8"}),
        (
            {"deserved": {"cpu": 96, "gpu": 8, "nvidia.com/gpu.shared": 4}},
            {"nvidia.com/gpu": "8", "nvidia.com/gpu.shared": "4"},
        ),
        ({"deserved": {"memory": "1Ti", "cpu": 96}}, {"cpu": "96"}),
        ({"deserved": {"memory": "1Ti"}}, {"memory": "1Ti"}),
        ({"deserved": {"cpu": 96, "gpu": 8}, "guarantee": {"cpu": 4}}, {"cpu": "96", "nvidia.com/gpu": "8"}),
        ({"deserved": {"cpu": 96, "gpu": 8}, "queues": {"part": {}}}, {"cpu": "96", "nvidia.com/gpu": "8"}),
        ({}, None),
    ],
)
def test_one_kind_of_resource_decides_who_takes_back_from_whom(queue: dict, told: dict | None):
    env = environment(put("queues", {"some": queue}), put("tenants", {}), put("ray", {}))
    spec = volcano.queue_spec(queues.by_path(env)["some"])
    assert spec.get("deserved") == told


def _with(*plugins: dict, actions: str = "enqueue, allocate, backfill") -> dict:
    return {"actions": actions, "tiers": [{"plugins": list(plugins)}]}


@pytest.mark.parametrize(
    ("configuration", "path", "says"),
    [
        (_with({"name": "capacity"}, {"name": "proportion"}), ("tiers",), "capacity and proportion"),
        (
            {
                "actions": "allocate",
                "tiers": [{"plugins": [{"name": "capacity"}]}, {"plugins": [{"name": "proportion"}]}],
            },
            ("tiers",),
            "capacity and proportion",
        ),
        (
            {
                "actions": "allocate",
                "tiers": [
                    {"plugins": [{"name": "drf", "enableHierarchy": True}]},
                    {"plugins": [{"name": "proportion"}]},
                ],
            },
            ("tiers",),
            "drf with enableHierarchy and proportion",
        ),
        (_with(actions="allocate, gangPreempt"), ("actions",), "is no action"),
        (_with(actions="allocate, elect"), ("actions",), "is no action"),
        (_with(actions="allocate, gangreclaim, preempt"), ("actions",), "must not run together"),
        (_with({"name": "gangs"}), ("tiers", 0, "plugins", 0, "name"), "is no plugin"),
        (_with({"name": "gang"}, {"name": "gang"}), ("tiers",), "there twice"),
        (
            _with({"name": "gang", "enablePreemptible": False}),
            ("tiers", 0, "plugins", 0, "enablePreemptible"),
            "no such key",
        ),
        (
            _with({"name": "gang", "enablePreemptable": "no"}),
            ("tiers", 0, "plugins", 0, "enablePreemptable"),
            "true or false",
        ),
        (
            _with({"name": "binpack", "arguments": {"binpack.weight": "10"}}),
            ("tiers", 0, "plugins", 0, "arguments", "binpack.weight"),
            "a whole number",
        ),
        (
            _with({"name": "binpack", "arguments": {"binpack.weight": 10.0}}),
            ("tiers", 0, "plugins", 0, "arguments", "binpack.weight"),
            "a whole number",
        ),
        (
            _with({"name": "binpack", "arguments": {"binpack.weight": True}}),
            ("tiers", 0, "plugins", 0, "arguments", "binpack.weight"),
            "a whole number",
        ),
        (
            _with({"name": "binpack", "arguments": {"binpack.wieght": 1}}),
            ("tiers", 0, "plugins", 0, "arguments", "binpack.wieght"),
            "no such argument",
        ),
        (
            _with({"name": "binpack", "arguments": {"binpack.resources.nvidia.com/gpu": 5}}),
            ("tiers", 0, "plugins", 0, "arguments", "binpack.resources.nvidia.com/gpu"),
            "has no effect",
        ),
        (
            _with({"name": "predicates", "arguments": {"volumebinding.weight": "1"}}),
            ("tiers", 0, "plugins", 0, "arguments", "volumebinding.weight"),
            "a whole number",
        ),
        ({"action": "allocate", "actions": "allocate", "tiers": []}, ("action",), "no such key"),
        (
            {
                "actions": "allocate",
                "tiers": [],
                "configurations": [{"name": "allocate", "arguments": {"maxDomains": 3}}],
            },
            ("configurations", 0, "arguments", "maxDomains"),
            "no such argument",
        ),
        (
            {
                "actions": "allocate, gangreclaim",
                "tiers": [{"plugins": [{"name": "gang"}]}, {"plugins": [{"name": "capacity"}]}],
            },
            ("tiers",),
            "in another tier than capacity",
        ),
        ({"actions": "allocate"}, ("tiers",), "must be given"),
        ({"actions": ["allocate"], "tiers": []}, ("actions",), "must be text"),
        ({"actions": "allocate", "tiers": [3]}, ("tiers", 0), "must be a mapping"),
        ({"actions": "allocate", "tiers": [{"plugins": ["gang"]}]}, ("tiers", 0, "plugins", 0), "must be a mapping"),
        (_with({"nme": "gang"}), ("tiers", 0, "plugins", 0, "name"), "must be given"),
        (_with({"name": "drf", "arguments": None}), ("tiers", 0, "plugins", 0, "arguments"), "must be a mapping"),
    ],
)
def test_configurations_that_volcano_would_take_in_silence(configuration: dict, path: tuple, says: str):
    found = [problem for problem in scheduler_rules.problems(configuration) if problem.severity == "error"]
    assert [problem.path for problem in found] == [path]
    assert says in found[0].message


def test_doubtful_combinations_are_warnings():
    overcommitted = _with({"name": "overcommit"}, actions="enqueue, allocate, preempt")
    assert [problem.severity for problem in scheduler_rules.problems(overcommitted)] == ["warning"]
    shared = _with({"name": "proportion"})
    assert [problem.severity for problem in scheduler_rules.problems(shared, deserving=True)] == ["warning"]
    assert not list(scheduler_rules.problems(shared))


def test_arguments_of_the_right_type_pass():
    configuration = _with(
        {"name": "overcommit", "arguments": {"overcommit-factor": 1.5}},
        {"name": "predicates", "arguments": {"predicate.CacheEnable": "true"}},
        {"name": "tdm", "arguments": {"tdm.revocable-zone.rz1": "10:00-21:00"}},
        {"name": "deviceshare", "arguments": {"deviceshare.VGPUEnable": True}},
    )
    assert not list(scheduler_rules.problems(configuration))
