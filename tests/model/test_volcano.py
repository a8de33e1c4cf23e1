"""What Volcano is told."""

from typing import Any

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


def _tiers(actions: str, *tiers: list[Any]) -> dict:
    """A configuration with plugins by name, or with what is said of them."""
    entries = [[{"name": each} if isinstance(each, str) else each for each in tier] for tier in tiers]
    return {"actions": actions, "tiers": [{"plugins": tier} for tier in entries]}


def _sharing(*ways: str) -> dict:
    return {"name": "deviceshare", "arguments": {f"deviceshare.{way}Enable": "true" for way in ways}}


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
            "gang in another tier than capacity: the first tier that finds victims for gangreclaim decides alone",
        ),
        (_tiers("allocate, gangreclaim", ["capacity"], ["gang"]), ("tiers",), "gang in another tier than capacity"),
        (_tiers("gangreclaim", ["gang", "conformance", "proportion"]), ("tiers",), "without capacity gangreclaim"),
        (
            _tiers("reclaim", ["priority", "conformance"], ["capacity"]),
            ("tiers",),
            "conformance in another tier than capacity: the first tier that finds victims for reclaim decides alone",
        ),
        (
            _tiers("reclaim", ["priority", "capacity"], ["pdb", "cdp"]),
            ("tiers",),
            "pdb, cdp in another tier than capacity",
        ),
        (
            _tiers("preempt", ["conformance"], ["priority"]),
            ("tiers",),
            "conformance in another tier than priority: the first tier that finds victims for preempt decides alone",
        ),
        (_tiers("preempt, reclaim", ["conformance", "capacity"]), ("tiers",), "so preempt, reclaim never evicts any"),
        (_tiers("gangpreempt", [{"name": "gang", "enableJobStarving": False}]), ("tiers",), "never evicts any"),
        (_tiers("gangreclaim", ["gangs", "conformance"]), ("tiers", 0, "plugins", 0, "name"), "is no plugin"),
        (
            _with(_sharing("GPUSharing", "GPUNumber")),
            ("tiers", 0, "plugins", 0, "arguments"),
            "the scheduler ends itself",
        ),
        (_with(_sharing("GPUSharing", "VGPU")), ("tiers", 0, "plugins", 0, "arguments"), "only one of them"),
        (_with(_sharing("GPUNumber", "VGPU")), ("tiers", 0, "plugins", 0, "arguments"), "only one of them"),
        (
            _with({"name": "overcommit", "arguments": {"overcommit-factor": 0.9}}),
            ("tiers", 0, "plugins", 0, "arguments", "overcommit-factor"),
            "is taken as 1.2",
        ),
        (
            _with({"name": "overcommit", "arguments": {"overcommit-factor": False}}),
            ("tiers", 0, "plugins", 0, "arguments", "overcommit-factor"),
            "must be a whole number or a number",
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
    for name in ("overcommit", "capacity", "proportion"):
        for actions, switch, count in (
            ("enqueue, allocate, preempt", {}, 1),
            ("enqueue, allocate, preempt", {"enableJobEnqueued": True}, 1),
            ("enqueue, allocate, preempt", {"enableJobEnqueued": False}, 0),
            ("allocate, preempt", {}, 0),
            ("enqueue, allocate", {}, 0),
        ):
            gated = _with({"name": "priority"}, {"name": name, **switch}, actions=actions)
            found = list(scheduler_rules.problems(gated))
            assert [(problem.severity, problem.value) for problem in found] == [("warning", name)] * count
    shared = _with({"name": "proportion"})
    assert [problem.severity for problem in scheduler_rules.problems(shared, deserving=True)] == ["warning"]
    assert not list(scheduler_rules.problems(shared))


@pytest.mark.parametrize(
    ("configuration", "says"),
    [
        (
            _tiers("reclaim", ["gang", "capacity"]),
            "beside capacity gang allows reclaim only pods beyond minAvailable",
        ),
        (_tiers("reclaim", ["gang"], ["capacity"]), "in another tier than capacity gang gives reclaim"),
        (_tiers("preempt", ["priority", "gang"]), "beside priority gang allows preempt only"),
        (_tiers("preempt", ["priority"], ["gang"]), "in another tier than priority gang gives preempt"),
    ],
)
def test_gang_and_the_older_actions_are_doubtful(configuration: dict, says: str):
    [problem] = scheduler_rules.problems(configuration)
    assert problem.severity == "warning"
    assert says in problem.message


_NO_PREEMPT = {"name": "gang", "enablePreemptable": False}
_NO_RECLAIM = {"name": "gang", "enableReclaimable": False}


@pytest.mark.parametrize(
    "configuration",
    [
        _tiers("reclaim", ["priority", _NO_RECLAIM], ["conformance", "pdb", "capacity"]),
        _tiers("preempt", ["priority", _NO_PREEMPT, "conformance"], ["capacity"]),
        # capacity has no say in who is preempted, and priority none in who is reclaimed.
        _tiers("preempt", ["priority", "conformance"], ["capacity"]),
        _tiers("reclaim", ["priority"], ["conformance", "capacity"]),
        _tiers("gangpreempt", ["priority", "gang"], ["conformance"], ["capacity"]),
        _tiers("reclaim", ["priority", {"name": "conformance", "enableReclaimable": False}], ["capacity"]),
        _tiers("allocate", ["conformance"], ["gang"], ["capacity"]),
    ],
)
def test_tiers_in_which_everybody_is_asked_pass(configuration: dict):
    assert not list(scheduler_rules.problems(configuration))


FIT, ARGUMENTS = "resource-strategy-fit", ("tiers", 0, "plugins", 0, "arguments")
"""The scheduler reads nested arguments all or not at all: it ends itself over one of a wrong type (framework.Get)."""


@pytest.mark.parametrize(
    ("plugin", "arguments", "path", "said"),
    [
        (FIT, {"resources": {"cpu": {"weight": "2"}}}, ("resources", "cpu", "weight"), "must be a whole number"),
        (FIT, {"resources": {"cpu": 2}}, ("resources", "cpu"), "must be a mapping"),
        (FIT, {"resources": {"cpu": {"wieght": 2}}}, ("resources", "cpu", "wieght"), "no such argument"),
        (FIT, {"resources": {1: {"weight": 2}}}, ("resources", "1"), "a key must be text"),
        (FIT, {"sra": {"enable": "true"}}, ("sra", "enable"), "must be true or false"),
        (FIT, {"sra": {"resourceWeight": {"cpu": 1.5}}}, ("sra", "resourceWeight", "cpu"), "must be a whole number"),
        (
            FIT,
            {"proportional": {"resourceProportion": {"nvidia.com/gpu.cpu": "4"}}},
            ("proportional", "resourceProportion", "nvidia.com/gpu.cpu"),
            "must be a whole number or a number",
        ),
        ("usage", {"thresholds": {"cpu": "80"}}, ("thresholds", "cpu"), "must be a whole number"),
        ("extender", {"extender.managedResources": ["a/b", 3]}, ("extender.managedResources", 1), "must be text"),
    ],
)
def test_nested_arguments_have_types_too(plugin: str, arguments: dict[str, Any], path: tuple[Any, ...], said: str):
    [problem] = scheduler_rules.problems(_with({"name": plugin, "arguments": arguments}))
    assert problem.path == (*ARGUMENTS, *path)
    assert said in problem.message


def test_arguments_of_the_right_type_pass():
    configuration = _with(
        {"name": "overcommit", "arguments": {"overcommit-factor": 1.5}},
        {
            "name": "resource-strategy-fit",
            "arguments": {
                "resources": {"nvidia.com/gpu": {"type": "MostAllocated", "weight": 2}, "example.com/*": {"weight": 1}},
                "sra": {"enable": True, "resources": "nvidia.com/gpu", "resourceWeight": {"nvidia.com/gpu": 1}},
                "proportional": {"enable": False, "resourceProportion": {"nvidia.com/gpu.cpu": 4.5}},
            },
        },
        {"name": "usage", "arguments": {"thresholds": {"cpu": 80, "mem": 80}}},
        {"name": "predicates", "arguments": {"predicate.CacheEnable": "true"}},
        {"name": "tdm", "arguments": {"tdm.revocable-zone.rz1": "10:00-21:00"}},
        {
            "name": "deviceshare",
            "arguments": {"deviceshare.VGPUEnable": True, "deviceshare.GPUSharingEnable": "false"},
        },
    )
    assert not list(scheduler_rules.problems(configuration))
