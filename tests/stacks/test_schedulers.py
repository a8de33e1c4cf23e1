"""The stack under each scheduler: who is installed, what workloads become, and that it is what upstream defines."""

from collections.abc import Mapping
from typing import Any

import jsonschema
import pytest
import yaml

from components.crds import templated
from components.sources import documents
from model.document import load
from tests.model.documents import drop, example, put
from tests.model.test_schedulers import fitting
from tests.schemas import closed
from twin import tools
from twin.rehearsal import Rehearsal, rehearse

JOB: dict[str, Any] = {
    "namespace": "research",
    "queue": "research.vision",
    "pool": "train",
    "image": "nvcr.io/nvidia/pytorch:25.08-py3",
    "command": ["python", "train.py"],
    "workers": {"count": 2, "cpu": 64, "memory": "512Gi", "gpus": 8},
    "within": {"level": "rack"},
}


@pytest.fixture(scope="module", params=["kueue", "kai"])
def rehearsed(request: pytest.FixtureRequest) -> tuple[str, Rehearsal]:
    changes = fitting(request.param, put("training.jobs.big", JOB), drop("releases"))
    return request.param, rehearse(load(example(*changes)), stack="example")


def _made(rehearsal: Rehearsal, kind: str) -> dict[str, Mapping[str, Any]]:
    return {it.inputs["metadata"]["name"]: it.inputs for it in rehearsal.resources if it.inputs.get("kind") == kind}


def test_nothing_of_volcano_is_left(rehearsed: tuple[str, Rehearsal]) -> None:
    kind, rehearsal = rehearsed
    # People may still submit Volcano's kinds, so the laws about workloads name them under any scheduler.
    ours = [it for it in rehearsal.resources if "ValidatingAdmissionPolicy" not in it.type]
    assert not [it.name for it in ours if "volcano" in f"{it.type} {it.name} {it.inputs}"]
    assert {"kueue": "Kueue", "kai": "Kai"}[kind] in {it.type.rpartition(":")[2] for it in rehearsal.resources}


def test_a_training_job_is_a_job_set(rehearsed: tuple[str, Rehearsal]) -> None:
    kind, rehearsal = rehearsed
    made = _made(rehearsal, "JobSet")["big"]
    label = {"kueue": "kueue.x-k8s.io/queue-name", "kai": "kai.scheduler/queue"}[kind]
    assert made["metadata"]["labels"] == {label: "research.vision"}
    assert made["spec"]["failurePolicy"] == {"maxRestarts": 3}
    (job,) = made["spec"]["replicatedJobs"]
    inner = job["template"]["spec"]
    assert (inner["completions"], inner["parallelism"], inner["backoffLimit"]) == (2, 2, 0)
    pod = inner["template"]["spec"]
    assert pod.get("schedulerName") == {"kueue": None, "kai": "kai-scheduler"}[kind]
    variables = {it["name"]: it for it in pod["containers"][0]["env"]}
    assert variables["MASTER_ADDR"]["value"] == "big-worker-0-0.big"
    assert variables["WORLD_SIZE"]["value"] == "2"
    assert "job-completion-index" in variables["RANK"]["valueFrom"]["fieldRef"]["fieldPath"]


def test_what_stays_close_is_told_in_the_schedulers_own_words(rehearsed: tuple[str, Rehearsal]) -> None:
    kind, rehearsal = rehearsed
    cluster = _made(rehearsal, "RayCluster")["tuning"]
    head, (workers,) = cluster["spec"]["headGroupSpec"], cluster["spec"]["workerGroupSpecs"]
    if kind == "kai":
        own = cluster["metadata"]["annotations"]
        assert own["kai.scheduler/topology-required-placement"] == "topology.example.com/rack"
        return
    asked = {
        "kueue.x-k8s.io/podset-required-topology": "topology.example.com/rack",
        "kueue.x-k8s.io/podset-group-name": "gang",
    }
    assert head["template"]["metadata"]["annotations"] == asked
    assert asked.items() <= workers["template"]["metadata"]["annotations"].items()


@pytest.fixture(scope="module")
def schemas() -> Mapping[tuple[str, str], Mapping[str, Any]]:
    """The schemas of Kueue and JobSet by apiVersion and kind, as their charts have them."""
    folders = tools.ensure_sources(["kueue-chart", "jobset-chart"])
    of_kueue = [yaml.safe_load(text) for _, text in templated.texts(folders["kueue-chart"])]
    of_job_set = [body for file in (folders["jobset-chart"] / "crds").glob("*.yaml") for body in documents(file)]
    found = {}
    for definition in (*of_kueue, *of_job_set):
        spec = definition["spec"]
        for version in spec["versions"]:
            key = f"{spec['group']}/{version['name']}", spec["names"]["kind"]
            found[key] = closed(version["schema"]["openAPIV3Schema"])
    return found


def test_objects_of_kueue_keep_to_their_definitions(schemas: Mapping[tuple[str, str], Mapping[str, Any]]) -> None:
    rehearsal = rehearse(load(example(*fitting("kueue", put("training.jobs.big", JOB)))), stack="example")
    judged = set()
    for made in rehearsal.resources:
        key = str(made.inputs.get("apiVersion")), str(made.inputs.get("kind"))
        if key in schemas:
            jsonschema.Draft202012Validator(schemas[key]).validate({**made.inputs, "metadata": {}})
            judged.add(key[1])
    assert judged == {"Topology", "ResourceFlavor", "Cohort", "ClusterQueue", "LocalQueue", "JobSet"}
