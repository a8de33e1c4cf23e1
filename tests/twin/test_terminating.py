"""A `destroy` that waited in vain says what for: finalizers on a real API server, with nobody who clears them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cluster_helpers import eventually
from lightkube import Client
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import ConfigMap, Namespace
from lightkube.types import PatchType

from cli import terminating
from cli.destroying import take_down
from cli.engine import Engine
from cli.refusals import RefusedError
from cli.upping import Place
from tests.model.documents import environment
from twin.cluster import Twin

Job = create_namespaced_resource("batch.volcano.sh", "v1alpha1", "Job", "jobs")
NAME, FOREIGN = "left-behind", "tests.example.com/nobody-clears-this"
NAMESPACE = {"type": "kubernetes:core/v1:Namespace", "outputs": {"metadata": {"name": NAME}}}
STATE = json.dumps({"deployment": {"resources": [{**NAMESPACE, "urn": "urn:namespace"}]}})


@pytest.fixture
def stuck(volcano: Client) -> Iterator[None]:
    """A namespace that is being deleted, with a job and a file in it that somebody's finalizers keep."""
    volcano.create(Namespace(metadata=ObjectMeta(name=NAME)))
    metadata = {"name": "kept", "namespace": NAME, "finalizers": [FOREIGN]}
    container = {"name": "main", "image": "registry.k8s.io/pause:3.10"}
    task = {"name": "worker", "replicas": 1, "template": {"spec": {"containers": [container]}}}
    spec = {"schedulerName": "volcano", "queue": "default", "minAvailable": 1, "tasks": [task]}
    volcano.create(ConfigMap(metadata=ObjectMeta(name="kept", namespace=NAME, finalizers=[FOREIGN])))
    volcano.create(Job.from_dict({"metadata": metadata, "spec": spec}))
    volcano.delete(Namespace, NAME)
    yield
    for kind in (ConfigMap, Job):
        loose: dict[str, Any] = {"metadata": {"finalizers": None}}
        volcano.patch(kind, "kept", loose, namespace=NAME, patch_type=PatchType.MERGE)
    eventually(lambda: NAME not in names(volcano), 60, "the namespace is gone")


def names(client: Client) -> list[str | None]:
    return [found.metadata.name for found in client.list(Namespace) if found.metadata]


@pytest.mark.usefixtures("stuck")
def test_what_finalizers_keep_is_told_when_destroy_fails(volcano: Client, twin: Twin) -> None:
    eventually(lambda: FOREIGN in " ".join(terminating.remaining(volcano, STATE)).partition("Namespace")[2], 30)
    place = Place("lab", Engine(Path("/bin/false"), twin.environment()), of_twin=True)
    with pytest.raises(RefusedError) as refusal:
        take_down(place, environment(), STATE, ["--yes"])
    first, *told, fix = str(refusal.value).splitlines()
    assert first == "pulumi destroy: exit 1, see above"
    assert f"  Job {NAME}/kept keeps {FOREIGN}" in told
    (namespace,) = [line for line in told if line.startswith(f"  Namespace {NAME}: ")]
    assert f"{FOREIGN} in 2 resource instances" in namespace
    assert fix.startswith("  fix: run that operator again")


def test_nothing_is_told_of_what_is_not_being_deleted(volcano: Client) -> None:
    assert not list(terminating.remaining(volcano, STATE))
