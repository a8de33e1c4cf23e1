"""Reading a cluster that has not got everything yet."""

from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest
from lightkube import Client
from lightkube.config.kubeconfig import KubeConfig
from lightkube.config.models import Cluster, User

from cli import seeing
from model.waiting.seen import Workload


def reading(answer: httpx2.Response) -> Client:
    """A client of a cluster that answers this to everything."""
    config = KubeConfig.from_one(cluster=Cluster(server="http://cluster.test"), user=User())
    return Client(config=config, transport=httpx2.MockTransport(lambda _: answer))


@pytest.mark.parametrize(
    "answer",
    [
        httpx2.Response(404, text="404 page not found\n"),
        httpx2.Response(404, json={"kind": "Status", "code": 404, "reason": "NotFound", "message": "no such kind"}),
    ],
)
def test_a_kind_that_the_cluster_does_not_know_has_no_objects(answer: httpx2.Response) -> None:
    # Before the first `up` there is not even the group, and the API server answers without a Status.
    assert seeing.objects(reading(answer), seeing.Queue) == []


def test_another_refusal_is_one() -> None:
    with pytest.raises(httpx2.HTTPStatusError):
        seeing.objects(reading(httpx2.Response(500, text="no")), seeing.Queue)


def with_jobs(*jobs: dict[str, Any]) -> Client:
    """A client of a cluster that has these jobs and nothing else."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        found = jobs if "batch.volcano.sh" in request.url.path else ()
        return httpx2.Response(200, json={"items": found, "metadata": {}})

    config = KubeConfig.from_one(cluster=Cluster(server="http://cluster.test"), user=User())
    return Client(config=config, transport=httpx2.MockTransport(answer))


def job(**state: str) -> dict[str, Any]:
    made = {"name": "train", "namespace": "research", "uid": "4f1c", "creationTimestamp": "2026-11-30T10:00:00Z"}
    template = {"spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": 8}}}]}}
    spec = {"minAvailable": 2, "queue": "research.llm", "tasks": [{"name": "worker", "replicas": 2}]}
    spec["tasks"][0]["template"] = template
    return {"metadata": made, "spec": spec, "status": {"state": state}}


@pytest.mark.parametrize(
    ("state", "phase", "hour"),
    [
        ({"phase": "Restarting", "lastTransitionTime": "2026-11-30T11:00:00Z"}, "Restarting", 11),
        ({"phase": "Aborted"}, "Aborted", 10),
        ({}, "Pending", 10),
    ],
)
def test_a_job_without_a_podgroup_is_work_that_waits(state: dict[str, str], phase: str, hour: int) -> None:
    (group,) = seeing.groups(with_jobs(job(**state)))
    assert (group.workload, group.phase, group.name) == (Workload("Job", "research", "train"), phase, "")
    assert (group.members, group.asks["nvidia.com/gpu"]) == (2, 16)
    assert (group.former, group.changed) == ("train-4f1c", datetime(2026, 11, 30, hour, tzinfo=UTC))


@pytest.mark.parametrize("phase", ["Completed", "Failed", "Terminated"])
def test_a_job_that_is_over_waits_for_nothing(phase: str) -> None:
    assert seeing.groups(with_jobs(job(phase=phase))) == []
