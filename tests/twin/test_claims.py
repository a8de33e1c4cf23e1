"""What keeps a claim out of a full queue, and what does not, on the real scheduler as the document has it."""

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
import volcano_objects
import yaml
from cluster_helpers import eventually, look_up, offer
from lightkube import Client
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_global_resource, create_namespaced_resource
from lightkube.models.core_v1 import ResourceQuotaSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Namespace, Node, Pod, ResourceQuota
from lightkube.resources.scheduling_v1 import PriorityClass
from test_scheduling_aims import configure

from model import queues
from model.volcano import queue_spec, scheduler_configuration
from tests.model.documents import drop, environment, put
from twin.cluster import Twin

VolcanoJob = create_namespaced_resource("batch.volcano.sh", "v1alpha1", "Job", "jobs")
PodGroup = create_namespaced_resource("scheduling.volcano.sh", "v1beta1", "PodGroup", "podgroups")
Queue = create_global_resource("scheduling.volcano.sh", "v1beta1", "Queue", "queues")
GPU = "nvidia.com/gpu"
SPACE = "claims"
OWN = [offer(f"system-{number}") for number in range(3)]
NODES = [offer(f"gpu-{number}", **{GPU: "8"}) for number in range(4)]
QUEUES = {
    "claims": {"parent": "root", "deserved": {GPU: "32"}, "capability": {GPU: "32"}},
    "claims.a": {"parent": "claims", "deserved": {GPU: "16"}},
    "claims.b": {"parent": "claims", "deserved": {GPU: "16"}},
    "capped": {"parent": "root", "capability": {GPU: "16"}},
}
# Each deserves a node's GPUs, and more cores and memory than come with them.
GENEROUS = {name: {"deserved": {"gpu": 8, "cpu": 64, "memory": "1Ti"}} for name in ("left", "right")}


@pytest.fixture(scope="module", autouse=True)
def ground(twin: Twin, volcano: Client) -> Iterator[None]:
    env = environment(put("topology", {}), drop("pools.train.domains"), drop("ray.clusters.tuning.within"))
    configure(twin, volcano, yaml.safe_dump(scheduler_configuration(env), sort_keys=False))
    twin.apply_nodes([*OWN, *NODES])
    volcano.create(Namespace(metadata=ObjectMeta(name=SPACE)))
    for value, name in ((10, "claims-low"), (100, "claims-high")):
        volcano.create(PriorityClass(value=value, metadata=ObjectMeta(name=name)))
    rendered = environment(put("queues", GENEROUS), put("tenants", {}), put("ray", {}))
    specs = {**QUEUES, **{node.path: queue_spec(node) for node in queues.flatten(rendered)}}
    for name, spec in specs.items():
        queue = Queue(metadata=ObjectMeta(name=name), spec={"weight": 1, "reclaimable": True, **spec})
        eventually(lambda queue=queue: made(volcano, queue), what=f"queue {name}")
    yield
    for name in reversed(specs):
        eventually(lambda name=name: gone(volcano, name), 30, f"queue {name} goes")
    for name in ("claims-low", "claims-high"):
        volcano.delete(PriorityClass, name)
    volcano.delete(Namespace, SPACE)
    twin.apply_nodes(OWN)
    configure(twin, volcano, volcano_objects.LIBERAL)


def made(client: Client, queue: Any) -> bool:
    """Create a queue: the webhook learns of the one above a moment after it is there."""
    with suppress(ApiError):
        client.create(queue)
        return True
    return False


def gone(client: Client, name: str) -> bool:
    with suppress(ApiError):
        client.delete(Queue, name)
        return True
    return False


@pytest.fixture
def jobs(volcano: Client) -> Iterator[Any]:
    names: list[str] = []

    def submit(name: str, queue: str, pods: int, priority: str = "claims-low") -> None:
        names.append(name)
        amounts = {GPU: "8", "cpu": "1"}
        resources = {"requests": amounts, "limits": amounts}
        container = {"name": "main", "image": "registry.k8s.io/pause:3.10", "resources": resources}
        template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
        spec = {
            "schedulerName": "volcano",
            "queue": queue,
            "minAvailable": pods,
            "priorityClassName": priority,
            "policies": [{"event": "PodEvicted", "action": "RestartJob"}],
            "tasks": [{"name": "worker", "replicas": pods, "template": template}],
        }
        volcano.create(VolcanoJob(metadata=ObjectMeta(name=name, namespace=SPACE), spec=spec))

    yield submit
    for name in names:
        with suppress(ApiError):  # a test may have deleted it itself
            volcano.delete(VolcanoJob, name, namespace=SPACE)
    eventually(lambda: not pods_of(volcano), 60, "their pods are gone")


def pods_of(client: Client, name: str | None = None) -> list[dict[str, Any]]:
    """The pods of a job, or of all, as the API server sends them."""
    found = [pod.to_dict() for pod in client.list(Pod, namespace=SPACE)]
    return [pod for pod in found if name in (None, pod["metadata"]["labels"]["volcano.sh/job-name"])]


def staying(client: Client, name: str | None = None) -> list[dict[str, Any]]:
    """Those of them that are not being deleted."""
    return [pod for pod in pods_of(client, name) if "deletionTimestamp" not in pod["metadata"]]


def placed(client: Client, name: str) -> int:
    """How many pods of a job have a node and stay there."""
    return sum("nodeName" in pod["spec"] for pod in staying(client, name))


def phase(client: Client, name: str) -> str | None:
    """The phase of a job's PodGroup; None while there is none."""
    for group in (found.to_dict() for found in client.list(PodGroup, namespace=SPACE)):
        if group["metadata"]["ownerReferences"][0]["name"] == name:
            return group.get("status", {}).get("phase")
    return None


def test_a_higher_priority_takes_its_place_in_a_queue_at_its_capability(volcano: Client, jobs: Any) -> None:
    for name in ("low-0", "low-1"):
        jobs(name, "capped", 1)
    eventually(lambda: placed(volcano, "low-0") + placed(volcano, "low-1") == 2, 30, "the queue is full")
    jobs("high", "capped", 1, "claims-high")
    eventually(lambda: placed(volcano, "high") == 1, 30, "the higher priority has a node")
    assert placed(volcano, "low-0") + placed(volcano, "low-1") == 1, "capability holds, and one gang was enough"


def test_a_queue_takes_its_share_back_below_a_whole_at_its_capability(volcano: Client, jobs: Any) -> None:
    for number in range(4):
        jobs(f"borrower-{number}", "claims.a", 1)
    borrowed = [f"borrower-{number}" for number in range(4)]
    eventually(lambda: sum(placed(volcano, name) for name in borrowed) == 4, 30, "one part has all of it")
    jobs("owner", "claims.b", 2)
    eventually(lambda: placed(volcano, "owner") == 2, 30, "the other has its share")
    assert sum(placed(volcano, name) for name in borrowed) == 2


def test_two_queues_above_their_shares_leave_each_other_alone(volcano: Client, jobs: Any) -> None:
    """Each is within what it deserves of cores and memory, and has work that waits."""
    running = [f"{queue}-{number}" for queue in GENEROUS for number in range(2)]
    for name in running:
        jobs(name, name.partition("-")[0], 1)
    eventually(lambda: sum(placed(volcano, name) for name in running) == 4, 30, "both borrow")
    uids = uids_of(volcano)
    for queue in GENEROUS:
        jobs(f"{queue}-waiting", queue, 1)
    eventually(lambda: len(uids_of(volcano)) == 6, 30, "more of each waits")
    time.sleep(5)
    assert uids <= uids_of(volcano), "nobody was evicted"


def uids_of(client: Client) -> set[str]:
    return {pod["metadata"]["uid"] for pod in staying(client)}


def test_nothing_of_equal_priority_gives_way(volcano: Client, jobs: Any) -> None:
    jobs("first", "capped", 2)
    eventually(lambda: placed(volcano, "first") == 2, 30, "the queue is full")
    jobs("second", "capped", 1)
    eventually(lambda: len(pods_of(volcano, "second")) == 1, 30, "it has a pod all the same")
    time.sleep(3)
    assert (placed(volcano, "first"), placed(volcano, "second")) == (2, 0)


def test_pods_are_there_before_any_node_has_what_they_ask_for(twin: Twin, volcano: Client, jobs: Any) -> None:
    """Else no autoscaler would ever bring the first node."""
    twin.apply_nodes(OWN)
    eventually(lambda: not nodes_with_gpus(volcano), 30, "the nodes are gone")
    jobs("first-of-all", "claims.a", 2)
    eventually(lambda: len(pods_of(volcano, "first-of-all")) == 2, 30, "its pods wait for nodes")
    twin.apply_nodes([*OWN, *NODES])
    eventually(lambda: placed(volcano, "first-of-all") == 2, 30, "and have them")


def nodes_with_gpus(client: Client) -> list[str]:
    nodes = [node.to_dict() for node in client.list(Node)]
    return [node["metadata"]["name"] for node in nodes if GPU in node["status"].get("capacity", {})]


def test_a_job_beyond_the_quota_of_its_namespace_waits_and_then_runs(volcano: Client, jobs: Any) -> None:
    """Made all the same, its pods would be refused, and after fifteen tries Volcano ends the job for good."""
    hard = {f"requests.{GPU}": "16"}
    volcano.create(
        ResourceQuota(metadata=ObjectMeta(name="tenant", namespace=SPACE), spec=ResourceQuotaSpec(hard=hard))
    )
    eventually(lambda: look_up(volcano, ResourceQuota, "tenant", SPACE).get("status", {}).get("used"), what="it counts")
    try:
        jobs("within", "claims.a", 2)
        eventually(lambda: placed(volcano, "within") == 2, 30, "the quota is used")
        jobs("beyond", "claims.a", 1)
        eventually(lambda: phase(volcano, "beyond"), what="its PodGroup is there")
        time.sleep(4)
        assert phase(volcano, "beyond") == "Pending"
        assert not pods_of(volcano, "beyond")
        volcano.delete(VolcanoJob, "within", namespace=SPACE)
        eventually(lambda: placed(volcano, "beyond") == 1, 30, "it runs when there is room")
    finally:
        volcano.delete(ResourceQuota, "tenant", namespace=SPACE)
