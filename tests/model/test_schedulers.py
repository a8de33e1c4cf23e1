"""What each scheduler makes of a document: the table is what is rendered, and what it calls refused is refused."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings

from model import job_sets, kai, kueue, nodes, queues, quotas, schedulers, volcano
from model.environment import Environment
from model.quantities import Quantity
from tests.model.documents import Change, drop, environment, errors, only, put, warnings
from tests.model.generated_queues import trees

Amounts = dict[str, Decimal]
GPU = nodes.GPU


def _document(kind: str, tree: Mapping[str, Any]) -> Environment:
    def change(value: dict[str, Any]) -> None:
        value["scheduler"], value["queues"] = {"kind": kind}, tree
        value["tenants"], value["ray"] = {}, {}

    return environment(change)


# What each back end was told, read back as the table says.


def _from_volcano(env: Environment) -> Iterator[tuple[str, dict[str, Amounts]]]:
    for node in queues.flatten(env):
        spec = volcano.queue_spec(node)
        kinds = spec | {"guarantee": spec.get("guarantee", {}).get("resource", {})}
        yield node.path, {kind: _read(kinds.get(kind, {})) for kind in ("guarantee", "deserved", "capability")}


def _read(amounts: Mapping[str, str]) -> Amounts:
    return {name: Quantity.parse(amount).value for name, amount in amounts.items()}


def _quotas(env: Environment, node: queues.QueueNode) -> dict[str, Amounts]:
    spec = kueue.cluster_queue_spec(env, node) if node.leaf else kueue.cohort_spec(env, node)
    groups = spec.get("resourceGroups", [{"flavors": [{"resources": []}]}])
    return {
        quota["name"]: _read({kind: amount for kind, amount in quota.items() if kind != "name"})
        for quota in groups[0]["flavors"][0]["resources"]
    }


def _from_kueue(env: Environment) -> Iterator[tuple[str, dict[str, Amounts]]]:
    deserved: dict[str, Amounts] = {}
    for node in reversed(queues.flatten(env)):
        told, parts = _quotas(env, node), [part.path for part in queues.flatten(env) if part.parent == node.path]
        found: dict[str, Amounts] = {"guarantee": {}, "deserved": {}, "capability": {}}
        for name in kueue.governed(env):
            amount = told[name]
            found["deserved"][name] = amount["nominalQuota"] + sum(deserved[part][name] for part in parts)
            if "borrowingLimit" in amount:
                found["capability"][name] = found["deserved"][name] + amount["borrowingLimit"]
            if "lendingLimit" in amount:
                found["guarantee"][name] = found["deserved"][name] - amount["lendingLimit"]
        deserved[node.path] = found["deserved"]
        yield node.path, found


def _from_kai(env: Environment) -> Iterator[tuple[str, dict[str, Amounts]]]:
    units = {"cpu": (Decimal("0.001"), "cpu"), "memory": (Decimal(10**6), "memory"), GPU: (Decimal(1), "gpu")}
    for node in queues.flatten(env):
        told = kai.queue_spec(node)["resources"]
        quota = {name: Decimal(repr(told[key]["quota"])) * unit for name, (unit, key) in units.items()}
        limit = {name: Decimal(repr(told[key]["limit"])) * unit for name, (unit, key) in units.items()}
        yield (
            node.path,
            {
                "deserved": quota,
                "capability": {name: amount for name, amount in limit.items() if amount >= 0},
            },
        )


def _same(found: Mapping[str, Amounts], quota: Mapping[str, Quantity], kind: str) -> bool:
    written = {name: amount.value for name, amount in quotas.resolved(dict(quota)).items()}
    if kind == "capability":  # 0 is a limit, absence is none
        return found[kind] == written
    return {name: amount for name, amount in found[kind].items() if amount} == {
        name: amount for name, amount in written.items() if amount
    }


@settings(max_examples=60, deadline=None)
@given(trees())
def test_three_renderings_of_a_tree_say_the_same(tree: dict[str, Any]):
    for kind, read_back in (("volcano", _from_volcano), ("kueue", _from_kueue)):
        env = _document(kind, tree)
        for path, found in read_back(env):
            node = queues.by_path(env)[path]
            written = {amounts: getattr(node.queue, amounts) for amounts in ("guarantee", "deserved", "capability")}
            if kind == "volcano" and node.leaf:
                written["deserved"] = volcano.claimed(node.queue)
            for amounts, quota in written.items():
                assert _same(found, quota, amounts), (kind, path, amounts)
    env = _document("kai", _without(tree, "guarantee"))
    for path, found in _from_kai(env):
        queue = queues.by_path(env)[path].queue
        assert all(_same(found, getattr(queue, amounts), amounts) for amounts in ("deserved", "capability")), path


def _without(tree: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {
        name: {kind: _without(of, key) if kind == "queues" else of for kind, of in queue.items() if kind != key}
        for name, queue in tree.items()
    }


class _Node:
    """Kueue's own arithmetic of one resource (pkg/cache/scheduler/resource_node.go, release 0.17)."""

    def __init__(self, quota: Mapping[str, Decimal], parent: "_Node | None") -> None:
        self.quota, self.parent, self.parts = quota, parent, list["_Node"]()
        if parent:
            parent.parts.append(self)

    @property
    def subtree(self) -> Decimal:
        return self.quota.get("nominalQuota", Decimal(0)) + sum(part.subtree - part.local for part in self.parts)

    @property
    def local(self) -> Decimal:
        lending = self.quota.get("lendingLimit")
        return Decimal(0) if lending is None else max(Decimal(0), self.subtree - lending)

    @property
    def potential(self) -> Decimal:
        if self.parent is None:
            return self.subtree
        available, limit = self.local + self.parent.potential, self.quota.get("borrowingLimit")
        return available if limit is None else min(self.subtree + limit, available)


@settings(max_examples=60, deadline=None)
@given(trees())
def test_kueue_keeps_what_is_guaranteed_and_lends_what_is_left(tree: dict[str, Any]):
    """By Kueue's arithmetic a queue that is alone gets all there is, less what is kept for others, up to its limits."""
    env = _document("kueue", tree)
    root = kueue.root_spec(env).get("resourceGroups", [])
    for name in kueue.governed(env):
        top = next(
            _read({"nominalQuota": it["nominalQuota"]})
            for it in root[0]["flavors"][0]["resources"]
            if it["name"] == name
        )
        made = {queues.ROOT: _Node(top, None)}
        for node in queues.flatten(env):
            made[node.path] = _Node(_quotas(env, node)[name], made[node.parent])
        total = nodes.most_offered(env)[name]
        for node in queues.flatten(env):
            kept = _of(node.queue.guarantee, name) - sum(
                _of(part.guarantee, name) for part in node.queue.queues.values()
            )
            assert made[node.path].local == kept
            if node.leaf:
                assert made[node.path].potential == _alone(env, node, name, total)


def _of(quota: quotas.Quota, name: str) -> Decimal:
    amount = quotas.resolved(quota).get(name)
    return Decimal(0) if amount is None else amount.value


def _alone(env: Environment, node: queues.QueueNode, name: str, room: Decimal) -> Decimal:
    """What a leaf may use when nobody else does: the room above it, less what is kept for its neighbours, capped."""
    branch = [*queues.branch(env, node.path)]
    for below in reversed(branch):
        beside = (
            env.queues.values()
            if below.parent == queues.ROOT
            else queues.by_path(env)[below.parent].queue.queues.values()
        )
        room -= sum(_of(queue.guarantee, name) for queue in beside if queue is not below.queue)
        limit = quotas.resolved(below.queue.capability).get(name)
        room = room if limit is None else min(room, limit.value)
    return room


# What is refused.

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
