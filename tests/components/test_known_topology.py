"""A gang with a bound waits until the scheduler knows the topology, and knows it once."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pytest

from components.kubernetes.client import Reach
from components.scheduling import known_topology as module
from model import topology
from model.environment import Environment
from twin.monitor import StrictMonitor

HYPERNODES = "/apis/topology.volcano.sh/v1alpha1/hypernodes"
NODES = "/api/v1/nodes"
RACK = "topology.gangline.dev/rack"
SPINE = "topology.gangline.dev/spine"
Changed = Callable[[Any], Environment]


@dataclass
class Cluster:
    """What a cluster answers: HyperNodes as (name, tier, label, value), of which a few appear with each question."""

    hypernodes: list[tuple[str, int, str, str]] = field(default_factory=list)
    later: list[list[tuple[str, int, str, str]]] = field(default_factory=list)
    nodes: list[dict[str, str]] = field(default_factory=list)
    faster: bool = False  # whether somebody else deletes what is deleted here

    def items(self, path: str) -> list[dict[str, Any]]:
        if path == NODES:
            return [{"metadata": {"name": f"n{i}", "labels": labels}} for i, labels in enumerate(self.nodes)]
        assert path == HYPERNODES
        answer = [
            {"metadata": {"name": name, "labels": {label: value}}, "spec": {"tier": tier}}
            for name, tier, label, value in self.hypernodes
        ]
        if self.later:
            self.hypernodes += self.later.pop(0)
        return answer


@pytest.fixture
def cluster(serving: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """A cluster with nodes in two racks under one spine."""
    state = Cluster(nodes=[{RACK: "r1", SPINE: "s1"}, {RACK: "r2", SPINE: "s1"}, {}])

    def answers(method: str, path: str) -> tuple[int, Any]:
        if method == "DELETE":
            state.hypernodes[:] = [each for each in state.hypernodes if each[0] != path.rpartition("/")[2]]
            return (404, {"code": 404, "message": "gone"}) if state.faster else (200, {})
        return 200, {"items": state.items(path), "metadata": {}}

    serving(answers)
    monkeypatch.setattr(module, "SECONDS", 4)
    monkeypatch.setattr(module, "SETTLING_SECONDS", 4)
    monkeypatch.setattr(module, "CALM", 2)
    return state


WHOLE = [("a", 1, RACK, "r1"), ("b", 1, RACK, "r2"), ("c", 2, SPINE, "s1")]


def gang(environment: Environment) -> None:
    (rack,) = [level for level in topology.levels(environment) if level.name == "rack"]
    module.wait_until_known("platform-ray-tuning", environment, Reach(environment.cluster), rack)


def settle(environment: Environment) -> None:
    module.wait_until_settled(environment, Reach(environment.cluster))


@pytest.mark.parametrize("hook", [gang, settle])
def test_a_whole_topology_lets_it_pass(hook: Callable[..., None], cluster: Cluster, changed: Changed) -> None:
    cluster.hypernodes += WHOLE
    hook(changed(lambda _: None))
    assert cluster.hypernodes == WHOLE


@pytest.mark.parametrize("hook", [gang, settle])
def test_what_appears_later_is_waited_for(hook: Callable[..., None], cluster: Cluster, changed: Changed) -> None:
    cluster.later += [WHOLE[:1], WHOLE[1:]]
    hook(changed(lambda _: None))
    assert cluster.hypernodes == WHOLE


@pytest.mark.parametrize("hook", [gang, settle])
def test_a_domain_that_is_there_twice_is_made_one(
    hook: Callable[..., None], cluster: Cluster, changed: Changed
) -> None:
    cluster.hypernodes += [*WHOLE, ("d", 2, SPINE, "s1"), ("e", 1, RACK, "r2")]
    hook(changed(lambda _: None))
    assert cluster.hypernodes == WHOLE


@pytest.mark.parametrize("hook", [gang, settle])
def test_a_surplus_one_may_be_gone_already(hook: Callable[..., None], cluster: Cluster, changed: Changed) -> None:
    cluster.faster = True
    cluster.hypernodes += [*WHOLE, ("d", 2, SPINE, "s1")]
    hook(changed(lambda _: None))
    assert cluster.hypernodes == WHOLE


def test_what_looks_settled_must_stay_so(cluster: Cluster, changed: Changed) -> None:
    cluster.hypernodes += WHOLE
    cluster.later += [[("d", 2, SPINE, "s1")]]
    settle(changed(lambda _: None))
    assert cluster.hypernodes == WHOLE


def test_what_never_stays_is_an_error(cluster: Cluster, changed: Changed) -> None:
    cluster.hypernodes += WHOLE
    cluster.later += [[("d", 2, SPINE, "s1")] if look % 2 == 0 else [] for look in range(20)]
    with pytest.raises(RuntimeError, match="HyperNodes"):
        settle(changed(lambda _: None))


@pytest.mark.parametrize(("preview", "left"), [(True, 4), (False, 3)])
def test_every_run_settles_and_no_preview(preview: bool, left: int, cluster: Cluster, changed: Changed) -> None:
    cluster.hypernodes += [*WHOLE, ("d", 2, SPINE, "s1")]
    _run(changed(lambda _: None), preview=preview)
    assert len(cluster.hypernodes) == left


def test_a_run_fails_where_it_does_not_settle(cluster: Cluster, changed: Changed) -> None:
    cluster.hypernodes += WHOLE[1:]
    with pytest.raises(pulumi.RunError, match=f"missing: {RACK}=r1"):
        _run(changed(lambda _: None), preview=False)


def test_racks_of_the_document_are_nobody_elses(cluster: Cluster, changed: Changed) -> None:
    def static(value: dict[str, Any]) -> None:
        value["topology"] = {"racks": {"r0": {"nodes": ["train-00"]}}}
        value["pools"]["train"].pop("domains")
        value["ray"] = {}

    cluster.hypernodes += [*WHOLE, ("d", 2, SPINE, "s1")]
    _run(changed(static), preview=False)
    assert len(cluster.hypernodes) == 4


def _run(environment: Environment, *, preview: bool) -> None:
    """Run a program in which Volcano is there already."""
    pulumi.runtime.set_mocks(StrictMonitor().mocks, preview=preview)

    @pulumi.runtime.test
    def program() -> None:
        volcano = pulumi.ComponentResource("test:index:Volcano", "volcano")
        module.settle_topology(environment, Reach(environment.cluster), volcano)

    program()


def test_a_cluster_without_labelled_nodes_has_nothing_to_settle(cluster: Cluster, changed: Changed) -> None:
    cluster.nodes[:] = [{}]
    settle(changed(lambda _: None))


def test_a_level_that_never_appears_is_an_error_with_a_fix(cluster: Cluster, changed: Changed) -> None:
    cluster.hypernodes += WHOLE[2:]
    with pytest.raises(RuntimeError) as refused:
        gang(changed(lambda _: None))
    assert "must stay within one rack" in str(refused.value)
    assert f"label the nodes: {RACK}" in str(refused.value)


def test_a_domain_that_never_appears_is_named(cluster: Cluster, changed: Changed) -> None:
    cluster.hypernodes += WHOLE[1:]
    with pytest.raises(RuntimeError, match=f"missing: {RACK}=r1; twice: none"):
        settle(changed(lambda _: None))
