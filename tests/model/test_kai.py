"""What KAI is told, against the shape of its definitions (release 0.13, deployments/kai-scheduler/crds)."""

from pydantic import BaseModel, ConfigDict

from model import kai, queues
from model.workloads import Within
from tests.model.documents import drop, environment, put
from tests.model.test_schedulers import fitting


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Amount(_Shape):
    quota: float
    limit: float
    overQuotaWeight: float  # noqa: N815


class _Resources(_Shape):
    cpu: _Amount
    gpu: _Amount
    memory: _Amount


class _Queue(_Shape):
    displayName: str = ""  # noqa: N815
    parentQueue: str = ""  # noqa: N815
    priority: int = 100
    preemptMinRuntime: str = ""  # noqa: N815
    reclaimMinRuntime: str = ""  # noqa: N815
    resources: _Resources


def test_queues_have_the_shape_of_its_definition():
    env = environment(*fitting("kai"))
    for node in queues.flatten(env):
        _Queue.model_validate(kai.queue_spec(node))


def test_a_queue_is_written_in_its_units():
    env = environment(*fitting("kai", put("queues.research.capability.cpu", "2500500m")))
    specs = {node.path: kai.queue_spec(node) for node in queues.flatten(env)}
    assert specs["research"]["resources"] == {
        "cpu": {"quota": 2_000_000, "limit": 2_500_500, "overQuotaWeight": 1},
        "memory": {"quota": 17592186.044416, "limit": -1, "overQuotaWeight": 1},
        "gpu": {"quota": 96, "limit": 128, "overQuotaWeight": 1},
    }
    assert "parentQueue" not in specs["research"]
    assert specs["research.vision"]["parentQueue"] == "research"
    assert specs["research.vision"]["priority"] == 5


def test_its_topology_ends_with_the_host():
    env = environment(*fitting("kai"))
    assert kai.topology_spec(env) == {
        "levels": [
            {"nodeLabel": "topology.example.com/spine"},
            {"nodeLabel": "topology.example.com/rack"},
            {"nodeLabel": "kubernetes.io/hostname"},
        ]
    }
    bare = (put("topology", {}), drop("pools.train.domains"), drop("ray.clusters.tuning.within"))
    assert kai.topology_spec(environment(*fitting("kai", *bare))) is None


def test_a_workload_names_how_close_it_must_stay():
    env = environment(*fitting("kai"))
    assert kai.placing(env, Within(level="rack")) == {
        "kai.scheduler/topology": "gangline",
        "kai.scheduler/topology-required-placement": "topology.example.com/rack",
    }
    assert "kai.scheduler/topology-preferred-placement" in kai.placing(env, Within(level="rack", mode="soft"))
    assert kai.placing(env, None) == {}


def test_placement_is_a_value_of_its_chart():
    for placement, strategy in (("pack", "binpack"), ("spread", "spread")):
        env = environment(*fitting("kai", put("scheduler.placement", placement)))
        assert kai.chart_values(env)["scheduler"]["placementStrategy"] == strategy
