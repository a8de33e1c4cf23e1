"""Ray clusters: what they name, where they fit, what their gang is."""

from typing import Any

import pytest

from model import gangs
from model.quantities import Quantity
from tests.model.documents import as_ray, drop, environment, errors, only, problems, put, rename, warnings

TUNING = "ray.clusters.tuning"


@pytest.mark.parametrize(
    ("queue", "says", "allowed"),
    [
        ("nope", "no such queue", "research.llm, research.vision, production"),
        ("root", "takes no jobs", "research.llm, research.vision, production"),
        ("research", "has parts", "research.llm, research.vision"),
        ("production", "may not use", "research.llm, research.vision"),
        ("research.lm", "no such queue", "research.llm, research.vision, production"),
        ("", "no such queue", "research.llm, research.vision, production"),
    ],
)
def test_a_cluster_goes_to_a_leaf_that_its_tenant_may_use(queue: str, says: str, allowed: str):
    path, problem = only(errors(put(f"{TUNING}.queue", queue)))
    assert path == f"{TUNING}.queue"
    assert says in problem.message
    assert problem.allowed == allowed


@pytest.mark.parametrize(("namespace", "nearest"), [("reserch", "research"), ("kube-system", None)])
def test_a_cluster_lives_in_a_namespace_of_a_tenant(namespace: str, nearest: str | None):
    path, problem = only(errors(put(f"{TUNING}.namespace", namespace)))
    assert (path, problem.fix) == (f"{TUNING}.namespace", nearest)


def test_a_cluster_runs_on_a_pool_that_is_there():
    path, problem = only(errors(put(f"{TUNING}.pool", "tran")))
    assert (path, problem.fix, problem.allowed) == (f"{TUNING}.pool", "train", "system, train, serve")


@pytest.mark.parametrize(
    ("gpus", "pool", "says"),
    [
        (9, "tuning", "offers 8"),
        (-1, "tuning", "must not be negative"),
        (2, "answers", "a container gets one only"),
        (17, "answers", "a container gets one only"),
    ],
)
def test_workers_ask_for_gpus_that_a_node_has(gpus: int, pool: str, says: str):
    path, problem = only(errors(put(f"ray.clusters.{pool}.workers.gpus", gpus)))
    assert path == f"ray.clusters.{pool}.workers.gpus"
    assert says in problem.message


def test_a_pool_without_gpus_gives_none():
    path, problem = only(errors(put("ray.clusters.answers.pool", "system")))
    assert path == "ray.clusters.answers.workers.gpus"
    assert problem.allowed == "0"


@pytest.mark.parametrize(
    ("part", "resource", "amount", "offers"),
    [
        ("workers", "cpu", 224, "223.37"),
        ("workers", "memory", "2Ti", "2062819Mi"),
        ("head", "cpu", "223371m", "223.37"),
        ("head", "memory", "2016Gi", "2062819Mi"),
    ],
)
def test_each_pod_fits_one_node(part: str, resource: str, amount: object, offers: str):
    path, problem = only(errors(put(f"{TUNING}.{part}.{resource}", amount)))
    assert path == f"{TUNING}.{part}.{resource}"
    assert f"offers {offers}" in problem.message
    assert problem.allowed == f"at most {offers}"


def test_the_autoscaler_beside_the_head_is_counted():
    scaled = put(f"{TUNING}.workers.count", {"min": 1, "max": 2})
    assert not errors(scaled, put(f"{TUNING}.head.cpu", "222870m"))
    path, problem = only(errors(scaled, put(f"{TUNING}.head.cpu", "222871m")))
    assert path == f"{TUNING}.head.cpu"
    assert "its autoscaler for 0.5" in problem.message


def test_there_is_one_head():
    path, problem = only(errors(put(f"{TUNING}.head.replicas", 2)))
    assert path == f"{TUNING}.head.replicas"
    assert "workers.count" in problem.message


@pytest.mark.parametrize(
    ("count", "path"),
    [
        ({"min": 5, "max": 2}, "count.min"),
        ({"min": -1, "max": 2}, "count.min"),
        ({"min": 0, "max": -2}, "count.max"),
        (-1, "count"),
        ({"min": 1, "max": 2, "desired": 3}, "count.desired"),
        ({"min": 1, "max": 4, "desired": 2}, "count.desired"),
        (0, "count"),
        ({"min": 0, "max": 0}, "count.max"),
        ({"min": 3, "max": 0}, "count.min"),
        ({}, None),
        ("4", "count"),
    ],
)
def test_numbers_of_workers_make_sense(count: object, path: str | None):
    found = errors(put(f"{TUNING}.workers.count", count))
    if path is None:
        assert sorted(found) == [f"{TUNING}.workers.count.max", f"{TUNING}.workers.count.min"]
    else:
        assert list(found) == [f"{TUNING}.workers.{path}"]


@pytest.mark.parametrize("kind", ["clusters", "jobs", "services"])
@pytest.mark.parametrize(
    ("count", "path", "says", "allowed"),
    [
        (0, "count", "without workers does nothing", "1 or more"),
        ({"min": 0, "max": 0}, "count.max", "without workers does nothing", "1 or more"),
        ({"min": 2, "max": 4, "desired": 3}, "count.desired", "begins with min workers", "min and max"),
    ],
)
def test_all_kinds_of_ray_count_workers_alike(kind: str, count: object, path: str, says: str, allowed: str):
    where, problem = only(errors(as_ray(kind), put(f"ray.{kind}.it.workers.count", count)))
    assert (where, problem.allowed) == (f"ray.{kind}.it.workers.{path}", allowed)
    assert says in problem.message


@pytest.mark.parametrize("key", ["replicas", "size"])
def test_the_number_of_workers_is_called_count(key: str):
    path, problem = only(errors(rename(f"{TUNING}.workers.count", key)))
    assert path == f"{TUNING}.workers.{key}"
    assert problem.fix == "count: …"


@pytest.mark.parametrize(
    ("written", "told", "fix"),
    [
        ({"minReplicas": 2, "maxReplicas": 4}, "minReplicas", "count: {min: 2, max: 4}"),
        ({"replicas": 2, "minReplicas": 2, "maxReplicas": 4}, "minReplicas", "count: {min: 2, max: 4}"),
        ({"count": 4, "minReplicas": 2, "maxReplicas": 4}, "minReplicas", "count: {min: 2, max: 4}"),
        ({"replicas": 2, "maxReplicas": 4}, "maxReplicas", "count: {min: …, max: 4}"),
        ({"minReplicas": 2}, "minReplicas", "count: {min: 2, max: …}"),
        ({"min": 2, "max": 4}, "min", "count: {min: 2, max: 4}"),
    ],
)
def test_bounds_of_the_number_of_workers_are_parts_of_count(written: dict[str, int], told: str, fix: str):
    workers = {"cpu": 96, "memory": "1Ti", "gpus": 8, **written}
    path, problem = only(errors(put(f"{TUNING}.workers", workers)))
    assert (path, problem.value, problem.fix) == (f"{TUNING}.workers.{told}", told, fix)
    assert "a part of count" in problem.message


def test_what_bounds_mean_is_judged_and_what_else_is_missing_is_told():
    workers = {"memory": "1Ti", "gpus": 8, "minReplicas": 2, "maxReplicas": 4}
    found = errors(put(f"{TUNING}.workers", workers))
    assert sorted(found) == [f"{TUNING}.workers.cpu", f"{TUNING}.workers.minReplicas"]
    found = problems(put(f"{TUNING}.workers", {**workers, "cpu": 96, "minReplicas": 5, "maxReplicas": 6}))
    assert any("the gang never fits" in problem.message for problem in found)


def test_a_gang_that_no_rack_holds_is_told_with_both_numbers():
    path, problem = only(errors(put(f"{TUNING}.workers.count", 5)))
    assert (path, problem.value, problem.allowed) == (f"{TUNING}.workers.count", 5, "at most 4 workers")
    assert "needs 5 nodes, a rack of pool train holds 4" in problem.message


def test_a_soft_bound_is_a_warning():
    path, problem = only(warnings(put(f"{TUNING}.workers.count", 5), put(f"{TUNING}.within.mode", "soft")))
    assert path == f"{TUNING}.workers.count"
    assert "a rack of pool train holds 4" in problem.message


def test_a_wider_level_holds_more():
    environment(put(f"{TUNING}.workers.count", 8), put(f"{TUNING}.within.level", "spine"))


def test_a_gang_larger_than_its_pool_at_its_maximum():
    path, problem = only(errors(put(f"{TUNING}.workers.count", 17), drop(f"{TUNING}.within")))
    assert path == f"{TUNING}.workers.count"
    assert "needs 136 of nvidia.com/gpu, queue research may use 128" in problem.message
    assert "needs 17 nodes, pool train holds 16" in problem.message
    assert problem.allowed == "at most 16 workers"


def test_a_gang_larger_than_a_queue_above_it():
    path, problem = only(errors(put("queues.research.capability.cpu", 391), put("queues.research.deserved.cpu", 100)))
    assert path == f"{TUNING}.workers.count"
    assert "needs 392 of cpu, queue research may use 391" in problem.message
    assert problem.allowed == "at most 3 workers"


@pytest.mark.parametrize(
    ("quota", "says", "allowed"),
    [
        ({"gpu": 24}, "needs 32 of nvidia.com/gpu, the quota of namespace research may use 24", "at most 3 workers"),
        ({"pods": 4}, "needs 5 of pods, the quota of namespace research may use 4", "at most 3 workers"),
        ({"cpu": 391}, "needs 392 of cpu", "at most 3 workers"),
    ],
)
def test_a_gang_larger_than_the_quota_of_its_namespace(quota: dict[str, int], says: str, allowed: str):
    path, problem = only(errors(put("tenants.research.quota", quota)))
    assert (path, problem.allowed) == (f"{TUNING}.workers.count", allowed)
    assert says in problem.message


def test_a_quota_counts_the_autoscaler_too():
    scaled = put(f"{TUNING}.workers.count", {"min": 4, "max": 4})
    assert not errors(scaled, put("tenants.research.quota", {"cpu": "392500m"}))
    _, problem = only(errors(scaled, put("tenants.research.quota", {"cpu": 392})))
    assert "needs 392.5 of cpu" in problem.message


def test_a_queue_too_small_for_the_head():
    _, problem = only(errors(put("queues.research.capability.cpu", 7), put("queues.research.deserved.cpu", 7)))
    assert "a smaller head" in (problem.allowed or "")


def test_an_autoscaled_gang_is_its_head_and_minimum():
    change = put(f"{TUNING}.workers.count", {"min": 0, "max": 4})
    path, problem = only(warnings(change))
    assert path == f"{TUNING}.workers.count"
    assert "the head and 0 workers; 4 more" in problem.message
    assert gangs.gang(environment(change), ("ray", "clusters", "tuning")).pods == 1


def test_workers_beyond_what_fits_are_a_warning():
    found = problems(put(f"{TUNING}.workers.count", {"min": 2, "max": 6}))
    found = [problem for problem in found if "at its largest" in problem.message]
    assert [problem.severity for problem in found] == ["warning"]
    assert "needs 6 nodes, a rack of pool train holds 4" in found[0].message


def test_a_level_that_is_not_there():
    path, problem = only(errors(put(f"{TUNING}.within.level", "racks")))
    assert (path, problem.fix, problem.allowed) == (f"{TUNING}.within.level", "rack", "spine, rack")


def test_a_gang_asks_for_what_kuberay_adds_up():
    gang = gangs.gang(environment(), ("ray", "clusters", "tuning"))
    assert gang.pods == 5
    assert gang.min_resources == {
        "cpu": Quantity.parse("392"),
        "memory": Quantity.parse("4128Gi"),
        "nvidia.com/gpu": Quantity.parse("32"),
    }


def test_a_gang_of_a_head_alone_asks_for_no_gpus():
    gang = gangs.gang(environment(put(f"{TUNING}.workers.count", {"min": 0, "max": 4})), ("ray", "clusters", "tuning"))
    assert gang.min_resources == {"cpu": Quantity.parse("8"), "memory": Quantity.parse("32Gi")}


def test_shared_gpus_are_asked_for_by_their_own_name():
    gang = gangs.gang(environment(), ("ray", "clusters", "answers"))
    assert gang.min_resources["nvidia.com/gpu.shared"] == Quantity.parse("6")


CUT = [
    put("pools.serve.sharing", {"mig": {"profiles": {"1g.10gb": 2, "2g.20gb": 1, "3g.40gb": 1}}}),
    drop(("queues", "research", "capability", "nvidia.com/gpu.shared")),
    put("queues.production.deserved", {"nvidia.com/mig-3g.40gb": 8}),
    put("queues.production.capability", {"nvidia.com/mig-3g.40gb": 32}),
]
ONE_KIND = put("pools.serve.sharing", {"mig": {"profiles": {"1g.10gb": 7}}})
WORKERS = "ray.clusters.answers.workers"


def test_a_worker_names_the_instance_that_it_means():
    env = environment(*CUT, put(f"{WORKERS}.profile", "3g.40gb"))
    gang = gangs.gang(env, ("ray", "clusters", "answers"))
    assert gang.min_resources["nvidia.com/mig-3g.40gb"] == Quantity.parse("6")
    assert "nvidia.com/gpu" not in gang.min_resources


def test_on_a_pool_of_several_profiles_it_must():
    path, problem = only(errors(*CUT))
    assert (path, problem.allowed) == (f"{WORKERS}.profile", "1g.10gb, 2g.20gb, 3g.40gb")


def test_instances_of_one_kind_need_no_name():
    quotas = {"nvidia.com/mig-1g.10gb": 28}
    change = [
        ONE_KIND,
        *CUT[1:2],
        put("queues.production.deserved", quotas),
        put("queues.production.capability", quotas),
    ]
    gang = gangs.gang(environment(*change), ("ray", "clusters", "answers"))
    assert gang.min_resources["nvidia.com/mig-1g.10gb"] == Quantity.parse("6")
    assert not errors(*change, put(f"{WORKERS}.profile", "1g.10gb"))


@pytest.mark.parametrize(
    ("profile", "meant"),
    [
        ("1g.10g", "1g.10gb"),
        ("7g.80gb", "1g.10gb"),
        ("mig-3g.40gb", "3g.40gb"),
        ("nvidia.com/mig-1g.10gb", "1g.10gb"),
        ("nvidia.com/mig-3g.40gb.shared", "3g.40gb"),
        ("whole", None),
    ],
)
def test_a_profile_that_the_pool_does_not_have(profile: str, meant: str | None):
    path, problem = only(errors(*CUT, put(f"{WORKERS}.profile", profile)))
    assert (path, problem.allowed) == (f"{WORKERS}.profile", "1g.10gb, 2g.20gb, 3g.40gb")
    assert problem.fix == meant or profile == "7g.80gb"


@pytest.mark.parametrize(("cluster", "gpus"), [("tuning", 8), ("answers", 1), ("tuning", 0)])
def test_a_profile_on_a_pool_that_is_not_cut(cluster: str, gpus: int):
    workers = f"ray.clusters.{cluster}.workers"
    path, problem = only(errors(put(f"{workers}.profile", "1g.10gb"), put(f"{workers}.gpus", gpus)))
    assert (path, problem.fix) == (f"{workers}.profile", "leave out profile")


def test_a_profile_without_a_gpu():
    path, problem = only(errors(*CUT, put(f"{WORKERS}.profile", "3g.40gb"), put(f"{WORKERS}.gpus", 0)))
    assert (path, problem.fix) == (f"{WORKERS}.profile", "gpus: 1")


@pytest.mark.parametrize(
    "plan",
    [
        {"mig": {"profiles": {"1g.10gb": 7}}},
        {"mig": {"profiles": {"1g.10gb": 7}, "strategy": "single"}},
        {"mig": {"profiles": {"1g.10gb": 7}}, "timeSlicing": {"replicas": 2}},
        {"mps": {"replicas": 8}},
        {"timeSlicing": {"replicas": 8}},
    ],
)
def test_a_worker_gets_one_part_of_a_gpu(plan: dict[str, Any]):
    path, problem = only(
        errors(*CUT[1:2], put("queues.production", {}), put("pools.serve.sharing", plan), put(f"{WORKERS}.gpus", 2))
    )
    assert (path, problem.allowed) == (f"{WORKERS}.gpus", "0, 1")
    assert "one" in problem.message


def test_quotas_name_instances_with_the_nearest():
    wrong = put("queues.production.capability", {"nvidia.com/mig-3g.40g": 32})
    path, problem = only(errors(*CUT, put(f"{WORKERS}.profile", "3g.40gb"), wrong))
    assert path == 'queues.production.capability["nvidia.com/mig-3g.40g"]'
    assert problem.fix == "nvidia.com/mig-3g.40gb"


def test_a_gang_of_instances_that_its_queue_does_not_hold():
    small = put("queues.production", {"capability": {"nvidia.com/mig-3g.40gb": 5}})
    path, problem = only(errors(*CUT, put(f"{WORKERS}.profile", "3g.40gb"), small))
    assert path == f"{WORKERS}.count"
    assert "needs 6 of nvidia.com/mig-3g.40gb, queue production may use 5" in problem.message


def test_work_that_spans_nodes_is_not_for_instances():
    rdma = put(f"{WORKERS}.rdma", 1)
    fabric = [
        put("pools.serve.fabric", "infiniband"),
        put("pools.serve.shape.nics", {"model": "connectx-7", "count": 4}),
    ]
    path, problem = only(errors(*CUT, *fabric, put(f"{WORKERS}.profile", "3g.40gb"), rdma))
    assert path == f"{WORKERS}.rdma"
    assert "instances" in problem.message
    assert not errors(*CUT, *fabric, put(f"{WORKERS}.profile", "3g.40gb"), put(f"{WORKERS}.rdma", 0))
