"""For any way of sharing: what the agents are told makes the nodes offer what everybody else speaks of."""

import json
from collections import Counter
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog import reader as catalog
from model import agents, devices, document, gpu_requests, mig, names, nodes, offers
from model.problems import render

GPUS = catalog.gpus()


@st.composite
def layouts(draw: st.DrawFn, model: str) -> dict[str, int]:
    """Instances that fit on a GPU."""
    profiles, chosen = GPUS[model].mig, Counter[str]()
    for name in draw(st.lists(st.sampled_from(sorted(profiles)), min_size=1, max_size=7)):
        if mig.fits(profiles, {**chosen, name: chosen[name] + 1}):
            chosen[name] += 1
    return dict(chosen)


@st.composite
def pools(draw: st.DrawFn) -> dict[str, Any]:
    """A pool that shares its GPUs in some way that they can follow."""
    model, count = draw(st.sampled_from(sorted(GPUS))), draw(st.integers(1, 8))
    shape = {"cpu": 64, "memory": "512Gi", "gpu": {"model": model, "count": count}}
    kinds = ["none", "timeSlicing", "mps", *(["mig", "both"] if GPUS[model].mig else [])]
    kind = draw(st.sampled_from(kinds))
    sharing: Any = {}
    if kind in ("timeSlicing", "both"):
        sharing["timeSlicing"] = {"replicas": draw(st.integers(2, 4))}
    if kind == "mps":
        sharing["mps"] = {"replicas": draw(st.integers(2, 16))}
    if kind in ("mig", "both"):
        profiles = draw(layouts(model))
        single = len(profiles) == 1 and draw(st.booleans())
        sharing["mig"] = {"profiles": profiles, "strategy": "single" if single else "mixed"}
    return {"shape": shape, "size": draw(st.integers(1, 3)), "sharing": sharing or "none"}


def environment(several: list[dict[str, Any]]) -> Any:
    """An environment of these pools."""
    value = {
        "cluster": {"name": "plans", "provider": "existing", "kubernetes": "1.35", "context": "nowhere"},
        "pools": {f"p{number}": pool for number, pool in enumerate(several)},
    }
    verdict = document.judge(value)
    assert verdict.environment is not None, render(verdict.errors)
    return verdict.environment


def advertised(plan: devices.Plan, layouts: dict[str, Any], gpus: int) -> dict[str, int]:
    """What the device plugin advertises on a node, worked out from what it and the MIG manager are told.

    As https://github.com/NVIDIA/k8s-device-plugin v0.18.0 does it: internal/rm/{rm,device_map}.go.
    """
    strategy, found = plan.configuration["flags"]["migStrategy"], Counter[str]()
    if plan.layout is None:
        assert strategy == "none"
        found["nvidia.com/gpu"] = gpus
    else:
        (cut,) = layouts["mig-configs"][plan.layout]
        assert (cut["devices"], cut["mig-enabled"]) == ("all", True)
        for profile, count in cut["mig-devices"].items():
            name = "gpu" if strategy == "single" else f"mig-{profile.replace('+', '.')}"
            found[f"nvidia.com/{name}"] += count * gpus
    for kind in plan.configuration.get("sharing", {}).values():
        assert kind["renameByDefault"]
        for entry in kind["resources"]:
            found[f"{entry['name']}.shared"] = found.pop(entry["name"]) * entry["replicas"]
    return dict(found)


_relaxed = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@_relaxed
@given(st.lists(pools(), min_size=1, max_size=4))
def test_the_agents_are_told_what_the_nodes_offer(several: list[dict[str, Any]]):
    env = environment(several)
    layouts = devices.mig_configuration(env)
    for plan in devices.plans(env):
        for pool in plan.pools:
            told = advertised(plan, layouts, several[int(pool[1:])]["shape"]["gpu"]["count"])
            assert told == dict(nodes.gpu_resources(env.pools[pool]))
            for offer in (offer for offer in offers.node_offers(env) if offer.pool == pool):
                seen = {name: int(amount) for name, amount in offer.allocatable.items() if gpu_requests.is_gpu(name)}
                assert seen == told
                assert all(offer.labels[key] == value for key, value in plan.labels.items())
    assert nodes.advertised(env) == {name for pool in env.pools.values() for name in nodes.gpu_resources(pool)}


@_relaxed
@given(st.lists(pools(), min_size=1, max_size=4))
def test_plans_are_told_apart_by_their_names(several: list[dict[str, Any]]):
    env = environment(several)
    plans, layouts = devices.plans(env), devices.mig_configuration(env)["mig-configs"]
    assert sorted(pool for plan in plans for pool in plan.pools) == sorted(agents.gpu_pools(env))
    assert len({plan.name for plan in plans}) == len(plans)
    told = {json.dumps([plan.configuration, layouts.get(plan.layout)], sort_keys=True) for plan in plans}
    assert len(told) == len(plans), "one plan for each thing that agents can be told"
    for plan in plans:
        assert names.DNS_LABEL.fault(plan.name) is None
        assert names.LABEL_VALUE.fault(f"nvidia-gpu-feature-discovery-{plan.name}") is None
        assert all(names.LABEL_VALUE.fault(value) is None for value in plan.labels.values())
        assert (
            plan.mps == ("mps" in plan.configuration.get("sharing", {})) == ("mpsRoot" in plan.configuration["flags"])
        )
        assert plan.feature_discovery or plan.strategy == "none"
        assert not (plan.mps and plan.layout)


@_relaxed
@given(st.lists(pools(), min_size=1, max_size=2), st.lists(pools(), min_size=1, max_size=2))
def test_a_name_means_the_same_in_every_environment(one: list[dict[str, Any]], other: list[dict[str, Any]]):
    told: dict[str, Any] = {}
    for env in (environment(one), environment(other)):
        layouts = devices.mig_configuration(env)["mig-configs"]
        for plan in devices.plans(env):
            means = (plan.configuration, layouts.get(plan.layout))
            assert told.setdefault(plan.name, means) == means
