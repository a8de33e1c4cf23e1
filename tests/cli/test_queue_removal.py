"""Queues that go: what goes with them, and whose work is in the way."""

import json
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest

from cli import queue_removal
from cli.queue_removal import Departure
from cli.refusals import RefusedError
from model.waiting.seen import Group, Workload

QUEUE = queue_removal.QUEUE_TYPE
GPU = "nvidia.com/gpu"


def _resource(kind: str, name: str, namespace: str | None = None, **marks: Any) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"urn": f"urn::{name}", "type": kind, "outputs": {"metadata": metadata}, **marks}


def _state(*resources: dict[str, Any]) -> str:
    return json.dumps({"deployment": {"resources": list(resources)}})


STATE = _state(
    {"urn": "urn:stack", "type": "pulumi:pulumi:Stack"},
    _resource(QUEUE, "research"),
    _resource(QUEUE, "research.llm"),
    _resource(QUEUE, "kept", retainOnDelete=True),
    _resource("kubernetes:scheduling.volcano.sh/v1beta1:QueuePatch", "default", retainOnDelete=True),
    _resource("kubernetes:ray.io/v1:RayCluster", "tuning", "research"),
    _resource("kubernetes:batch.volcano.sh/v1alpha1:Job", "train", "research"),
)


def test_a_destroy_removes_all_parts_before_the_whole() -> None:
    going = queue_removal.departure(STATE)
    assert going.queues == ("research.llm", "research")
    assert going.workloads == {Workload("RayCluster", "research", "tuning"), Workload("Job", "research", "train")}


def test_an_up_removes_what_the_program_has_no_more() -> None:
    assert queue_removal.departure(STATE, {"urn::research", "urn::tuning", "urn::train"}) == Departure(
        ("research.llm",), frozenset()
    )


@pytest.mark.parametrize("state", ["{}", '{"deployment": null}', '{"deployment": {}}'])
def test_a_stack_that_was_never_brought_up_has_nothing_to_remove(state: str) -> None:
    assert queue_removal.departure(state) == Departure()


def _group(name: str, queue: str, phase: str = "Running", kind: str = "Job") -> Group:
    return Group(Workload(kind, "research", name), queue, phase, 4, {GPU: Decimal(32), "cpu": Decimal(8)})


GOING = Departure(("research.llm", "research"), frozenset({Workload("RayCluster", "research", "tuning")}))


@pytest.mark.parametrize(
    ("group", "in_the_way"),
    [
        (_group("train", "research.llm"), True),
        (_group("train", "research.llm", "Pending"), True),
        (_group("train", "research.llm", "Inqueue"), True),
        (_group("train", "research.llm", "Aborted"), True),  # it can be resumed
        (_group("train", "research.vision"), False),
        (_group("train", "production"), False),
        (_group("tuning", "research.llm", kind="RayCluster"), False),  # goes before the queue
        (_group("tuning", "research.llm", kind="Job"), True),  # has the same name, and is another thing
    ],
)
def test_work_is_in_the_way_where_its_queue_goes_and_it_does_not(group: Group, in_the_way: bool) -> None:
    assert (queue_removal.busy([group], GOING) == [group]) is in_the_way


class Cluster:
    """A cluster with queues and work, whose Volcano obeys commands at once, unless it is down."""

    def __init__(self, queues: dict[str, str], *groups: Group, obeys: bool = True) -> None:
        self.states = dict.fromkeys(queues, "Open")
        self.parents = queues
        self.annotations: dict[str, dict[str, str]] = {name: {} for name in queues}
        self.groups = groups
        self.obeys = obeys
        self.orders: list[tuple[str, str]] = []

    def queues(self, _: Any) -> dict[str, Any]:
        return {
            name: {
                "metadata": {"name": name, "uid": "1", "annotations": dict(self.annotations[name])},
                "spec": {"parent": self.parents[name]},
                "status": {"state": state},
            }
            for name, state in self.states.items()
        }

    def patch(self, _: Any, name: str, change: dict[str, Any], patch_type: Any) -> None:
        for key, value in change["metadata"]["annotations"].items():
            self.annotations[name].pop(key, None)
            if value is not None:
                self.annotations[name][key] = value

    def create(self, command: Any) -> None:
        name, action = command["target"]["name"], command["action"]
        self.orders.append((action, name))
        if self.obeys:
            self.states[name] = {"CloseQueue": "Closed", "OpenQueue": "Open"}[action]


TREE = {"root": "", "research": "root", "research.llm": "research", "research.vision": "research"}
WHOLE = Departure(("research.vision", "research.llm", "research"))


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_removal, "_queues", lambda client: client.queues(client))
    monkeypatch.setattr(queue_removal.seeing, "groups", lambda client: client.groups)
    monkeypatch.setattr(queue_removal, "SECONDS", 0)


@pytest.mark.usefixtures("seen")
def test_a_busy_queue_stays_open_and_who_is_in_it_is_listed() -> None:
    other = Group(Workload("RayJob", "research", "sweep"), "research.vision", "Inqueue", 1)
    cluster: Any = Cluster(TREE, _group("train", "research.llm"), other)
    with pytest.raises(RefusedError) as refused, queue_removal.closed(cluster, WHOLE, "destroy", force=False):
        pytest.fail("the engine was run")
    assert str(refused.value).splitlines() == [
        "destroy: work that is not of this stack is in queues that go; it would be left without a queue",
        "  research.llm     runs     job research/train      4 pods, 32 nvidia.com/gpu",
        "  research.vision  inqueue  Ray job research/sweep  1 pod",
        "  fix: let it end, or move it to another queue; --force removes the queues all the same",
    ]
    assert cluster.orders == []


@pytest.mark.usefixtures("seen")
def test_an_idle_queue_is_closed_while_the_engine_works_and_open_again_if_it_stays() -> None:
    cluster: Any = Cluster(TREE)
    with suppress(RefusedError), queue_removal.closed(cluster, WHOLE, "destroy", force=False):
        assert [cluster.states[name] for name in TREE] == ["Open", "Closed", "Closed", "Closed"]
        assert all(cluster.annotations[name] for name in WHOLE.queues)
        del cluster.states["research.vision"]  # one went, then the engine failed
        raise RefusedError
    assert cluster.states == {"root": "Open", "research": "Open", "research.llm": "Open"}
    assert cluster.orders[3:] == [("OpenQueue", "research"), ("OpenQueue", "research.llm")]
    assert not any(cluster.annotations[name] for name in cluster.states)


@pytest.mark.usefixtures("seen")
def test_with_force_a_busy_queue_is_removed() -> None:
    cluster: Any = Cluster(TREE, _group("train", "research.llm"))
    with queue_removal.closed(cluster, WHOLE, "destroy", force=True):
        assert cluster.annotations["research.llm"] == {"gangline.dev/removal": "agreed"}
        for name in WHOLE.queues:
            del cluster.states[name]
    assert [action for action, _ in cluster.orders] == ["CloseQueue"] * 3


@pytest.mark.usefixtures("seen")
def test_a_job_that_comes_while_queues_are_closed_is_seen() -> None:
    cluster: Any = Cluster(TREE)
    order = cluster.create

    def slow(command: Any) -> None:
        order(command)
        cluster.groups = (_group("late", "research.llm", "Pending"),)

    cluster.create = slow
    with (
        pytest.raises(RefusedError, match="job research/late"),
        queue_removal.closed(cluster, WHOLE, "up", force=False),
    ):
        pytest.fail("the engine was run")
    assert set(cluster.states.values()) == {"Open"}


@pytest.mark.usefixtures("seen")
def test_without_volcano_only_force_removes() -> None:
    cluster: Any = Cluster(TREE, obeys=False)
    with pytest.raises(RefusedError, match="does not close"), queue_removal.closed(cluster, WHOLE, "up", force=False):
        pytest.fail("the engine was run")
    assert not any(cluster.annotations.values())
    with queue_removal.closed(cluster, WHOLE, "up", force=True):
        pass


@pytest.mark.usefixtures("seen")
@pytest.mark.parametrize("force", [False, True])
def test_queues_of_others_below_are_told(force: bool) -> None:
    cluster: Any = Cluster({**TREE, "theirs": "research"})
    with (
        pytest.raises(RefusedError, match="theirs, a part of research"),
        queue_removal.closed(cluster, WHOLE, "destroy", force=force),
    ):
        pytest.fail("the engine was run")


@pytest.mark.usefixtures("seen")
def test_what_a_killed_run_closed_is_opened_and_what_a_person_closed_is_not() -> None:
    cluster: Any = Cluster(TREE)
    cluster.states |= {"research.llm": "Closed", "research.vision": "Closed"}
    cluster.annotations["research.llm"] = {"gangline.dev/removal": "agreed"}
    queue_removal.reopen_abandoned(cluster, Departure())
    assert (cluster.states["research.llm"], cluster.states["research.vision"]) == ("Open", "Closed")


@pytest.mark.usefixtures("seen")
def test_what_is_gone_already_needs_no_closing() -> None:
    cluster: Any = Cluster({"root": ""})
    with queue_removal.closed(cluster, WHOLE, "destroy", force=False):
        pass
    assert cluster.orders == []
