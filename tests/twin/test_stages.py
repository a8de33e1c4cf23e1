"""What simulated nodes do with pods: run what is known, complete Jobs of Kubernetes, leave the rest unready."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from cluster_helpers import eventually, is_ready, look_up
from lightkube import Client
from lightkube.models.batch_v1 import JobSpec
from lightkube.models.core_v1 import Container, PodSpec, PodTemplateSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import Pod

from twin import images, stages
from twin.cluster import Twin

KNOWN = "registry.k8s.io/pause:3.10"
UNKNOWN = "example.com/unheard-of:1"


@pytest.fixture
def client(twin: Twin) -> Iterator[Client]:
    with twin.client() as made:
        yield made


def create(client: Client, name: str, *containers: str) -> None:
    made = [Container(f"c{number}", image=image) for number, image in enumerate(containers)]
    metadata = ObjectMeta(name=name, namespace="default")
    client.create(Pod(metadata=metadata, spec=PodSpec(containers=made)))


def timed(client: Client, name: str, seconds: int) -> None:
    metadata = ObjectMeta(name=name, namespace="default", annotations={stages.RUNS_FOR: f"{seconds}s"})
    client.create(Pod(metadata=metadata, spec=PodSpec(containers=[Container("work", image=UNKNOWN)])))


def pod(client: Client, name: str) -> dict[str, Any]:
    return look_up(client, Pod, name, "default")


def names(client: Client) -> set[str]:
    return {found.to_dict()["metadata"]["name"] for found in client.list(Pod, namespace="default")}


def test_pods_of_known_images_run_and_are_deleted_at_once(client: Client) -> None:
    create(client, "known", KNOWN, "mirror.example.com:5000/deep/rayproject/ray:2.52.0-py312-gpu")
    eventually(lambda: is_ready(pod(client, "known")))
    status = pod(client, "known")["status"]
    assert status["phase"] == "Running"
    assert status["podIP"].startswith("10.")
    assert [(container["ready"], container["started"]) for container in status["containerStatuses"]] == [
        (True, True)
    ] * 2
    client.delete(Pod, "known", namespace="default")
    eventually(lambda: "known" not in names(client))


def test_a_pod_whose_work_takes_a_time_completes_after_it_whatever_its_image(client: Client) -> None:
    timed(client, "soon", 2)
    timed(client, "late", 600)
    eventually(lambda: pod(client, "soon")["status"]["phase"] == "Succeeded")
    state = pod(client, "soon")["status"]["containerStatuses"][0]["state"]["terminated"]
    started, finished = (datetime.fromisoformat(state[key]) for key in ("startedAt", "finishedAt"))
    assert 2 <= (finished - started).total_seconds() < 10
    assert is_ready(pod(client, "late"))


def test_one_unknown_image_keeps_a_pod_unready_and_status_names_it(twin: Twin, client: Client) -> None:
    create(client, "half-known", KNOWN, UNKNOWN)
    create(client, "after-it", KNOWN)
    eventually(lambda: is_ready(pod(client, "after-it")))
    assert pod(client, "half-known")["spec"]["nodeName"]
    assert pod(client, "half-known")["status"]["phase"] == "Pending"
    (unknown,) = (found for found in twin.status().unknown if found.image == UNKNOWN)
    assert (unknown.pods, unknown.example) == (1, "default/half-known")
    for name in ("half-known", "after-it"):
        client.delete(Pod, name, namespace="default")
    eventually(lambda: UNKNOWN not in {found.image for found in twin.status().unknown})


def test_jobs_of_kubernetes_complete_at_once(client: Client) -> None:
    template = PodTemplateSpec(spec=PodSpec(containers=[Container("main", image=KNOWN)], restartPolicy="Never"))
    client.create(Job(metadata=ObjectMeta(name="done", namespace="default"), spec=JobSpec(template=template)))
    eventually(lambda: look_up(client, Job, "done", "default").get("status", {}).get("succeeded") == 1)


@pytest.mark.parametrize(
    ("image", "program"),
    [
        ("docker.io/volcanosh/vc-scheduler:v1.15.1", "vc-scheduler"),
        ("volcanosh/vc-scheduler", "vc-scheduler"),
        ("10.0.0.1:5000/a/volcanosh/vc-webhook-manager@sha256:ab", "vc-webhook-manager"),
        ("quay.io/kuberay/operator:v1.6.2", "kuberay-operator"),
        ("quay.io/notkuberay/operator:v1.6.2", None),
        ("docker.io/volcanosh/vc-scheduler-extra:v1", None),
        ("", None),
    ],
)
def test_lent_images_are_known_by_the_end_of_their_repository(image: str, program: str | None) -> None:
    assert images.lent_program(image) == program


@pytest.mark.parametrize(
    ("image", "simulated"),
    [
        ("rayproject/ray:2.52.0", True),
        ("registry.example.com:5000/mirror/rayproject/ray@sha256:0123", True),
        ("nvcr.io/nvidia/k8s-device-plugin:v0.18.0", True),
        ("rayproject/ray-llm:2.52.0", False),
        ("example.com/notrayproject/ray:1", False),
        ("pause", True),
        ("docker.io/someone/pause-button:1", False),
        ("", False),
    ],
)
def test_simulated_images_are_known_by_the_end_of_their_repository(image: str, simulated: bool) -> None:
    assert images.is_simulated(image) is simulated
