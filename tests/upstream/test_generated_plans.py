"""What nodes offer is what upstream's parsers make of the files that the nodes' agents read, for any valid document."""

import copy
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model import device_plugin, devices, document, fabric, nodes, rdma, volcano
from model.environment import Environment
from tests.model.documents import environment, put
from tests.model.generated_documents import documents
from tests.upstream.mutations import mutate
from tests.upstream.parsers import Request, Upstream

_many = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)

_PLANS: list[Any] = [
    {"timeSlicing": {"replicas": 4}},
    {"mps": {"replicas": 8, "floor": "4Gi"}},
    {"mig": {"profiles": {"1g.10gb": 7}, "strategy": "single"}},
    {"mig": {"profiles": {"1g.10gb": 2, "3g.40gb": 1}}, "timeSlicing": {"replicas": 2}},
]
_KEYS = ["renameByDefault", "failRequestsGreaterThanOne", "resources", "migStrategy", "replicas", "mps", "mig", "none"]


def _cut(env: Environment, plan: devices.Plan, gpus: int) -> Counter[str]:
    """The devices that the plugin finds on a node, by the names that it gives them before it shares any.

    Source: https://github.com/NVIDIA/k8s-device-plugin v0.18.0, internal/rm/rm.go.
    """
    if plan.layout is None:
        return Counter({"nvidia.com/gpu": gpus})
    (group,) = devices.mig_configuration(env)["mig-configs"][plan.layout]
    found: Counter[str] = Counter()
    for profile, count in group["mig-devices"].items():
        single = plan.configuration["flags"]["migStrategy"] == "single"
        found["nvidia.com/gpu" if single else f"nvidia.com/mig-{profile.replace('+', '.')}"] += count * gpus
    return found


def _offered(found: Counter[str], replicated: dict[str, Any]) -> Counter[str]:
    """What the kubelet gets to know once the plugin has shared what it understood (internal/rm/device_map.go)."""
    offered = found.copy()
    for entry in replicated.get("resources") or ():
        devices_of_it = offered.pop(entry["name"], 0)
        offered[entry.get("rename") or entry["name"]] += devices_of_it * entry["replicas"]
    return +offered


@_many
@given(value=documents())
def test_programs_understand_what_was_meant(upstream: Upstream, value: dict[str, Any]):
    """Some hundred files of the device plugins and of the scheduler: nothing refused, dropped or warned about."""
    _understood(upstream, document.load(value))


@st.composite
def _mutated(draw: st.DrawFn) -> dict[str, Any]:
    """A document whose one pool has a mutated plan."""
    around = {"sharing": copy.deepcopy(draw(st.sampled_from(_PLANS)))}
    for _ in range(draw(st.integers(1, 2))):
        mutate(draw, around, _KEYS)
    return {
        "cluster": {"name": "lab", "provider": "existing", "kubernetes": "1.35", "context": "lab"},
        "pools": {"lab": {"server": "dgx-h100", "size": 1} | around},
    }


@_many
@given(value=_mutated())
def test_a_mutated_plan_is_refused_before_it_gets_to_a_program(upstream: Upstream, value: dict[str, Any]):
    if env := document.judge(value).environment:
        _understood(upstream, env)


def _understood(upstream: Upstream, env: Environment) -> None:
    for plan in devices.plans(env):
        _device_plugin(upstream, env, plan)
    for plan in rdma.plans(env):
        if plan.plugin == "rdma-shared":
            _rdma_plugin(upstream, env, plan.configuration, plan.pools)
    if env.devices.install == "operator" and (entries := rdma.operator_entries(env).get("rdma-shared")):
        pools = [name for name, pool in env.pools.items() if rdma.plugin(pool) == "rdma-shared"]
        _rdma_plugin(upstream, env, rdma.configuration("rdma-shared", entries), pools)
    _volcano(upstream, env)


def _device_plugin(upstream: Upstream, env: Environment, plan: devices.Plan) -> None:
    assert not list(device_plugin.problems(plan.configuration))
    answer = upstream.read(Request("device-plugin", yaml.safe_dump(plan.configuration)))
    assert answer.silent, answer
    strategies = {"timeSlicing": "time-slicing", "mps": "mps"}
    assert answer.config["strategy"] == strategies.get(next(iter(plan.configuration.get("sharing", {})), ""), "none")
    for name in plan.pools:
        found = _cut(env, plan, nodes.machine(env.pools[name]).gpus)
        assert _offered(found, answer.config["replicated"]) == nodes.gpu_resources(env.pools[name])


def _rdma_plugin(upstream: Upstream, env: Environment, configuration: Mapping[str, Any], pools: Sequence[str]) -> None:
    answer = upstream.read(Request("rdma-shared", rdma.text(configuration)))
    assert answer.silent, answer
    entries = answer.config["configList"]
    offered = {f"{it['resourcePrefix']}/{it['resourceName']}": it["rdmaHcaMax"] for it in entries}
    meant = [fabric.resources(env.pools[name]) for name in pools]
    assert all(dict(each).items() <= offered.items() for each in meant)
    assert {name for each in meant for name in each} == set(offered)


def _volcano(upstream: Upstream, env: Environment) -> None:
    configuration = volcano.scheduler_configuration(env)
    answer = upstream.read(Request("volcano-scheduler", yaml.safe_dump(configuration)))
    assert answer.silent, answer
    plugins = [plugin["name"] for tier in answer.config["tiers"] for plugin in tier["plugins"]]
    assert plugins == [plugin["name"] for tier in configuration["tiers"] for plugin in tier["plugins"]]


@pytest.mark.parametrize("order", ["priority", "fair"])
@pytest.mark.parametrize("placement", ["pack", "spread"])
def test_every_aim_of_the_scheduler_reads_as_it_was_meant(upstream: Upstream, placement: str, order: str):
    aims = {"placement": placement, "order": order, "preempt": order == "fair"}
    _volcano(upstream, environment(put("scheduler", aims)))


def test_a_misspelt_key_of_volcano_is_noticed(upstream: Upstream):
    """Else the test above would pass on anything."""
    text = json.dumps({"actions": "allocate", "tiers": [{"plugins": [{"name": "gang", "enableJobOrdr": True}]}]})
    assert upstream.read(Request("volcano-scheduler", text)).ignored == ("tiers[0].plugins[0].enableJobOrdr",)


def test_a_misspelt_selector_of_rdma_is_noticed(upstream: Upstream):
    entry = {"resourceName": "shared_ib", "rdmaHcaMax": 63, "selectors": {"vendors": ["15b3"], "driver": ["mlx5_core"]}}
    answer = upstream.read(Request("rdma-shared", json.dumps({"configList": [entry]})))
    assert answer.ignored == ("configList[0].selectors.driver[0]",)
    answer = upstream.read(Request("rdma-shared", json.dumps({"configList": [{**entry, "resourceName": "a-b"}]})))
    assert "invalid characters" in answer.error
