"""What each scheduler makes of a document: the table is what is rendered, and what it calls refused is refused."""

from typing import Any

import pytest

from model import job_sets, schedulers
from tests.model.documents import Change, drop, environment, errors, only, put, warnings

_FITTING: dict[str, tuple[Change, ...]] = {
    "volcano": (),
    "kueue": (
        drop("queues.research.queues.vision.priority"),
        drop("queues.production.reclaimable"),
        put("queues.production.deserved.cpu", 100),
        put("queues.production.deserved.memory", "1Ti"),
        put("pools.serve.size", 8),
    ),
    "kai": (
        drop("queues.research.guarantee"),
        drop("queues.research.queues.llm.guarantee"),
        drop("queues.production.reclaimable"),
        put("queues.research.capability", {"gpu": 128}),
        put("queues.production", {"deserved": {"gpu": 32}, "capability": {"gpu": 64}}),
        drop("tenants.research.defaultQueue"),
        drop("tenants.production.defaultQueue"),
        drop("ray.clusters.answers"),
        put("pools.serve.sharing", "none"),
    ),
}
"""What has to change in the example, which is for Volcano."""


def fitting(kind: str, *changes: Change) -> tuple[Change, ...]:
    """The changes that make the example one for a scheduler, and more."""
    return (put("scheduler.kind", kind), *_FITTING[kind], *changes)


@pytest.mark.parametrize("kind", _FITTING)
def test_a_document_changes_its_scheduler(kind: str):
    assert not errors(*fitting(kind))
    assert not [path for path in warnings(*fitting(kind)) if path.startswith(("queues", "scheduler", "pools"))]


_JOB: dict[str, Any] = {
    "namespace": "research",
    "queue": "research.llm",
    "pool": "train",
    "image": "nvcr.io/nvidia/pytorch:25.08-py3",
    "command": ["python", "train.py"],
    "framework": "none",
    "workers": {"count": 2, "cpu": 64, "memory": "512Gi", "gpus": 8},
}

_RAY: dict[str, Any] = {
    "namespace": "research",
    "queue": "research.vision",
    "pool": "train",
    "ray": "2.52.0",
    "head": {"cpu": 8, "memory": "32Gi"},
    "workers": {"count": 1, "cpu": 64, "memory": "512Gi", "gpus": 8},
}

_OVERRIDE: dict[str, Any] = {
    "actions": "enqueue, allocate, gangreclaim",
    "tiers": [
        {"plugins": [{"name": "gang"}, {"name": "capacity", "enableHierarchy": True}]},
        {"plugins": [{"name": "predicates"}, {"name": "network-topology-aware"}]},
    ],
}

_ASKED: list[tuple[str, Change | tuple[Change, ...], str]] = [
    ("queues.*.guarantee", put("queues.production.guarantee", {"gpu": 8}), "queues.production.guarantee.gpu"),
    (
        "queues.*.capability: cpu or memory of 0",
        put("queues.research.queues.vision.capability", {"cpu": 0}),
        "queues.research.queues.vision.capability.cpu",
    ),
    (
        "queues.*: other resources than cpu, memory and gpu",
        (
            put("pools.train.fabric", "infiniband"),
            put(("queues", "production", "capability", "rdma/shared_ib"), 8),
        ),
        'queues.production.capability["rdma/shared_ib"]',
    ),
    (
        "queues.*: pods",
        put("queues.production.capability.pods", 100),
        "queues.production.capability.pods",
    ),
    (
        "queues.*: ephemeral-storage",
        put("queues.production.capability", {"gpu": 64, "ephemeral-storage": "1Ti"}),
        "queues.production.capability.ephemeral-storage",
    ),
    ("queues.*.priority", put("queues.production.priority", 3), "queues.production.priority"),
    ("queues.*.priority of a queue with parts", put("queues.research.priority", 3), "queues.research.priority"),
    (
        "queues.*.reclaimable: false of a queue with parts",
        put("queues.research.reclaimable", False),
        "queues.research.reclaimable",
    ),
    ("queues.*.reclaimable: false", put("queues.production.reclaimable", False), "queues.production.reclaimable"),
    ("scheduler.placement", put("scheduler.placement", "spread"), "scheduler.placement"),
    ("scheduler.order", put("scheduler.order", "fair"), "scheduler.order"),
    ("scheduler.reclaim: false", put("scheduler.reclaim", False), "scheduler.reclaim"),
    ("scheduler.preempt: false", put("scheduler.preempt", False), "scheduler.preempt"),
    (
        "scheduler.override",
        put("scheduler.override", _OVERRIDE),
        "scheduler.override",
    ),
    (
        "training.jobs.*.framework: mpi",
        (put("training.jobs.big", _JOB | {"framework": "mpi", "launcher": {"cpu": 2, "memory": "8Gi"}})),
        "training.jobs.big.framework",
    ),
    (
        "training.jobs.*.workers.count: {min, max}",
        put("training.jobs.big", _JOB | {"workers": _JOB["workers"] | {"count": {"min": 2, "max": 4}}}),
        "training.jobs.big.workers.count",
    ),
    (
        "training.jobs: a name of which a pod's would have over 63 characters",
        put(f"training.jobs.{'x' * 50}", _JOB),
        f"training.jobs.{'x' * 50}",
    ),
    (
        "ray.jobs.*.submission: K8sJobMode",
        put("ray.jobs.big", _RAY | {"entrypoint": "python train.py"}),
        "ray.jobs.big.submission",
    ),
    (
        "ray.services.*.upgrade: NewCluster",
        put("ray.services.big", _RAY | {"serve": {"applications": [{"import_path": "app:app"}]}}),
        "ray.services.big.upgrade",
    ),
    (
        "ray.*.workers.count: {min, max}",
        put("ray.clusters.tuning.workers.count", {"min": 2, "max": 4}),
        "ray.clusters.tuning.workers.count",
    ),
    ("tenants.*.defaultQueue", put("tenants.production.defaultQueue", "production"), "tenants.production.defaultQueue"),
    (
        "tenants.*.defaultQueue beside a queue called default",
        (
            put("queues.default", {"capability": {"gpu": 8}}),
            put("tenants.production.queues", ["production", "default"]),
            put("tenants.production.defaultQueue", "production"),
        ),
        "tenants.production.defaultQueue",
    ),
    (
        "a workload on a pool without GPUs beside topology.labels",
        (
            put("ray.clusters.tuning.pool", "system"),
            put("ray.clusters.tuning.workers", {"count": 1, "cpu": 4, "memory": "8Gi", "gpus": 0}),
            drop("ray.clusters.tuning.within"),
        ),
        "ray.clusters.tuning.pool",
    ),
    (
        "topology.racks",
        (
            put("topology", {"racks": {"rack-1": {"pool": "train", "nodes": [f"dgx-{n:02}" for n in range(16)]}}}),
            drop("pools.train.domains"),
        ),
        "topology.racks",
    ),
]
_WARNED: list[tuple[str, Change | tuple[Change, ...], str]] = [
    (
        "queues.*.deserved without the cpu or memory that others deserve",
        put("queues.production.deserved", {"gpu": 32, "memory": "1Ti"}),
        "queues.production.deserved.cpu",
    ),
    ("pools.*.size: {min, max} of GPU nodes", put("pools.serve.size", {"min": 2, "max": 8}), "pools.serve.size"),
    (
        "queues.*.deserved of a queue with parts, none of which deserves any of it",
        put("queues.research.queues", {"llm": {}, "vision": {}}),
        "queues.research.deserved.gpu",
    ),
    (
        "queues.*.guarantee of a queue with parts, none of which is guaranteed any of it",
        drop("queues.research.queues.llm.guarantee"),
        "queues.research.guarantee.gpu",
    ),
    (
        "queues.*.guarantee of a top queue beside scheduler.reclaim: false",
        put("scheduler.reclaim", False),
        "queues.research.guarantee.gpu",
    ),
]


def _feature(key: str) -> schedulers.Feature:
    return next(feature for feature in schedulers.FEATURES if feature.key == key)


@pytest.mark.parametrize("kind", _FITTING)
@pytest.mark.parametrize(("key", "change", "path"), _ASKED, ids=[key for key, _, _ in _ASKED])
def test_what_a_scheduler_cannot_do_is_refused_and_nothing_else(kind: str, key: str, change: Any, path: str):
    changes = change if isinstance(change, tuple) else (change,)
    cell = _feature(key).cell(kind)  # pyright: ignore[reportArgumentType]
    found = errors(*fitting(kind, *changes))
    if isinstance(cell, schedulers.Refused):
        place, problem = only(found)
        assert place == path
        assert cell.why in problem.message
        assert kind in problem.message
    else:
        assert not found


@pytest.mark.parametrize("kind", ["volcano", "kueue"])
@pytest.mark.parametrize(("key", "change", "path"), _WARNED, ids=[key for key, _, _ in _WARNED])
def test_what_serves_less_than_it_seems_is_a_warning(kind: str, key: str, change: Any, path: str):
    cell = _feature(key).cell(kind)  # pyright: ignore[reportArgumentType]
    assert not errors(*fitting(kind, change))
    found = warnings(*fitting(kind, change))
    if isinstance(cell, schedulers.Refused):
        assert list(found) == [path]
        assert cell.why in found[path].message
    else:
        assert path not in found


def test_all_that_is_refused_has_a_case_here():
    refused = {
        feature.key
        for feature in schedulers.FEATURES
        for kind in schedulers.KINDS
        if isinstance(feature.cell(kind), schedulers.Refused)
    }
    assert refused == {key for key, _, _ in [*_ASKED, *_WARNED]}


_SHARED = {"gpu": 64, "nvidia.com/gpu.shared": 64}


@pytest.mark.parametrize(
    ("change", "path", "fix"),
    [
        (put("queues.research.priority", 3), "queues.research.priority", "give it to its parts"),
        (put("queues.research.reclaimable", False), "queues.research.reclaimable", "give it to its parts"),
        (put("queues.production.capability.memory", "0Gi"), "queues.production.capability.memory", "gpu: 0, or a"),
        (put("queues.production.capability.cpu", "0% of train"), "queues.production.capability.cpu", "gpu: 0, or a"),
    ],
)
def test_what_has_no_effect_in_volcano_is_told_with_what_has(change: Change, path: str, fix: str):
    found, problem = only(errors(change))
    assert found == path
    assert (problem.fix or "").startswith(fix)


def test_a_limit_that_is_none_is_not_held_against_others():
    none = put("queues.research.capability.cpu", 0), drop("queues.research.deserved.cpu")
    more = put("queues.research.queues.vision.capability", {"cpu": 8})
    assert list(errors(*none, more)) == ["queues.research.capability.cpu"]
    assert list(errors(none[0])) == ["queues.research.deserved.cpu"], "deserved that contradicts it is enough"


def test_no_gpus_is_a_limit_in_volcano_too():
    assert not errors(put("queues.research.queues.vision", {"capability": {"gpu": 0}}))


def test_of_what_does_not_decide_nothing_needs_to_be_divided():
    """Leaves that deserve GPUs are judged by those alone."""
    assert not warnings(put("queues.research.deserved", {"cpu": 2000, "memory": "16Ti", "gpu": 96}))
    without = put("queues.research", {"deserved": {"cpu": 64}, "capability": _SHARED, "queues": {"llm": {}, "b": {}}})
    assert list(warnings(without)) == ["queues.research.deserved.cpu"]


def test_each_whole_on_the_way_is_told_where_a_share_ends():
    inner = {"deserved": {"gpu": 32}, "queues": {"a": {}, "b": {}}}
    tree = {"deserved": {"gpu": 32}, "capability": _SHARED, "queues": {"inner": inner, "other": {}}}
    change = put("queues", {"research": tree}), put("tenants", {}), put("ray", {})
    assert list(warnings(*change)) == ["queues.research.queues.inner.deserved.gpu"]


@pytest.mark.parametrize("kind", ["kueue", "kai"])
def test_a_range_of_one_number_is_a_fixed_count(kind: str):
    workers = {"count": {"min": 4, "max": 4}, "cpu": 64, "memory": "512Gi", "gpus": 8}
    env = environment(*fitting(kind, put("training.jobs.big", _JOB | {"workers": workers})))
    spec = job_sets.spec(env.training.jobs["big"], {})
    (job,) = spec["replicatedJobs"]
    assert job["template"]["spec"]["parallelism"] == 4
    assert not env.training.jobs["big"].elastic
