"""What `order` and `placement` of a document do on the real scheduler: who is served next, and on which nodes."""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import volcano_objects
import yaml
from cluster_helpers import eventually, offer
from lightkube import Client
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import ConfigMap, Pod

from model.offers import NodeOffer
from model.volcano import scheduler_configuration
from tests.model.documents import drop, environment, put
from twin.cluster import Twin

VolcanoJob = create_namespaced_resource("batch.volcano.sh", "v1alpha1", "Job", "jobs")
WHERE = "aims.example.com/nodes"
OWN = [offer(f"system-{number}") for number in range(3)]


def labelled(name: str, value: str, cores: int) -> NodeOffer:
    plain = offer(name, cpu=str(cores))
    return replace(plain, labels={**plain.labels, WHERE: value})


ONE = [labelled("one-0", "one", 4)]
THREE = [labelled(f"three-{number}", "three", 4) for number in range(3)]


@pytest.fixture(scope="module", autouse=True)
def back_again(twin: Twin, volcano: Client) -> Iterator[None]:
    yield
    twin.apply_nodes(OWN)
    configure(twin, volcano, volcano_objects.LIBERAL)


def configure(twin: Twin, client: Client, text: str) -> None:
    """Have the scheduler work by a configuration."""
    log = twin.paths.log("vc-scheduler")
    before = log.stat().st_size
    data = {"volcano-scheduler.conf": text}
    client.patch(ConfigMap, "volcano-scheduler-configmap", {"data": data}, namespace=volcano_objects.NAMESPACE)

    def loaded() -> bool:
        with log.open(errors="replace") as file:
            file.seek(before)
            return "actions=[" in file.read()

    eventually(loaded, what="the configuration is read")


def submit(client: Client, name: str, where: str, least: int, most: int) -> None:
    container = {"name": "main", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": {"cpu": "1"}}}
    pod = {"restartPolicy": "Never", "nodeSelector": {WHERE: where}, "containers": [container]}
    task = {"name": "worker", "replicas": most, "template": {"spec": pod}}
    spec = {"schedulerName": "volcano", "queue": "default", "minAvailable": least, "tasks": [task]}
    client.create(VolcanoJob(metadata=ObjectMeta(name=name, namespace="default"), spec=spec))


def nodes_of(client: Client, name: str) -> list[str | None]:
    """The nodes of a job's pods; None for those that have none."""
    found = client.list(Pod, namespace="default", labels={"volcano.sh/job-name": name})
    return [pod.spec.nodeName if pod.spec else None for pod in found]


@pytest.mark.parametrize(
    ("aims", "shares", "spread"),
    [
        ({"order": "fair", "placement": "spread"}, {"older": 2, "younger": 2}, 3),
        # The older gets all that it can use, once the younger has what it must have to start at all.
        ({"order": "priority", "placement": "pack"}, {"older": 3, "younger": 1}, 1),
    ],
    ids=["fair and spread", "by age and packed"],
)
def test_who_is_next_and_where(
    twin: Twin, volcano: Client, aims: dict[str, Any], shares: dict[str, int], spread: int
) -> None:
    env = environment(
        put("scheduler", aims), put("topology", {}), drop("pools.train.domains"), drop("ray.clusters.tuning.within")
    )
    configure(twin, volcano, yaml.safe_dump(scheduler_configuration(env), sort_keys=False))
    submit(volcano, "older", "one", 1, 6)
    time.sleep(1.1)  # an age is in whole seconds
    submit(volcano, "younger", "one", 1, 6)
    # All their pods are there before the node that they may run on is.
    for name in shares:
        eventually(lambda name=name: len(nodes_of(volcano, name)) == 6, what=f"pods of {name}")
    twin.apply_nodes([*OWN, *ONE, *THREE])
    submit(volcano, "three", "three", 3, 3)

    def bound() -> dict[str, int]:
        return {name: sum(each is not None for each in nodes_of(volcano, name)) for name in (*shares, "three")}

    eventually(lambda: sum(bound().values()) == 7, 30, "four of the two jobs and three of the gang have nodes")
    assert bound() == {**shares, "three": 3}
    assert len(Counter(nodes_of(volcano, "three"))) == spread
    for name in (*shares, "three"):
        volcano.delete(VolcanoJob, name, namespace="default")
    eventually(
        lambda: not any(nodes_of(volcano, name) for name in (*shares, "three")), limit=60, what="their pods are gone"
    )
    twin.apply_nodes(OWN)
