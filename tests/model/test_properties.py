"""For any valid document, what follows from it agrees with itself."""

import copy
from collections import Counter
from decimal import Decimal
from typing import Any

import jsonschema
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model import (
    agents,
    devices,
    document,
    gangs,
    images,
    names,
    nodes,
    offers,
    queues,
    scheduler_rules,
    topology,
    volcano,
    workloads,
)
from model.bounds import bounds
from model.engine_names import DOCUMENT_KEY
from model.problems import render
from model.quantities import Quantity
from model.schema import json_schema
from tests.model.documents import example
from tests.model.generated_documents import documents

SCHEMA = jsonschema.Draft202012Validator(json_schema())
_relaxed = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@_relaxed
@given(documents())
def test_generated_documents_have_no_errors(value: dict[str, Any]):
    verdict = document.judge(value)
    assert not verdict.errors


@_relaxed
@given(documents())
def test_offers_agree_with_their_pools(value: dict[str, Any]):
    env = document.load(value)
    found = offers.node_offers(env)
    assert len({offer.name for offer in found}) == len(found) == sum(pool.initial for pool in env.pools.values())
    for offer in found:
        pool = env.pools[offer.pool]
        assert names.subdomain_fault(offer.name) is None
        assert names.LABEL_VALUE.fault(offer.labels["kubernetes.io/hostname"]) is None
        gpus = {name: amount for name, amount in offer.allocatable.items() if name.startswith("nvidia.com/")}
        assert gpus == {name: str(units) for name, units in nodes.gpu_resources(pool).items()}
        for name, amount in offer.allocatable.items():
            assert Quantity.parse(amount).value <= Quantity.parse(offer.capacity[name]).value
        tolerated = {(found.key, found.effect) for found in agents.tolerations(env, [offer.pool])}
        assert {(taint.key, taint.effect) for taint in offer.taints} == tolerated


@_relaxed
@given(documents())
def test_nothing_offers_more_than_all_pools_at_their_largest(value: dict[str, Any]):
    env = document.load(value)
    total: Counter[str] = Counter()
    for offer in offers.node_offers(env):
        for name, amount in offer.allocatable.items():
            total[name] += Quantity.parse(amount).value  # pyright: ignore[reportArgumentType]
    assert all(amount <= nodes.most_offered(env)[name] for name, amount in total.items())


@_relaxed
@given(documents())
def test_domains_nest_fill_up_and_are_as_large_as_is_said(value: dict[str, Any]):
    env = document.load(value)
    for pool_name, pool in env.pools.items():
        labels = topology.node_labels(env, pool_name, pool.most)
        for level in topology.levels(env):
            sizes = Counter(found[level.label] for found in labels if level.label in found)
            if level.name not in pool.domains:
                assert not sizes
                continue
            assert len(sizes) == pool.domains[level.name]
            assert sum(sizes.values()) == pool.most
            assert max(sizes.values()) == topology.largest_domain(env, pool_name, level.name)
        inner: dict[str, set[tuple[str, ...]]] = {}
        for found in labels:
            values = tuple(found.values())
            for depth in range(1, len(values) + 1):
                inner.setdefault(values[depth - 1], set()).add(values[:depth])
        assert all(len(paths) == 1 for paths in inner.values())


@_relaxed
@given(documents())
def test_the_queue_tree_keeps_volcanos_rules(value: dict[str, Any]):
    env = document.load(value)
    flat = queues.flatten(env)
    seen = {"root"}
    for node in flat:
        assert node.parent in seen
        seen.add(node.path)
        assert node.leaf == (not any(other.parent == node.path for other in flat))
        for kind in ("deserved", "guarantee"):
            parts = [getattr(other.queue, kind) for other in flat if other.parent == node.path]
            total = sum((part["cpu"].value for part in parts if "cpu" in part), Decimal(0))
            own = getattr(node.queue, kind).get("cpu")
            assert total <= (own.value if own else 0)
        spec = volcano.queue_spec(node)
        assert spec["parent"] == node.parent


@_relaxed
@given(documents())
def test_the_scheduler_knows_every_gpu_resource(value: dict[str, Any]):
    env = document.load(value)
    configuration = volcano.scheduler_configuration(env)
    assert not list(scheduler_rules.problems(configuration, deserving=True))
    packing = configuration["tiers"][1]["plugins"][2]["arguments"]
    listed = {name.strip() for name in packing.get("binpack.resources", "").split(",")} - {""}
    assert listed == nodes.advertised(env)
    planned = [pool for plan in devices.plans(env) for pool in plan.pools]
    assert sorted(planned) == sorted(images.managed_pools(env))


@_relaxed
@given(documents())
def test_gangs_fit_where_they_are_said_to(value: dict[str, Any]):
    env = document.load(value)
    for it in workloads.every(env):
        gang, needed = gangs.gang(env, it.at), gangs.nodes_of(env, it.at)
        assert needed is not None
        assert needed <= env.pools[it.value.pool].most
        assert gang.pods == gang.workers + (1 if it.value.leads else 0)
        assert all(bound.workers >= gang.workers for bound in bounds(it) if bound.hard)
        total = {key: amount.value for key, amount in gang.min_resources.items()}
        once = sum(pods.get("cpu", Decimal(0)) for pods in (gang.lead or {}, gang.apart))
        assert total["cpu"] == once + gang.worker["cpu"] * gang.workers


@_relaxed
@given(documents())
def test_editors_accept_what_we_accept(value: dict[str, Any]):
    SCHEMA.validate({"config": {DOCUMENT_KEY: value}})


_junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-9, 9),
    st.floats(allow_nan=True),
    st.text(max_size=4),
    st.just([]),
    st.just({}),
    st.just(["x"]),
    st.just({"x": 1}),
    st.just("1e999"),
    st.just({"min": 3}),
    st.just({"min": "a", "max": -1}),
)


def _places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [at] if at else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found += _places(inner, (*at, key))
    return found


_PLACES = _places(example())


def _broken(value: Any, path: tuple[Any, ...], junk: Any, remove: bool) -> None:
    """Put junk at a place, if the place is still there."""
    for step in path[:-1]:
        if (isinstance(value, dict) and step in value) or (
            isinstance(value, list) and isinstance(step, int) and step < len(value)
        ):
            value = value[step]
        else:
            return
    last = path[-1]
    if isinstance(value, dict) and remove:
        value.pop(last, None)
    elif isinstance(value, dict) or (isinstance(value, list) and isinstance(last, int) and last < len(value)):
        value[last] = copy.deepcopy(junk)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(_PLACES), _junk, st.booleans()), min_size=1, max_size=6))
def test_no_junk_breaks_the_judge(changes: list[tuple[tuple[Any, ...], Any, bool]]):
    value = example()
    for path, junk, remove in changes:
        _broken(value, path, junk, remove)
    verdict = document.judge(value)
    assert (verdict.environment is None) == bool(verdict.errors)
    told = render(verdict.problems)
    assert not any(word in told for word in ("pydantic", "Input should", "LOST", "validation error"))
