"""What the scheduler shall aim at, and the configuration that follows."""

from typing import Any

import pytest

from model import document, scheduler_rules, volcano
from tests.model.documents import drop, environment, example, put


def configuration(**scheduler: Any) -> dict[str, Any]:
    return volcano.scheduler_configuration(environment(put("scheduler", scheduler)))


def placing(**scheduler: Any) -> dict[str, Any]:
    return {plugin["name"]: plugin for plugin in configuration(**scheduler)["tiers"][1]["plugins"]}


@pytest.mark.parametrize("placement", ["pack", "spread"])
@pytest.mark.parametrize("order", ["priority", "fair"])
@pytest.mark.parametrize("reclaim", [True, False])
@pytest.mark.parametrize("preempt", [True, False])
def test_every_aim_is_a_configuration_without_a_mistake(
    placement: str, order: str, reclaim: bool, preempt: bool
) -> None:
    made = configuration(placement=placement, order=order, reclaim=reclaim, preempt=preempt)
    assert not list(scheduler_rules.problems(made, deserving=True))
    actions = made["actions"].split(", ")
    assert actions[:3] == ["enqueue", "allocate", "backfill"]
    assert ("gangreclaim" in actions, "gangpreempt" in actions) == (reclaim, preempt)


def test_packing_fills_nodes_and_spreading_does_not() -> None:
    assert placing()["binpack"]["arguments"]["binpack.resources.nvidia.com/gpu"] == volcano.GPU_WEIGHT
    assert placing()["nodeorder"]["arguments"] == {
        f"{score}.weight": 0 for score in ("leastrequested", "mostrequested", "balancedresource", "imagelocality")
    }
    spread = placing(placement="spread")
    assert "binpack" not in spread
    assert "arguments" not in spread["nodeorder"]


def test_a_fair_order_asks_for_the_smallest_share_and_chooses_no_victims() -> None:
    assert "drf" not in placing()
    assert placing(order="fair")["drf"] == {"name": "drf", "enablePreemptable": False}


HIERARCHY = {"name": "capacity", "enableHierarchy": True, "enableJobEnqueued": False}
RAW = {
    "actions": "enqueue, allocate",
    "tiers": [
        {"plugins": [{"name": "gang"}, HIERARCHY]},
        {"plugins": [{"name": "predicates"}, {"name": "network-topology-aware"}]},
    ],
}


def test_an_override_is_the_whole_configuration() -> None:
    assert configuration(override=RAW) == RAW


@pytest.mark.parametrize(
    ("scheduler", "path", "says"),
    [
        ({"override": {"actions": "allocate"}}, "scheduler.override.tiers", "must be given"),
        ({"override": {**RAW, "actions": "allocate, gangReclaim"}}, "scheduler.override.actions", "is no action"),
        ({"override": {**RAW, "tiers": [{"plugins": [{"name": "gan"}]}]}}, "plugins.0.name", "is no plugin"),
        ({"override": RAW, "placement": "pack"}, "scheduler.placement", "would have no effect"),
        (
            {"override": {**RAW, "tiers": [{"plugins": [{"name": "gang", 1: 2}]}]}},
            "tiers.0.plugins.0.1",
            "a key must be text",
        ),
        ({"override": 3}, "scheduler.override", "must be a mapping"),
        ({1: 2}, "scheduler.1", "a key must be text"),
        ({"order": "fairly"}, "scheduler.order", "not one of the allowed values"),
    ],
)
def test_one_problem_where_it_stands(scheduler: dict[str, Any], path: str, says: str) -> None:
    [problem] = document.judge(example(put("scheduler", scheduler))).problems
    assert ".".join(map(str, problem.path)).endswith(path)
    assert says in problem.message


def test_reclaiming_for_queues_that_deserve_nothing_is_doubtful() -> None:
    nobody = [drop(f"queues.{name}.deserved") for name in ("research", "production")]
    nobody += [drop(f"queues.research.queues.{name}.deserved") for name in ("llm", "vision")]
    nobody += [drop("queues.research.guarantee"), drop("queues.research.queues.llm.guarantee")]
    [problem] = document.judge(example(*nobody, put("scheduler", {"reclaim": True}))).problems
    assert (problem.severity, problem.path) == ("warning", ("scheduler", "reclaim"))


def override(*plugins: Any, actions: str = "enqueue, allocate") -> dict[str, Any]:
    entries = [{"name": each} if isinstance(each, str) else each for each in plugins]
    return {"override": {"actions": actions, "tiers": [{"plugins": entries}]}}


REST = ("gang", "predicates", "network-topology-aware")
TOLERATION = "predicate.TaintTolerationEnable"


def without(name: str, **switches: Any) -> dict[str, Any]:
    """An override that has all plugins, one of them with switches or arguments."""
    entries = [HIERARCHY, *({"name": each} for each in REST)]
    return override(*(entry | switches if entry["name"] == name else entry for entry in entries))


@pytest.mark.parametrize(
    "entry",
    [
        {"name": "nodegroup", "arguments": {"strict": False}},
        {"name": "nodegroup", "arguments": {"strict": "false"}},
        {"name": "nodegroup", "enablePredicate": False},
    ],
)
def test_groups_of_nodes_may_be_asked_of_queues_that_have_them(entry: dict[str, Any]) -> None:
    assert not document.judge(example(put("scheduler", override(HIERARCHY, *REST, entry)))).errors


def test_a_switch_that_nothing_of_the_document_needs_may_be_off() -> None:
    off = {"predicates": {"enableNodeOrder": False}, "gang": {"enableJobStarving": False, "enableJobReady": True}}
    for name, switches in off.items():
        assert not document.judge(example(put("scheduler", without(name, **switches)))).errors


@pytest.mark.parametrize(
    ("scheduler", "path", "says"),
    [
        (override(*REST), "tiers", "no plugin divides the cluster among queues"),
        (override("capacity", *REST), "tiers", "without enableHierarchy capacity knows no parts"),
        (override({"name": "capacity", "enableHierarchy": False}, *REST), "tiers", "without enableHierarchy"),
        (override(HIERARCHY, "predicates", "network-topology-aware"), "tiers", "without gang pods start one by one"),
        (override(HIERARCHY, "gang", "network-topology-aware"), "tiers", "without predicates nobody looks at taints"),
        (override(HIERARCHY, "gang", "predicates"), "tiers", "no bound holds, not even a hard one: tuning"),
        (override(HIERARCHY, *REST, actions="enqueue, backfill"), "actions", "without allocate nothing is ever placed"),
        (override(HIERARCHY, *REST, actions="gangreclaim"), "actions", "without allocate"),
        (override(HIERARCHY, "proportion", *REST), "tiers", "capacity and proportion both divide"),
        (override("gan", "proportion"), "plugins.0.name", "is no plugin"),  # and nothing more is concluded
        (without("gang", enableJobReady=False), "tiers", "without enableJobReady of gang pods start one by one"),
        (without("predicates", enablePredicate=False), "tiers", "without enablePredicate of predicates nobody looks"),
        (without("predicates", arguments={TOLERATION: False}), "tiers", "whose taints they do not tolerate"),
        (without("predicates", arguments={TOLERATION: "false"}), "tiers", "whose taints they do not tolerate"),
        (without("capacity", enabledAllocatable=False), "tiers", "without enabledAllocatable of capacity queues use"),
        (
            without("network-topology-aware", enabledHyperNodeGradient=False),
            "tiers",
            "without enabledHyperNodeGradient of network-topology-aware no bound holds",
        ),
        (override(HIERARCHY, *REST, "nodegroup"), "tiers", "nodegroup places nothing of queues without affinity"),
        (
            override(HIERARCHY, *REST, {"name": "nodegroup", "arguments": {"enablePreferredOrder": True}}),
            "tiers",
            "nodegroup places nothing of queues without affinity",
        ),
    ],
)
def test_what_an_override_leaves_without_effect(scheduler: dict[str, Any], path: str, says: str) -> None:
    [problem] = [
        each for each in document.judge(example(put("scheduler", scheduler))).problems if each.severity == "error"
    ]
    assert ".".join(map(str, problem.path)).endswith(path)
    assert says in problem.message


def test_proportion_knows_no_parts_of_queues() -> None:
    found = document.judge(example(put("scheduler", override("proportion", *REST)))).problems
    assert any("proportion knows no parts of queues" in problem.message for problem in found)


def test_what_the_document_does_not_have_an_override_need_not_serve() -> None:
    """Flat queues need no hierarchy, no taints no predicates, no bound no topology, no workloads no gang."""
    changes = [
        put("queues", {"a": {"capability": {"gpu": 8, "nvidia.com/gpu.shared": 8}}}),
        put("tenants", {}),
        put("ray", {}),
        *(drop(f"pools.{pool}.taints") for pool in ("train", "serve")),
        put("scheduler", override("capacity", actions="allocate")),
    ]
    assert not document.judge(example(*changes)).problems


def test_our_own_configuration_as_an_override_serves_everything() -> None:
    assert not document.judge(example(put("scheduler", {"override": configuration()}))).errors
