"""Workloads as the stack makes them, on a cluster that is up, without an `up` of their own."""

import copy
import json
from typing import Any

from lightkube import ApiError, Client
from lightkube.generic_resource import create_namespaced_resource
from lightkube.resources.core_v1 import Pod
from lightkube.types import PatchType

from model import document, gangs
from model.environment import Environment
from model.quantities import Quantity
from tests.model.hand_written_jobs import JOBS
from twin.rehearsal import rehearse
from twin.stages import RUNS_FOR

from .looking import Job, PodGroup, bound, eventually, pods, racks

RayCluster: Any = create_namespaced_resource("ray.io", "v1", "RayCluster", "rayclusters")
NAME = "pretraining"
AT = ("training", "jobs", NAME)


def _with_training(value: dict[str, Any]) -> Environment:
    """The document of the twin with a job of eight nodes within a rack."""
    changed = copy.deepcopy(value)
    it = changed["ray"]["clusters"]["tuning"]
    job = {key: it[key] for key in ("namespace", "queue", "pool", "within")}
    job |= {"image": "nvcr.io/nvidia/pytorch:25.11-py3", "command": ["torchrun", "train.py"], "restarts": 1}
    changed["training"] = {"jobs": {NAME: {**job, "workers": {**it["workers"], "count": 8}}}}
    return document.load(changed)


def _object(environment: Environment) -> dict[str, Any]:
    """The object that the stack makes of it."""
    made = rehearse(environment, stack="twin").named(f"platform-training-{NAME}-job")
    return json.loads(json.dumps(made.inputs, default=dict))


def starts_comes_back_and_completes(client: Client, value: dict[str, Any]) -> None:
    """A job starts whole within a rack, starts anew as a whole when it loses a pod, and completes."""
    environment = _with_training(value)
    client.create(Job.from_dict(_object(environment)))
    assert eventually(lambda: _ran(client))
    found = _pods(client)
    assert len(found) == 8
    assert len(racks(client, bound(found))) == 1
    settings = [{each.name: each.value for each in pod.spec.containers[0].env or []} for pod in found if pod.spec]
    assert sorted(each["RANK"] or "" for each in settings) == list("01234567")
    assert {each["WORLD_SIZE"] for each in settings} == {"8"}
    _is_counted(client, gangs.gang(environment, AT))
    before = {pod.metadata.uid for pod in found if pod.metadata}
    client.delete(Pod, f"{NAME}-worker-3", namespace="research")

    def back() -> bool:
        now = [pod for pod in _pods(client) if pod.metadata and pod.metadata.uid not in before]
        return len(now) == 8 and _phase(client) == "Running"

    assert eventually(back), _phase(client)
    for pod in _pods(client):
        assert pod.metadata
        assert pod.metadata.name
        client.patch(Pod, pod.metadata.name, {"metadata": {"annotations": {RUNS_FOR: "1s"}}}, namespace="research")
    assert eventually(lambda: _phase(client) == "Completed"), _phase(client)
    client.delete(Job, NAME, namespace="research")


def _pods(client: Client) -> list[Any]:
    return pods(client, "research", **{"volcano.sh/job-name": NAME})


def _is_counted(client: Client, gang: gangs.Gang) -> None:
    """Volcano's own count of the gang is the model's."""
    (group,) = [each for each in client.list(PodGroup, namespace="research") if each.metadata.name.startswith(NAME)]
    assert group["spec"]["minMember"] == gang.pods == 8
    counted = {name: Quantity.parse(group["spec"]["minResources"][name]) for name in gang.min_resources}
    assert counted == gang.min_resources


def _status(client: Client) -> dict[str, Any]:
    return client.get(Job, NAME, namespace="research").get("status") or {}


def _phase(client: Client) -> str | None:
    return _status(client).get("state", {}).get("phase")


def _ran(client: Client) -> bool:
    """What `up` waits for."""
    return "Running" in {each["status"] for each in _status(client).get("conditions", [])}


ELASTIC = "elastic"


def starts_with_its_least_and_grows(client: Client, value: dict[str, Any]) -> None:
    """A Ray cluster of 4 to 16 workers starts with the head and 4, and what Ray's autoscaler asks for comes, too."""
    changed = copy.deepcopy(value)
    clusters = changed["ray"]["clusters"]
    least = {key: each for key, each in clusters["tuning"].items() if key != "within"}
    clusters[ELASTIC] = {**least, "workers": {**least["workers"], "count": {"min": 4, "max": 16}}}
    environment = document.load(changed)
    made = rehearse(environment, stack="twin").named(f"platform-ray-{ELASTIC}-cluster")
    client.create(RayCluster.from_dict(json.loads(json.dumps(made.inputs, default=dict))))
    assert eventually(lambda: len(bound(_of_elastic(client))) == 5)
    group = client.get(PodGroup, f"ray-{ELASTIC}-pg", namespace="research")
    assert group["spec"]["minMember"] == gangs.gang(environment, ("ray", "clusters", ELASTIC)).pods == 5
    (head,) = [pod for pod in _of_elastic(client) if (pod.metadata.labels or {}).get("ray.io/node-type") == "head"]
    assert "autoscaler" in {container.name for container in head.spec.containers}
    # As the autoscaler does it, whose field this is.
    grown = [{"op": "add", "path": "/spec/workerGroupSpecs/0/replicas", "value": 6}]
    client.patch(RayCluster, ELASTIC, grown, namespace="research", patch_type=PatchType.JSON)
    assert eventually(lambda: len(bound(_of_elastic(client))) == 7)
    client.delete(RayCluster, ELASTIC, namespace="research")
    assert eventually(lambda: not _of_elastic(client))


def _of_elastic(client: Client) -> list[Any]:
    return pods(client, "research", **{"ray.io/cluster": ELASTIC})


def are_refused_as_the_model_says(client: Client) -> None:
    """Volcano refuses just those jobs that the model calls wrong."""
    answers: dict[str, str] = {}
    for number, (case, written) in enumerate(JOBS.items()):
        name = f"{written.name}-{number}"[-54:]
        spec = {"queue": "research.vision", **written.spec}
        try:
            client.create(Job.from_dict({"metadata": {"name": name, "namespace": "research"}, "spec": spec}))
            client.delete(Job, name, namespace="research")
        except ApiError as refusal:
            answers[case] = str(refusal)
    assert answers.keys() == {case for case, written in JOBS.items() if written.refused}, answers
