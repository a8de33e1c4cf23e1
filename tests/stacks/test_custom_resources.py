"""Our custom resources against upstream's own definitions, unknown fields included: the API server would drop those."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from components.sources import documents
from tests.schemas import closed
from twin import tools
from twin.rehearsal import Rehearsal

Rehearse = Callable[[Callable[[dict[str, Any]], Any]], Rehearsal]
_RAY = ("ray.io_rayclusters", "ray.io_rayjobs", "ray.io_rayservices")


@pytest.fixture(scope="module")
def schemas() -> Mapping[tuple[str, str], Mapping[str, Any]]:
    """The schema of each kind by apiVersion and kind."""
    folders = tools.ensure_sources(["volcano-chart", "kuberay-operator", "prometheus-operator"])
    wanted = ("scheduling.volcano.sh_queues", "topology.volcano.sh_hypernodes", "batch.volcano.sh_jobs", *_RAY)
    found = {}
    files = [path for folder in folders.values() for path in Path(folder).rglob("crd/bases/*.yaml")]
    monitoring = list(folders["prometheus-operator"].glob("*.yaml"))
    for file in [*files, *monitoring]:
        if file.stem in wanted or file in monitoring:
            (definition,) = documents(file)
            spec = definition["spec"]
            for version in spec["versions"]:
                key = f"{spec['group']}/{version['name']}", spec["names"]["kind"]
                found[key] = closed(version["schema"]["openAPIV3Schema"])
    return found


def static_racks(value: dict[str, Any]) -> None:
    racks: dict[str, Any] = {
        f"r{n}": {"nodes": [f"r{n}-{m:02}" for m in range(16)], "parent": f"s{n // 2}"} for n in range(4)
    }
    value["topology"] = {"levels": ["spine", "rack"], "racks": {"s0": {}, "s1": {}, **racks}}
    value["pools"]["train"].pop("domains")


def autoscaled(value: dict[str, Any]) -> None:
    value["ray"]["clusters"]["tuning"]["workers"]["count"] = {"min": 1, "max": 4}


def workloads(value: dict[str, Any]) -> None:
    """One of each kind and framework."""
    it = value["ray"]["clusters"]["tuning"]
    value["ray"]["jobs"] = {"sweep": {**it, "entrypoint": "python sweep.py", "ttl": "15m"}}
    serve = {"applications": [{"name": "chat", "import_path": "chat:app"}]}
    value["ray"]["services"] = {"chat": {**it, "serve": serve}}
    base = {key: it[key] for key in ("namespace", "queue", "pool", "workers", "within")}
    job = {**base, "image": "registry.example.com/train:1.0", "command": ["train"], "priority": "high"}
    launcher = {"cpu": 2, "memory": "4Gi"}
    elastic = {**it["workers"], "count": {"min": 2, "max": 4}}
    value["training"] = {
        "jobs": {
            "llm": job,
            "fluid": {**job, "framework": "mpi", "launcher": launcher, "workers": {**it["workers"], "count": 3}},
            "loose": {**job, "framework": "none", "workers": elastic},
        }
    }


@pytest.mark.parametrize("change", [lambda _: None, static_racks, autoscaled, workloads])
def test_custom_resources_keep_to_their_definitions(
    rehearsed: Rehearse, schemas: Mapping[tuple[str, str], Mapping[str, Any]], change: Callable[[dict[str, Any]], Any]
) -> None:
    rehearsal = rehearsed(change)
    judged = 0
    for resource in rehearsal.resources:
        schema = schemas.get((str(resource.inputs.get("apiVersion")), str(resource.inputs.get("kind"))))
        if schema is not None:
            jsonschema.Draft202012Validator(schema).validate({**resource.inputs, "metadata": {}})
            judged += 1
    ours = [
        each
        for each in rehearsal.resources
        if each.type.rpartition(":")[2]
        in {"Queue", "QueuePatch", "HyperNode", "RayCluster", "PrometheusRule", "ServiceMonitor"}
        | {"RayJob", "RayService", "Job"}
    ]
    assert judged == len([each for each in ours if each.custom])


def test_field_that_upstream_does_not_know_is_found(
    rehearsed: Rehearse, schemas: Mapping[tuple[str, str], Mapping[str, Any]]
) -> None:
    inputs = dict(rehearsed(lambda _: None).named("platform-ray-tuning-cluster").inputs)
    inputs["spec"] = {**inputs["spec"], "headGroupSpec": {**inputs["spec"]["headGroupSpec"], "replicas": 2}}
    with pytest.raises(jsonschema.ValidationError, match="replicas"):
        jsonschema.Draft202012Validator(schemas["ray.io/v1", "RayCluster"]).validate({**inputs, "metadata": {}})
