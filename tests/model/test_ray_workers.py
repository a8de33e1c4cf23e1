"""Workers of Ray clusters: what their pool gives them, and variables that are not theirs to set."""

from typing import Any

import pytest

from tests.model.documents import as_ray, errors, only, put

TUNING = "ray.clusters.tuning"


@pytest.mark.parametrize(
    ("cluster", "changes", "allowed"),
    [
        ("tuning", [], "0 to 8"),
        ("answers", [], "0, 1"),
        ("tuning", [put(f"{TUNING}.pool", "system")], "0"),
        ("tuning", [put("pools.train.server", "dgx-h1000")], "0 to 64"),
    ],
)
def test_how_many_gpus_a_worker_may_have_is_what_its_pool_allows(cluster: str, changes: list[Any], allowed: str):
    found = errors(put(f"ray.clusters.{cluster}.workers.gpus", -1), *changes)
    assert found[f"ray.clusters.{cluster}.workers.gpus"].allowed == allowed


@pytest.mark.parametrize(
    ("fabric", "rdma", "has"),
    [
        ("infiniband", 64, 63),
        ({"kind": "infiniband", "slots": 1}, 2, 1),
        ({"kind": "roce", "mode": "host", "interfaces": ["eth1"], "socketInterface": "bond0"}, 2, 1),
    ],
)
def test_more_tickets_than_a_node_has_are_told_where_they_stand(fabric: Any, rdma: int, has: int):
    path, problem = only(errors(put("pools.train.fabric", fabric), put(f"{TUNING}.workers.rdma", rdma)))
    assert (path, problem.allowed) == (f"{TUNING}.workers.rdma", "0, 1")
    assert problem.message == (
        f"a worker asks for {rdma} of {_rdma_resource(fabric)}, a node of pool train offers {has}"
    )


def _rdma_resource(fabric: Any) -> str:
    return "rdma/host_roce" if "mode" in fabric else "rdma/shared_ib"


@pytest.mark.parametrize("value", ["all", "0", "GPU-1"])
def test_workers_do_not_choose_their_gpus(value: str):
    path, problem = only(errors(put(f"{TUNING}.env", {"NVIDIA_VISIBLE_DEVICES": value})))
    assert (path, problem.value) == (f"{TUNING}.env.NVIDIA_VISIBLE_DEVICES", value)
    assert "not given" in problem.message


def test_the_pipes_of_the_mps_server_are_said_by_the_device_plugin():
    pipes = put("ray.clusters.answers.env", {"CUDA_MPS_PIPE_DIRECTORY": "/tmp/mps", "NVIDIA_VISIBLE_DEVICES": "void"})
    path, problem = only(errors(pipes, put("pools.serve.sharing", {"mps": {"replicas": 4}})))
    assert (path, problem.fix) == ("ray.clusters.answers.env.CUDA_MPS_PIPE_DIRECTORY", "leave it out")
    assert not errors(pipes), "time slicing has no such server"


def test_each_variable_of_gpus_is_told():
    wrong = put("ray.clusters.answers.env", {"CUDA_MPS_PIPE_DIRECTORY": "/tmp/mps", "NVIDIA_VISIBLE_DEVICES": "all"})
    assert set(errors(wrong, put("pools.serve.sharing", {"mps": {"replicas": 4}}))) == {
        "ray.clusters.answers.env.CUDA_MPS_PIPE_DIRECTORY",
        "ray.clusters.answers.env.NVIDIA_VISIBLE_DEVICES",
    }


@pytest.mark.parametrize(
    ("variable", "value", "count", "refused"),
    [
        ("RAY_REDIS_ADDRESS", "redis:6379", 4, True),
        ("REDIS_USERNAME", "ray", 4, True),
        ("REDIS_PASSWORD", "of-a-test", 4, False),
        ("RAY_enable_autoscaler_v2", "1", 4, True),
        ("RAY_enable_autoscaler_v2", "true", 4, True),
        ("RAY_enable_autoscaler_v2", "0", 4, False),
        ("RAY_enable_autoscaler_v2", "1", {"min": 1, "max": 4}, False),
    ],
)
@pytest.mark.parametrize("kind", ["clusters", "jobs", "services"])
def test_variables_that_kuberay_refuses(kind: str, variable: str, value: str, count: Any, refused: bool):
    workers, variables = put(f"ray.{kind}.it.workers.count", count), put(f"ray.{kind}.it.env", {variable: value})
    found = errors(as_ray(kind), workers, variables)
    assert list(found) == ([f"ray.{kind}.it.env.{variable}"] if refused else [])
    assert not refused or (found[f"ray.{kind}.it.env.{variable}"].fix == "leave it out")


def test_a_quota_that_holds_none_of_several_clusters_is_one_mistake():
    quota = put("tenants.research.quota", {"cpu": 1})

    def another(value: dict[str, Any]) -> None:
        clusters = value["ray"]["clusters"]
        clusters["more"] = {**clusters["tuning"], "workers": {**clusters["tuning"]["workers"], "count": 2}}

    path, _ = only(errors(quota))
    assert path == f"{TUNING}.workers.count", "one cluster may be what is too large"
    path, problem = only(errors(quota, another))
    assert (path, problem.value) == ("tenants.research.quota.cpu", "1")
    assert "tuning needs 392 of cpu, more needs 200 of cpu" in problem.message
    path, _ = only(errors(another, put("tenants.research.quota", {"cpu": 391})))
    assert path == f"{TUNING}.workers.count", "the other fits"
