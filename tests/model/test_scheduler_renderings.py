"""What each scheduler is told of a tree of queues, read back: all say the same."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from hypothesis import given, settings

from model import kai, kueue, nodes, queues, quotas, volcano
from model.environment import Environment
from model.quantities import Quantity
from tests.model.documents import environment
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
