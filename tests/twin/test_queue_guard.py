"""A busy queue on the real Volcano: nobody deletes it, it closes before it goes, and comes back open."""

from collections.abc import Iterator
from typing import Any

import pytest
from cluster_helpers import eventually
from lightkube import Client, codecs
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_global_resource, create_namespaced_resource

from cli import explaining, queue_removal, seeing
from cli.queue_removal import Departure
from cli.refusals import RefusedError
from model.volcano import AGREED, REMOVAL
from model.waiting import reasons
from model.waiting.seen import Workload
from tests.model.documents import environment
from twin.rehearsal import rehearse

Queue = create_global_resource("scheduling.volcano.sh", "v1beta1", "Queue", "queues")
Job = create_namespaced_resource("batch.volcano.sh", "v1alpha1", "Job", "jobs")
NAME = "guarded"


@pytest.fixture(scope="module", autouse=True)
def guarded(volcano: Client) -> Iterator[None]:
    """The guard as the stack makes it, a queue and a gang that runs in it."""
    rehearsal = rehearse(environment(), stack="guard")
    for name in ("platform-queues-guard", "platform-queues-guard-binding"):
        volcano.apply(codecs.from_dict(dict(rehearsal.named(name).inputs)), field_manager="tests")
    make(volcano)
    container = {"name": "main", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": {"cpu": "1"}}}
    pod = {"restartPolicy": "Never", "containers": [container]}
    task = {"name": "worker", "replicas": 2, "template": {"spec": pod}}
    spec = {"schedulerName": "volcano", "queue": NAME, "minAvailable": 2, "tasks": [task]}
    volcano.create(Job.from_dict({"metadata": {"name": "in-it", "namespace": "default"}, "spec": spec}))
    eventually(lambda: answer(volcano).verdict == "runs", 30, "the gang runs")
    eventually(lambda: pods(volcano) == "2", 30, "the queue knows its pods")
    yield
    volcano.delete(Job, "in-it", namespace="default")


def make(client: Client) -> None:
    spec = {"parent": "root", "weight": 1, "reclaimable": True, "capability": {"cpu": "3"}}
    client.create(Queue.from_dict({"metadata": {"name": NAME}, "spec": spec}))
    eventually(lambda: state(client) == "Open", 20, "the queue opens")


def live(client: Client) -> dict[str, Any]:
    return next((each for each in seeing.objects(client, Queue) if each["metadata"]["name"] == NAME), {})


def state(client: Client) -> str:
    return (live(client).get("status") or {}).get("state", "")


def pods(client: Client) -> str:
    return str(((live(client).get("status") or {}).get("allocated") or {}).get("pods", ""))


def answer(client: Client, name: str = "default/in-it") -> reasons.Answer:
    seen = seeing.cluster(client)
    return reasons.explain(seen, explaining.find(seen, name, ()), {})


def test_the_cluster_refuses_to_delete_it(volcano: Client) -> None:
    with pytest.raises(ApiError, match=rf"queue {NAME} has pods in it \(2\)"):
        volcano.delete(Queue, NAME)


def test_who_is_in_it_is_listed_and_it_stays_open(volcano: Client) -> None:
    with (
        pytest.raises(RefusedError, match=r"job default/in-it +2 pods"),
        queue_removal.closed(volcano, Departure((NAME,)), "destroy", force=False),
    ):
        pytest.fail("it is busy")
    assert state(volcano) == "Open"


def test_it_is_closed_meanwhile_and_open_again_when_it_stays(volcano: Client) -> None:
    ours = Departure((NAME,), frozenset({Workload("Job", "default", "in-it")}))
    with queue_removal.closed(volcano, ours, "up", force=False):
        assert state(volcano) == "Closing"
        assert live(volcano)["metadata"]["annotations"][REMOVAL] == AGREED
    assert state(volcano) == "Open"
    assert REMOVAL not in (live(volcano)["metadata"].get("annotations") or {})


def test_a_queue_that_is_too_small_says_so(volcano: Client) -> None:
    container = {"name": "main", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": {"cpu": "2"}}}
    pod = {"restartPolicy": "Never", "containers": [container]}
    for name, replicas in (("larger", 2), ("later", 1)):
        task = {"name": "worker", "replicas": replicas, "template": {"spec": pod}}
        spec = {"schedulerName": "volcano", "queue": NAME, "minAvailable": replicas, "tasks": [task]}
        volcano.create(Job.from_dict({"metadata": {"name": name, "namespace": "default"}, "spec": spec}))
    eventually(lambda: {"larger", "later"} <= {each.workload.name for each in seeing.groups(volcano)})
    (never,) = answer(volcano, "larger").reasons
    assert (
        never.says
        == f"the gang is larger than queue {NAME}: it asks for 4 cpu, the queue may never use more than 3 cpu"
    )
    full = answer(volcano, "later").reasons[0]
    assert full.says == f"queue {NAME} is full: it may use 3 cpu, 2 cpu are in use, and this asks for 2 cpu"
    assert full.details[0].startswith("job default/in-it  2 cpu")
    for name in ("larger", "later"):
        volcano.delete(Job, name, namespace="default")


def test_with_force_it_goes_and_made_again_it_is_open(volcano: Client) -> None:
    with queue_removal.closed(volcano, Departure((NAME,)), "destroy", force=True):
        volcano.delete(Queue, NAME)
    assert live(volcano) == {}
    make(volcano)
    assert eventually(lambda: pods(volcano) == "2", 20, "what was left in it counts again")
