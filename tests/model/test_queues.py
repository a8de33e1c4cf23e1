"""Queues: the rules by which Volcano's webhook refuses one, told before anything is created."""

from decimal import Decimal
from typing import Any

import pytest

from model import nodes, queues, quotas, tenants
from model.problems import spoken
from model.quantities import Quantity
from tests.model.documents import Change, drop, environment, errors, only, problems, put, warnings


def _tree(tree: dict[str, Any]) -> Change:
    """A document whose only workloads are queues."""

    def change(value: dict[str, Any]) -> None:
        value["queues"] = tree
        value["tenants"], value["ray"] = {}, {}

    return change


GPU_LIMIT = {"gpu": 128, "nvidia.com/gpu.shared": 128}


def test_the_tree_is_flattened_parents_first():
    env = environment()
    assert [(node.path, node.parent, node.leaf) for node in queues.flatten(env)] == [
        ("research", "root", False),
        ("research.llm", "research", True),
        ("research.vision", "research", True),
        ("production", "root", True),
    ]
    assert queues.leaves(env) == ("research.llm", "research.vision", "production")
    assert [node.path for node in queues.branch(env, "research.llm")] == ["research.llm", "research"]


def test_gpu_is_short_for_the_resource_of_whole_gpus():
    quota = environment().queues["research"].deserved
    assert sorted(quotas.resolved(quota)) == ["cpu", "memory", "nvidia.com/gpu"]


@pytest.mark.parametrize(
    ("queue", "path", "numbers"),
    [
        ({"deserved": {"gpu": 8}, "capability": {"gpu": 4}}, "deserved.gpu", ("8", "4")),
        ({"deserved": {"memory": "4096Gi"}, "capability": {"memory": "4096G"}}, "deserved.memory", ("4096Gi",)),
        ({"guarantee": {"gpu": 8}, "deserved": {"gpu": 4}}, "guarantee.gpu", ("8", "4")),
        ({"guarantee": {"gpu": 8}}, "guarantee.gpu", ("8",)),
        ({"guarantee": {"gpu": 8}, "deserved": {"cpu": 4}}, "guarantee.gpu", ("8",)),
        ({"guarantee": {"nvidia.com/gpu": 8}, "deserved": {"gpu": 4}}, 'guarantee["nvidia.com/gpu"]', ("8", "4")),
    ],
)
def test_guarantee_is_within_deserved_and_deserved_within_capability(queue: dict, path: str, numbers: tuple[str, ...]):
    capability = {**GPU_LIMIT, **queue.get("capability", {})}
    found, problem = only(errors(_tree({"a": {**queue, "capability": capability}})))
    assert found == f"queues.a.{path}"
    assert all(number in problem.message for number in numbers)


def test_a_part_is_capped_by_the_nearest_queue_above_that_says_so():
    tree = {
        "a": {
            "capability": {**GPU_LIMIT, "gpu": 8},
            "queues": {"b": {"queues": {"c": {"capability": {"gpu": 16}}}}, "d": {"capability": {"gpu": 8}}},
        }
    }
    path, problem = only(errors(_tree(tree)))
    assert path == "queues.a.queues.b.queues.c.capability.gpu"
    assert "16" in problem.message
    assert "8 of a" in problem.message


def test_what_nobody_above_limits_is_not_limited():
    tree = {"a": {"queues": {"b": {"capability": {"cpu": 5000}}}, "capability": GPU_LIMIT}}
    assert not errors(_tree(tree))


@pytest.mark.parametrize("kind", ["deserved", "guarantee"])
def test_parts_have_in_sum_what_the_whole_has(kind: str):
    part = {"deserved": {"gpu": 5}, kind: {"gpu": 5}}
    whole = {"deserved": {"gpu": 16}, kind: {"gpu": 8}, "capability": GPU_LIMIT}
    if kind == "deserved":
        whole["deserved"] = {"gpu": 8}
    path, problem = only(errors(_tree({"a": {**whole, "queues": {"b": part, "c": part}}})))
    assert path == f"queues.a.{kind}.gpu"
    assert (problem.value, problem.allowed) == ("8", "at least 10")


@pytest.mark.parametrize("kind", ["deserved", "guarantee"])
def test_each_part_of_a_byte_counts_as_a_whole_one(kind: str):
    part, whole = ({"deserved": {"memory": text}, kind: {"memory": text}} for text in ("1.2Ti", "2.4Ti"))
    whole["deserved"] = {"memory": "3Ti"} if kind == "guarantee" else whole["deserved"]
    tree = {"a": {**whole, "capability": GPU_LIMIT, "queues": {"b": part, "c": part}}}
    path, problem = only(errors(_tree(tree)))
    assert path == f"queues.a.{kind}.memory"
    assert problem.message == (
        f"the parts of a have {kind} 2638827906664 in sum, it has 2.4Ti (2638827906663); "
        "a part of a byte counts as a whole one"
    )
    assert problem.fix == f"{kind}: {{memory: 2638827906664}}"
    tree["a"][kind]["memory"] = "2638827906664"
    assert not errors(_tree(tree))


def test_what_comes_out_even_may_be_all_of_the_whole():
    part = {"deserved": {"memory": "1.5Ti", "cpu": "500m", "gpu": 4}}
    whole = {"deserved": {"memory": "3Ti", "cpu": 1, "gpu": 8}, "capability": GPU_LIMIT}
    assert not errors(_tree({"a": {**whole, "queues": {"b": part, "c": part}}}))


def test_a_whole_that_does_not_say_has_nothing():
    tree = {"a": {"capability": GPU_LIMIT, "queues": {"b": {"deserved": {"gpu": 5}}}}}
    path, problem = only(errors(_tree(tree)))
    assert path == "queues.a.deserved.gpu"
    assert problem.fix == "deserved: {gpu: 5}"


def test_a_whole_names_what_its_parts_name_even_with_nothing():
    tree = {"a": {"capability": GPU_LIMIT, "queues": {"b": {"deserved": {"gpu": 0, "cpu": 0}}}}}
    path, problem = only(errors(_tree(tree)))
    assert (path, problem.fix) == ("queues.a.deserved.gpu", "deserved: {gpu: 0}")


def test_the_root_has_no_sum_to_keep():
    tree = {
        "a": {"deserved": {"gpu": 60}, "capability": GPU_LIMIT},
        "b": {"deserved": {"gpu": 60}, "capability": GPU_LIMIT},
    }
    assert not problems(_tree(tree))


def test_capabilities_of_parts_may_exceed_the_whole_in_sum():
    part = {"capability": {"gpu": 8}}
    tree = {"a": {"capability": {**GPU_LIMIT, "gpu": 8}, "queues": {"b": part, "c": part}}}
    assert not problems(_tree(tree))


def test_what_top_queues_deserve_the_pools_offer_at_their_largest():
    tree = {
        "a": {"deserved": {"gpu": 100}, "capability": GPU_LIMIT},
        "b": {"deserved": {"gpu": 29}, "capability": GPU_LIMIT},
    }
    path, problem = only(errors(_tree(tree)))
    assert path == "queues"
    assert "129" in problem.message
    assert problem.allowed == "at most 128 of nvidia.com/gpu"
    change = put("pools.train.size", {"min": 0, "max": 17})
    assert not errors(_tree(tree), change, drop("pools.train.domains"))


@pytest.mark.parametrize(
    ("resource", "nearest"),
    [
        ("mem", "memory"),
        ("gpus", "gpu"),
        ("CPU", "cpu"),
        ("nvidia.com/gpus", "nvidia.com/gpu"),
        ("amd.com/gpu", "nvidia.com/gpu"),
    ],
)
def test_a_resource_that_nothing_offers_is_told_with_the_nearest(resource: str, nearest: str):
    quota = {**GPU_LIMIT, resource: 4}
    path, problem = only(errors(_tree({"a": {"capability": quota}})))
    assert resource in path
    assert problem.fix == nearest
    assert "nvidia.com/gpu.shared" in (problem.allowed or "")


def test_pods_are_meant_where_they_count():
    quota = put("queues", {"a": {"capability": {**GPU_LIMIT, "pod": 4}}}), put("tenants", {}), put("ray", {})
    assert only(errors(*quota))[1].fix is None
    _, problem = only(errors(*quota, put("scheduler", {"kind": "kueue"})))
    assert problem.fix == "pods"


def test_whole_gpus_are_unknown_where_all_are_shared():
    share = put("pools.train.sharing", {"timeSlicing": {"replicas": 2}})
    path, problem = only(errors(_tree({"a": {"capability": {"gpu": 4, "nvidia.com/gpu.shared": 4}}}), share))
    assert (path, problem.fix) == ("queues.a.capability.gpu", "nvidia.com/gpu.shared")


def test_a_resource_is_named_once():
    path, _ = only(errors(_tree({"a": {"capability": {**GPU_LIMIT, "nvidia.com/gpu": 4}}})))
    assert path == "queues.a.capability.gpu"


@pytest.mark.parametrize(
    ("resource", "amount"), [("gpu", "1500m"), ("pods", "0.5"), ("memory", "512m"), ("memory", 64), ("cpu", "1u")]
)
def test_amounts_that_make_no_sense(resource: str, amount: object):
    quota = {**GPU_LIMIT, resource: amount}
    assert list(errors(_tree({"a": {"capability": quota}}))) == [f"queues.a.capability.{resource}"]


def test_a_leaf_without_a_limit_on_gpus_is_a_warning():
    tree = {"a": {"capability": {"cpu": 8}}, "b": {"capability": GPU_LIMIT, "queues": {"c": {}}}}
    found = problems(_tree(tree))
    assert {problem.severity for problem in found} == {"warning"}
    assert [problem.path for problem in found] == [
        ("queues", "a", "capability", "gpu"),
        ("queues", "a", "capability", "nvidia.com/gpu.shared"),
    ]


def test_the_root_queue_belongs_to_volcano_and_default_is_adopted():
    assert list(errors(put("queues.root", {"capability": GPU_LIMIT}))) == ["queues.root"]
    env = environment(put("queues.default", {"capability": GPU_LIMIT}))
    assert queues.find(env, "default") is not None


def test_a_tree_has_five_levels():
    def nested(depth: int) -> dict[str, Any]:
        return {"q": {"queues": nested(depth - 1)} if depth > 1 else {}}

    deepest = {"a": {"capability": GPU_LIMIT, "queues": nested(4)}}
    assert not errors(_tree(deepest))
    too_deep = {"a": {"capability": GPU_LIMIT, "queues": nested(5)}}
    path, problem = only(errors(_tree(too_deep)))
    assert path == "queues.a.queues.q.queues.q.queues.q.queues.q.queues.q"
    assert problem.allowed == "at most 5 levels"


@pytest.mark.parametrize("priority", [-1, 2**31, "high", 1.5])
def test_priorities_are_whole_and_not_negative(priority: object):
    path = "queues.research.queues.vision.priority"
    assert list(errors(put(path, priority))) == [path]


@pytest.mark.parametrize("name", ["Research", "a.b", "a_b", ""])
def test_queue_names_are_labels(name: str):
    assert len(errors(put(("queues", name), {"capability": GPU_LIMIT}))) == 1


def test_unread_amounts_make_no_sums():
    tree = {
        "a": {
            "deserved": {"gpu": 4},
            "capability": GPU_LIMIT,
            "queues": {"b": {"deserved": {"gpu": "8GB"}}, "c": {"deserved": {"gpu": 8}}},
        }
    }
    assert list(errors(_tree(tree))) == ["queues.a.queues.b.deserved.gpu"]


def test_all_problems_of_queues_can_be_asked_for_alone():
    env = environment(put("queues.production.capability", {"gpu": 64}))
    assert [problem.severity for problem in queues.problems(env)] == ["warning"]


def test_no_warning_where_no_pool_has_gpus():
    no_gpus = _tree({"a": {"capability": {"cpu": 8}}})
    assert not warnings(no_gpus, drop("pools.train"), drop("pools.serve"))


def test_default_stays_a_leaf():
    change = put("queues.default", {"capability": GPU_LIMIT, "queues": {"b": {}}})
    path, problem = only(errors(change))
    assert (path, problem.value) == ("queues.default.queues", "b")
    assert "must stay a leaf" in problem.message
    assert not errors(put("queues.default", {"capability": GPU_LIMIT, "queues": {}}))


@pytest.mark.parametrize(
    ("kinds", "amounts", "says"),
    [
        (
            ("deserved", "capability"),
            ("4096Gi", "4096G"),
            "deserved 4096Gi (4398046511104 bytes) is more than capability 4096G (4096000000000 bytes)",
        ),
        (
            ("guarantee", "deserved"),
            ("2Ti", "2000Gi"),
            "guarantee 2Ti (2199023255552 bytes) is more than deserved 2000Gi (2147483648000 bytes)",
        ),
        (("deserved", "capability"), ("96Ti", "95.5Ti"), "deserved 96Ti is more than capability 95.5Ti"),
    ],
)
def test_amounts_are_told_as_written_and_in_bytes_where_units_differ(
    kinds: tuple[str, str], amounts: tuple[str, str], says: str
):
    queue: dict[str, Any] = {"deserved": {}, "capability": dict(GPU_LIMIT)}
    for kind, amount in zip(kinds, amounts, strict=True):
        queue.setdefault(kind, {})["memory"] = amount
    _, problem = only(errors(_tree({"a": queue})))
    assert (problem.message, problem.allowed) == (says, f"at most {amounts[1]}")


def test_a_capability_over_that_above_is_told_in_bytes_where_units_differ():
    tree = {
        "a": {"capability": {**GPU_LIMIT, "memory": "4096G"}, "queues": {"b": {"capability": {"memory": "4096Gi"}}}}
    }
    _, problem = only(errors(_tree(tree)))
    assert "capability 4096Gi (4398046511104 bytes) is more than capability 4096G (4096000000000 bytes)" in (
        problem.message
    )


def test_what_the_pools_offer_is_told_in_a_unit_that_can_be_read():
    _, problem = only(errors(_tree({"a": {"deserved": {"memory": "120Ti"}, "capability": GPU_LIMIT}})))
    offered = nodes.most_offered(environment())["memory"]
    assert problem.allowed is not None
    told = problem.allowed.removeprefix("at most ").removesuffix(" of memory")
    assert told.endswith("Ti")
    assert f"120Ti of memory in sum, the pools offer at most {told}" in problem.message
    assert offered - Decimal(1024) ** 4 / 10 < Quantity.parse(told).value <= offered


def test_amounts_that_round_to_the_same_are_told_exactly():
    offered = int(nodes.most_offered(environment())["memory"])
    _, problem = only(errors(_tree({"a": {"deserved": {"memory": offered + 1024}, "capability": GPU_LIMIT}})))
    assert f"{offered + 1024} of memory in sum, the pools offer at most {offered}" in problem.message


EFA: list[Change] = [
    put("pools.serve.fabric", "efa"),
    put("pools.serve.shape.nics", {"model": "efa", "count": 4}),
]


@pytest.mark.parametrize(
    ("fabric", "resource", "amount"),
    [
        ([put("pools.train.fabric", "infiniband")], "rdma/shared_ib", 252),
        (EFA, "vpc.amazonaws.com/efa", 8),
        (EFA, "hugepages-2Mi", "5Gi"),
    ],
)
def test_what_pools_offer_for_their_fabric_may_be_limited(fabric: list[Change], resource: str, amount: object):
    limited = put(("queues", "research", "capability", resource), amount)
    quota = put("tenants.production.quota", {resource: amount})
    env = environment(*fabric, limited, quota)
    assert quotas.resolved(env.queues["research"].capability)[resource] == Quantity.parse(str(amount))
    assert tenants.hard(env.tenants["production"]) == {f"requests.{resource}": str(amount)}
    assert set(errors(limited, quota)) == {
        f"queues.research.capability{spoken((resource,)).removeprefix('environment')}",
        f"tenants.production.quota{spoken((resource,)).removeprefix('environment')}",
    }, "no pool has that fabric"


def test_what_was_meant_by_an_unknown_resource_is_not_missing():
    wrong = put("queues.production.capability", {"gpu": 64, "nvidia.com/gpu.sharde": 128})
    path, problem = only({spoken(it.path): it for it in problems(wrong)})
    assert path == 'environment.queues.production.capability["nvidia.com/gpu.sharde"]'
    assert problem.fix == "nvidia.com/gpu.shared"
