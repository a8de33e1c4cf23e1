"""`why`: which work is meant, and what its pods ask for."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from cli import explaining, pod_shapes
from cli.refusals import RefusedError
from model.waiting.seen import Group, Pod, Seen, Shape, Workload
from tests.model.documents import environment

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
GPU = "nvidia.com/gpu"


def group(namespace: str, name: str, kind: str = "Job", called: str = "") -> Group:
    return Group(Workload(kind, namespace, name), "research.llm", "Inqueue", 2, name=called or f"{name}-pg")


GROUPS = (
    group("research", "train"),
    group("production", "train"),
    group("research", "tuning", "RayCluster", "ray-tuning-pg"),
    group("production", "tuning"),
    group("research", "alone"),
)
PODS = (Pod("research", "alone-0", "alone-pg", None, {}), Pod("production", "alone-1", "other", None, {}))
SEEN = Seen(NOW, groups=GROUPS, pods=PODS)
KNOWN = (Workload("RayCluster", "research", "tuning"), Workload("Job", "research", "later"))


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("tuning", 2),  # the document's own, though another is called so
        ("research/tuning", 2),
        ("production/tuning", 3),
        ("ray-tuning-pg", 2),
        ("research/train", 0),
        ("production/train", 1),
        ("alone", 4),
        ("alone-pg", 4),
        ("alone-0", 4),
        ("research/alone-0", 4),
    ],
)
def test_work_is_found_by_every_name_that_people_know(name: str, index: int) -> None:
    assert explaining.find(SEEN, name, KNOWN) is GROUPS[index]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("train", "there are several\n  allowed: research/train-pg, production/train-pg"),
        ("later", "job research/later has no PodGroup"),
        ("research/later", "job research/later has no PodGroup"),
        ("alon", "fix: research/alone"),
        ("production/alone", "queues have no such work"),
        ("production/alone-1", "queues have no such work"),
        ("zzz", "allowed: production/train"),
    ],
)
def test_what_is_not_clear_is_asked_back(name: str, says: str) -> None:
    with pytest.raises(RefusedError) as refused:
        explaining.find(SEEN, name, KNOWN)
    assert says in str(refused.value)


def test_the_workloads_of_a_document_are_known_by_their_kinds() -> None:
    assert Workload("RayCluster", "research", "tuning") in explaining.declared(environment())


def container(**requests: str) -> dict[str, Any]:
    return {"resources": {"requests": requests}}


POD: dict[str, Any] = {
    "containers": [container(cpu="2", memory="1Gi"), {"resources": {"limits": {GPU: "8"}}}],
    "initContainers": [
        {**container(cpu="500m"), "restartPolicy": "Always"},
        container(cpu="1", memory="4Gi"),
    ],
    "overhead": {"cpu": "250m"},
}


def test_a_pod_asks_for_what_the_scheduler_counts() -> None:
    assert pod_shapes.requests(POD) == {"cpu": Decimal("2.75"), "memory": Decimal(4 * 1024**3), GPU: Decimal(8)}


def test_pods_that_are_alike_are_one_shape_and_the_most_common_makes_up_the_gang() -> None:
    head, worker = ({"containers": [container(cpu=cpu)]} for cpu in ("8", "96"))
    there = [pod_shapes.shape_of(spec, 1) for spec in (head, worker, worker)]
    for members, expected in ((3, {8: 1, 96: 2}), (5, {8: 1, 96: 4}), (2, {8: 1, 96: 1})):
        found = pod_shapes.shapes(there, members)
        assert {int(shape.asks["cpu"]): shape.count for shape in found} == expected
    assert pod_shapes.shapes([], 3) == ()


@pytest.mark.parametrize(
    ("toleration", "tolerates"),
    [
        ({"key": GPU, "operator": "Exists"}, True),
        ({"operator": "Exists"}, True),
        ({"key": GPU, "value": "true"}, True),
        ({"key": GPU, "value": "true", "operator": "Equal", "effect": "NoSchedule"}, True),
        ({"key": GPU, "value": "false"}, False),
        ({"key": "other", "operator": "Exists"}, False),
        ({"key": GPU, "operator": "Exists", "effect": "PreferNoSchedule"}, False),
    ],
)
def test_tolerations(toleration: dict[str, str], tolerates: bool) -> None:
    shape: Shape = pod_shapes.shape_of({"containers": [], "tolerations": [toleration]}, 1)
    assert shape.tolerates(GPU, "true") is tolerates


@pytest.mark.parametrize(
    ("taints", "ready", "cordoned", "why"),
    [
        ((), True, False, None),
        ((GPU,), True, False, None),
        ((), False, True, "not ready"),
        (("node.kubernetes.io/unschedulable",), True, True, "cordoned"),
        (("node.kubernetes.io/disk-pressure", GPU), True, False, "disk-pressure"),
    ],
)
def test_nodes_that_take_no_pods(taints: tuple[str, ...], ready: bool, cordoned: bool, why: str | None) -> None:
    assert pod_shapes.away(taints, ready=ready, cordoned=cordoned) == why
