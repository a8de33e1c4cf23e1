"""Whatever the plans: quotas, jobs, policies and dashboards speak of what nodes offer, and of nothing else."""

import copy
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog import reader as catalog
from model import document, gangs, gpu_requests, nodes, queues, tenants, volcano
from model.environment import Environment
from model.monitoring.exporter import deployments
from model.monitoring.recordings import recordings
from tests.model.generated_documents import documents, gpu_resources

_relaxed = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)

_PARTS = ["gpu", *(f"mig-{name.replace('+', '.')}" for gpu in catalog.gpus().values() for name in gpu.mig)]
EVERY = sorted({f"nvidia.com/{part}{suffix}" for part in _PARTS for suffix in ("", ".shared")})
"""All resources that a GPU of the catalogue could be offered as."""


def _advertised(value: dict[str, Any]) -> set[str]:
    """What the pools of a document offer, by the names that upstream gives it."""
    return {name for pool in value["pools"].values() for name in gpu_resources(pool)}


def _gpus(resources: Any) -> set[str]:
    return {name for name in resources if name.startswith("nvidia.com/")}


def test_policies_know_every_resource_of_a_gpu():
    assert [name for name in EVERY if not gpu_requests.is_gpu(name)] == []


@_relaxed
@given(documents())
def test_all_speak_of_what_nodes_offer(value: dict[str, Any]):
    env = document.load(value)
    assert nodes.advertised(env) == _advertised(value) <= set(EVERY)
    for name, pool in env.pools.items():
        offered = set(gpu_resources(value["pools"][name]))
        assert (
            _gpus(nodes.capacity(pool)) == _gpus(nodes.allocatable(pool)) == set(nodes.gpu_resources(pool)) == offered
        )
    _quotas(value, env)
    _jobs(value, env)
    _exporters(value, env)
    _dashboards(value, env)


def _quotas(value: dict[str, Any], env: Environment) -> None:
    written: set[str] = set()
    for node in queues.flatten(env):
        spec = volcano.queue_spec(node)
        written |= _gpus({**spec.get("capability", {}), **spec.get("deserved", {})})
    said = {name for queue in value["queues"].values() for name in _gpus(queue["capability"])}
    assert written == said <= _advertised(value)


def _jobs(value: dict[str, Any], env: Environment) -> None:
    for name, cluster in env.ray.clusters.items():
        gang = gangs.gang(env, ("ray", "clusters", name))
        offered = gpu_resources(value["pools"][cluster.pool])
        asked = [resource for resource, profile in offered.items() if profile == cluster.workers.profile]
        assert _gpus(gang.lead) == set()
        assert _gpus(gang.worker) == (set(asked) if cluster.workers.gpus else set())
        assert gangs.nodes_of(env, ("ray", "clusters", name)) is not None


def _exporters(value: dict[str, Any], env: Environment) -> None:
    """The exporter knows whole GPUs and instances by name, and what else it is told of."""
    for exporter in deployments(env):
        offered = {name for pool in exporter.pools for name in gpu_resources(value["pools"][pool])}
        told = exporter.environment.get("NVIDIA_RESOURCE_NAMES")
        assert set(told.split(",") if told else ()) == offered & {"nvidia.com/gpu.shared"}


def _dashboards(value: dict[str, Any], env: Environment) -> None:
    """What measurements are compared with: GPUs of nodes, and what queues deserve of all but shared parts."""
    declared = {(each.name, each.labels.get("pool", each.labels.get("queue"))): each for each in recordings(env)}
    for name, pool in value["pools"].items():
        assert (("pool:gpus_per_node:declared", name) in declared) == bool(gpu_resources(pool))
    for name, queue in value["queues"].items():
        names = [key for key in _gpus(queue["deserved"]) if not key.endswith(".shared")]
        told = declared.get(("queue:devices:declared", name))
        if not queue.get("queues"):
            expected = sum(queue["deserved"][key] for key in names)
            assert (told.expression if told else None) == (f"vector({expected})" if names else None)


@_relaxed
@given(documents(), st.sampled_from(EVERY), st.booleans())
def test_quotas_of_what_no_node_offers_are_refused(value: dict[str, Any], resource: str, tenant: bool):
    changed, name = copy.deepcopy(value), next(iter(value["queues"]))
    if tenant:
        at = ("tenants", "team", "quota", resource)
        changed["tenants"]["team"]["quota"] = {resource: 1}
    else:
        at = ("queues", name, "capability", resource)
        changed["queues"][name]["capability"][resource] = 128
    verdict = document.judge(changed)
    assert [problem.path for problem in verdict.errors if problem.path == at] == (
        [] if resource in _advertised(value) else [at]
    )
    if tenant and verdict.environment:
        assert set(tenants.hard(verdict.environment.tenants["team"])) == {f"requests.{resource}"}
