"""The DCGM exporter's settings for each way of sharing GPUs."""

from typing import Any

import pytest

from model import document
from model.environment import Environment
from model.monitoring import exporter
from tests.model.documents import small


def environment(monitoring: Any = None, **pools: Any) -> Environment:
    return document.load(small(monitoring=monitoring or {}, pools=pools or {"train": pool()}))


def pool(sharing: Any = "none") -> dict[str, Any]:
    return {"server": "dgx-h100", "size": 1, "sharing": sharing}


WAYS = {
    "whole": ("none", None, None, False, False),
    "time-slicing": ({"timeSlicing": {"replicas": 4}}, "true", "nvidia.com/gpu.shared", True, False),
    "mps": ({"mps": {"replicas": 8}}, "true", "nvidia.com/gpu.shared", False, False),
    "mig": ({"mig": {"profiles": {"1g.10gb": 7}}}, None, None, False, True),
    "mig-time-slicing": (
        {"mig": {"profiles": {"1g.10gb": 7}, "strategy": "single"}, "timeSlicing": {"replicas": 2}},
        "true",
        "nvidia.com/gpu.shared",
        True,
        True,
    ),
}


@pytest.mark.parametrize("name", WAYS)
def test_attribution_follows_from_the_way_of_sharing(name: str) -> None:
    sharing, virtual, resources, host_pid, cut = WAYS[name]
    (deployment,) = exporter.deployments(environment(train=pool(sharing)))
    assert deployment.name == name
    assert deployment.environment.get("KUBERNETES_VIRTUAL_GPUS") == virtual
    assert deployment.environment.get("NVIDIA_RESOURCE_NAMES") == resources
    assert (deployment.host_pid, deployment.cut) == (host_pid, cut)


def test_mixed_instances_are_known_by_their_names() -> None:
    sharing = {"mig": {"profiles": {"1g.10gb": 3, "3g.40gb": 1}}, "timeSlicing": {"replicas": 2}}
    (deployment,) = exporter.deployments(environment(train=pool(sharing)))
    assert "NVIDIA_RESOURCE_NAMES" not in deployment.environment


def test_pools_that_share_alike_have_one_exporter() -> None:
    pools = {
        "train": pool(),
        "debug": pool(),
        "serve": pool({"timeSlicing": {"replicas": 4}}),
        "notebooks": pool({"timeSlicing": {"replicas": 8}}),
        "system": {"shape": {"cpu": 8, "memory": "32Gi"}, "size": 1},
    }
    assert {it.name: it.pools for it in exporter.deployments(environment(**pools))} == {
        "whole": ("train", "debug"),
        "time-slicing": ("serve", "notebooks"),
    }


def test_only_the_queue_of_a_pod_becomes_a_label() -> None:
    (deployment,) = exporter.deployments(environment())
    assert deployment.environment["DCGM_EXPORTER_KUBERNETES_POD_LABEL_ALLOWLIST_REGEX"] == "^volcano[.]sh/queue-name$"


def test_where_the_gpu_operator_runs_one_there_is_none_of_ours() -> None:
    assert exporter.deployments(document.load(small(devices={"install": "operator"}, pools={"train": pool()}))) == ()
    assert exporter.deployments(environment({"dcgm": "none"})) == ()


@pytest.mark.parametrize(
    ("written", "fix"),
    [
        *(("30", "30s"), ("1m", None), ("0s", None), ("90s", None), ("1.5s", None)),
        *((15, "15s"), (0, None), (90, None), (1.5, None), (True, None), (None, None), ([15], None)),
    ],
)
def test_an_interval_is_whole_seconds_within_what_alerts_can_use(written: Any, fix: str | None) -> None:
    verdict = document.judge(small(monitoring={"dcgm": {"interval": written}}))
    (problem,) = verdict.errors
    assert problem.path == ("monitoring", "dcgm", "interval")
    assert (problem.allowed, problem.fix) == ("1s to 60s", fix)


def test_the_exporter_reads_as_often_as_it_is_asked() -> None:
    env = environment({"dcgm": {"interval": "15s"}})
    assert exporter.interval(env) == 15
    assert exporter.deployments(env)[0].environment["DCGM_EXPORTER_INTERVAL"] == "15000"


def test_labels_for_prometheus_are_labels() -> None:
    labels = {"release": "monitoring", "a b": "x", "team": "in space"}
    verdict = document.judge(small(monitoring={"prometheus": {"labels": labels}}))
    assert [problem.path[-1] for problem in verdict.errors] == ["a b", "team"]
