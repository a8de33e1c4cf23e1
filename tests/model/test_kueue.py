"""What Kueue is told beside quotas."""

import pytest

from model import kueue, queues
from model.queues import QueueNode
from model.workloads import Within
from tests.model.documents import drop, environment, put
from tests.model.test_schedulers import fitting


def _node(path: str) -> QueueNode:
    return queues.by_path(environment(*fitting("kueue")))[path]


def test_all_nodes_are_one_flavor_whose_places_are_known_down_to_the_host():
    env = environment(*fitting("kueue"))
    assert [level["nodeLabel"] for level in kueue.topology_spec(env)["levels"]] == [
        "topology.example.com/spine",
        "topology.example.com/rack",
        "kubernetes.io/hostname",
    ]
    assert kueue.flavor_spec(env) == {"nodeLabels": {"kubernetes.io/os": "linux"}, "topologyName": kueue.flavor(env)}


def test_another_topology_is_another_flavor():
    """The levels of a topology cannot be changed, nor the topology of a flavour."""
    bare = (put("topology", {}), drop("pools.train.domains"), drop("ray.clusters.tuning.within"))
    named = kueue.flavor(environment(*fitting("kueue")))
    other = kueue.flavor(environment(*fitting("kueue", *bare)))
    assert other == kueue.NAME
    assert named.startswith(f"{kueue.NAME}-")
    assert (
        len({named, other, kueue.flavor(environment(*fitting("kueue", put("topology.labels.0", "x.org/spine"))))}) == 3
    )


def test_a_leaf_covers_whatever_its_workloads_may_ask_for():
    """What it did not cover Kueue would refuse; what no queue speaks of is there without limit."""
    env = environment(*fitting("kueue"))
    group = kueue.cluster_queue_spec(env, _node("research.llm"))["resourceGroups"][0]
    assert group["coveredResources"] == ["cpu", "memory", "nvidia.com/gpu", "nvidia.com/gpu.shared", "pods"]
    (flavor,) = group["flavors"]
    assert [quota["name"] for quota in flavor["resources"]] == group["coveredResources"]
    assert flavor["resources"][-1] == {"name": "pods", "nominalQuota": str(27 * 110)}


def test_namespaces_of_teams_that_may_use_a_queue_are_let_in():
    env = environment(*fitting("kueue"))
    selector = kueue.cluster_queue_spec(env, _node("research.llm"))["namespaceSelector"]
    assert selector["matchExpressions"][0]["values"] == ["research", "research-dev"]


def test_a_queue_that_no_team_may_use_lets_nobody_in():
    env = environment(*fitting("kueue", put("queues.spare", {"capability": {"gpu": 1}})))
    assert "namespaceSelector" not in kueue.cluster_queue_spec(env, queues.by_path(env)["spare"])


def test_namespaces_see_their_queues_and_the_default():
    found = kueue.local_queues(environment(*fitting("kueue")))
    assert [(it.namespace, it.name, it.queue) for it in found if it.namespace != "research-dev"] == [
        ("production", "default", "production"),
        ("production", "production", "production"),
        ("research", "default", "research.llm"),
        ("research", "research.llm", "research.llm"),
        ("research", "research.vision", "research.vision"),
    ]


@pytest.mark.parametrize(
    ("intent", "expected"),
    [
        ({}, {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}),
        ({"reclaim": False}, {"reclaimWithinCohort": "Never", "withinClusterQueue": "LowerPriority"}),
        ({"preempt": False}, {"reclaimWithinCohort": "Any", "withinClusterQueue": "Never"}),
    ],
)
def test_the_intent_is_that_of_the_document(intent: dict, expected: dict):
    env = environment(*fitting("kueue", *(put(f"scheduler.{key}", value) for key, value in intent.items())))
    assert kueue.cluster_queue_spec(env, _node("production"))["preemption"] == expected


def test_two_kinds_of_pods_are_placed_as_one():
    env = environment(*fitting("kueue"))
    rack = "topology.example.com/rack"
    assert kueue.placing(env, Within(level="rack"), parts=2) == {
        "kueue.x-k8s.io/podset-required-topology": rack,
        "kueue.x-k8s.io/podset-group-name": "gang",
    }
    soft = Within(level="rack", mode="soft")
    assert kueue.placing(env, soft, parts=1) == {"kueue.x-k8s.io/podset-preferred-topology": rack}
    assert kueue.placing(env, None, parts=2) == {}
