"""For any pools with any fabrics: what workloads ask for is what nodes offer and plugins advertise, once."""

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model import document, fabric, fabric_changes, gangs, nccl, nodes, pod_patch, rdma
from model.problems import render

_GPU = "h100-sxm-80gb"
_relaxed = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def _infiniband(draw: st.DrawFn, ports: int) -> Any:
    if draw(st.booleans()):
        return "infiniband"
    options: dict[str, Any] = {"kind": "infiniband"}
    if draw(st.booleans()):
        options |= {"mode": "sriov", "virtualFunctions": draw(st.integers(1, 16))}
        options |= {"networks": ["ib"]} if draw(st.booleans()) else {}
    else:
        options["slots"] = draw(st.integers(1, 200))
    options |= draw(st.sampled_from([{}, {"hcas": ["mlx5_0"]}, {"storageHcas": ["mlx5_1"]}]))
    options |= {"memlock": "unlimited"} if draw(st.booleans()) else {}
    named = ports if "mode" in options else draw(st.integers(1, ports))
    return options | ({"interfaces": [f"ib{number}" for number in range(named)]} if draw(st.booleans()) else {})


@st.composite
def _roce(draw: st.DrawFn, ports: int) -> Any:
    options: dict[str, Any] = {"kind": "roce", "interfaces": [f"eth{number}" for number in range(ports)]}
    mode = draw(st.sampled_from(["shared", "sriov", "host"]))
    if mode == "host":
        options |= {"mode": mode, "socketInterface": "bond0"}
    elif mode == "sriov":
        options |= {"mode": mode, "networks": ["rail"], "virtualFunctions": draw(st.integers(1, 8))}
    else:
        options |= {"networks": ["rail-0", "rail-1"], "slots": draw(st.integers(1, 63))}
    return options | ({"trafficClass": draw(st.integers(0, 255))} if draw(st.booleans()) else {})


@st.composite
def _pool(draw: st.DrawFn) -> dict[str, Any]:
    model = draw(st.sampled_from(["connectx-6", "connectx-7", "bluefield-3", "efa"]))
    ports = draw(st.integers(1, 32))
    shape: dict[str, Any] = {"cpu": 128, "memory": "1Ti", "nics": {"model": model, "count": ports}}
    if gpus := draw(st.integers(0, 8)):
        shape["gpu"] = {"model": _GPU, "count": gpus}
    choices = st.just("efa") if model == "efa" else st.one_of(_infiniband(ports), _roce(ports))
    chosen = draw(st.one_of(st.just("tcp"), choices))
    return {"shape": shape, "size": draw(st.integers(1, 4)), "fabric": chosen}


@st.composite
def _documents(draw: st.DrawFn) -> dict[str, Any]:
    pools = draw(st.dictionaries(st.sampled_from(["one", "two", "three", "four"]), _pool(), min_size=1))
    clusters: dict[str, Any] = {}
    for name, pool in pools.items():
        gpus = draw(st.integers(0, pool["shape"].get("gpu", {}).get("count", 0)))
        clusters[name] = {
            "namespace": "team",
            "queue": "team",
            "pool": name,
            "ray": "2.52.0",
            "head": {"cpu": 1, "memory": "1Gi"},
            "workers": {"count": 1, "cpu": 1, "memory": "8Gi", "gpus": gpus},
        }
    return {
        "cluster": {"name": "generated", "provider": "existing", "kubernetes": "1.35", "context": "nowhere"},
        "pools": pools,
        "queues": {"team": {}},
        "tenants": {"team": {"namespaces": ["team"], "queues": ["team"]}},
        "ray": {"clusters": clusters},
    }


@_relaxed
@given(_documents())
def test_what_workloads_ask_for_is_offered(value: dict[str, Any]):
    verdict = document.judge(value)
    assert not verdict.errors, render(verdict.errors)
    env = verdict.required()
    for name, cluster in env.ray.clusters.items():
        workers = cluster.workers
        patch = pod_patch.patch(env, cluster.pool, gpus=workers.gpus, memory=workers.memory, rdma=workers.rdma)
        offered = nodes.offered(env, cluster.pool)
        gang = gangs.gang(env, ("ray", "clusters", name))
        for resource, amount in patch.resources.items():
            assert 0 < amount.value <= offered[resource]
            assert gang.worker[resource] == amount.value
        pool = env.pools[cluster.pool]
        whole = nodes.machine(pool).gpus
        if workers.gpus and fabric.own_devices(fabric.of(pool)):
            (device,) = fabric.resources(pool)
            ports = fabric.nics(pool)
            assert ports is not None
            if ports.count * workers.gpus < whole:
                # Less than one NIC's worth: a worker without any could not talk, so fewer find room on the node.
                assert patch.resources[device].value == 1
                continue
            # As many such workers as GPUs allow find their devices, too, and what comes with them.
            for resource, amount in patch.resources.items():
                assert amount.value * (whole // workers.gpus) <= offered[resource], resource


@_relaxed
@given(_documents())
def test_every_nic_is_advertised_once_as_what_nodes_offer(value: dict[str, Any]):
    env = document.load(value)
    plans = rdma.plans(env)
    reached = Counter(pool for plan in plans for pool in plan.pools)
    assert set(reached.values()) <= {1}
    assert set(reached) == {name for name, pool in env.pools.items() if fabric.resources(pool)}
    assert len({(plan.plugin, plan.name) for plan in plans}) == len(plans)
    for plan in plans:
        entries = plan.configuration.get("configList", plan.configuration.get("resourceList", []))
        told = {f"{entry['resourcePrefix']}/{entry['resourceName']}" for entry in entries} or {fabric.EFA}
        for pool in plan.pools:
            assert told == set(fabric.resources(env.pools[pool]))
        for entry in entries:
            (pool,) = plan.pools
            assert entry.get("rdmaHcaMax") in (None, *fabric.resources(env.pools[pool]).values())


@_relaxed
@given(_documents())
def test_derived_variables_are_sound_themselves(value: dict[str, Any]):
    env = document.load(value)
    for cluster in env.ray.clusters.values():
        workers = cluster.workers
        where = nccl.setting(env, cluster.pool, gpus=workers.gpus, rdma=workers.rdma)
        found = [it for it in nccl.problems((), where.derived, replace(where, derived={})) if it.severity == "error"]
        assert not found
        attached = pod_patch.patch(env, cluster.pool, gpus=workers.gpus, memory=workers.memory).annotations
        named = [it for it in attached.get(pod_patch.NETWORKS, "").split(",") if it]
        assert not where.interfaces or len(where.interfaces) == 1 + len(named)


@_relaxed
@given(_documents(), _documents())
def test_any_change_can_be_told(one: dict[str, Any], other: dict[str, Any]):
    before, after = document.load(one), document.load(other)
    assert fabric_changes.disruptions(before, before) == []
    for found in fabric_changes.disruptions(before, after):
        assert str(found).startswith(("pool ", "Ray cluster "))


@_relaxed
@given(_documents())
def test_huge_pages_are_enough_for_all_devices(value: dict[str, Any]):
    env = document.load(value)
    for pool in env.pools.values():
        pages = fabric.huge_pages(pool)
        if pages is not None:
            each = fabric.asked(pool, 1)[fabric.HUGE_PAGES]
            assert each * fabric.devices(pool) <= pages.value
            assert each % Decimal(2 * 1024 * 1024) == 0
