"""Four ways to share GPUs and four kinds of taints on one real control plane, written for somebody else's cluster.

The tests share one checkout and one twin, and run in the order of this file.
"""

import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from lightkube import Client, KubeConfig
from lightkube.models.authorization_v1 import ResourceAttributes, SubjectAccessReviewSpec
from lightkube.resources.apps_v1 import DaemonSet
from lightkube.resources.authorization_v1 import SubjectAccessReview
from lightkube.resources.core_v1 import Node, Pod
from lightkube.types import PatchType

from .conftest import Checkout

pytestmark = pytest.mark.timeout(600)

GPUS = ("train", "notebooks", "serve", "small")
AGENTS = {
    # The name of each DaemonSet begins with one of these: the pools whose nodes need it.
    "nfd-worker": GPUS,
    "nvidia-device-plugin": GPUS,
    "gpu-feature-discovery": ("notebooks", "serve", "small"),
    "nvidia-mps-control-daemon": ("serve",),
    "nvidia-mig-manager": ("small",),
    "rdma-shared-device-plugin": ("train",),
    "dcgm-exporter": GPUS,
}
WORKERS = {
    # By Ray cluster: its pool, and what each of its workers holds.
    "pretraining": ("train", {"nvidia.com/gpu": "8"}),
    "exploring": ("notebooks", {"nvidia.com/gpu.shared": "1"}),
    "answering": ("serve", {"nvidia.com/gpu.shared": "1"}),
    "ranking": ("small", {"nvidia.com/mig-1g.10gb": "1"}),
}


@pytest.fixture
def client(checkout: Checkout) -> Iterator[Client]:
    config = KubeConfig.from_file(checkout.root / ".twin" / "kubeconfig")
    with Client(config=config.get("gangline-twin")) as connected:
        yield connected


def eventually(check: Callable[[], Any], seconds: float = 30) -> Any:
    """Wait until a check gives something; its last answer otherwise."""
    limit = time.monotonic() + seconds
    while not (found := check()) and time.monotonic() < limit:
        time.sleep(0.2)
    return found


def nodes_of(client: Client, pool: str) -> set[str]:
    found = client.list(Node, labels={"gangline.dev/pool": pool})
    return {node.metadata.name for node in found if node.metadata and node.metadata.name}


def where(client: Client, namespace: str, **labels: str) -> dict[str, list[str]]:
    """The nodes on which pods run, by the name of what made them."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for pod in client.list(Pod, namespace=namespace, labels={**labels}):
        assert pod.metadata, pod
        assert pod.metadata.ownerReferences, pod.metadata.name
        if pod.status and pod.status.phase == "Running" and pod.spec and not pod.metadata.deletionTimestamp:
            found[pod.metadata.ownerReferences[0].name].append(pod.spec.nodeName or "?")
    return found


def files(checkout: Checkout) -> dict[Path, bytes]:
    """What is in a checkout, but for what the twin and Python keep."""
    kept = {".twin", ".venv", "__pycache__", ".charts"}
    return {
        path.relative_to(checkout.root): path.read_bytes()
        for path in checkout.root.rglob("*")
        if path.is_file() and not kept & set(path.relative_to(checkout.root).parts)
    }


def test_wrong_requests_are_refused_before_anybody_is_asked(checkout: Checkout) -> None:
    document = checkout.root / "stacks" / "Pulumi.sharing.yaml"
    written = document.read_text()
    stack = yaml.safe_load(written)
    clusters = stack["config"]["gangline:environment"]["ray"]["clusters"]
    clusters["exploring"]["workers"]["gpus"] = 2  # two slices, perhaps of one GPU
    clusters["answering"]["workers"]["gpus"] = 8
    clusters["ranking"]["workers"]["profile"] = "2g.20gb"  # no GPU is cut so
    clusters["pretraining"]["workers"]["profile"] = "1g.10gb"  # whole GPUs are not cut at all
    document.write_text(yaml.safe_dump(stack, sort_keys=False))
    done = checkout.run("up", "sharing", "--twin", check=False)
    document.write_text(written)
    assert done.returncode == 1
    places = {line.partition("  ")[2] for line in done.stderr.splitlines() if line.startswith("stacks/Pulumi.sharing")}
    assert places == {
        f"environment.ray.clusters.{place}"
        for place in (
            "exploring.workers.gpus",
            "answering.workers.gpus",
            "ranking.workers.profile",
            "pretraining.workers.profile",
        )
    }
    assert not (checkout.root / ".twin").exists()


def test_an_environment_of_another_cluster_comes_up_and_its_files_stay_as_they_are(checkout: Checkout) -> None:
    before = files(checkout)
    done = checkout.run("up", "sharing", "--twin")
    assert "policies: none is broken" in done.stdout
    after = files(checkout)
    assert {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)} == set()
    assert "context: lab" in (checkout.root / "stacks" / "Pulumi.sharing.yaml").read_text()


def test_every_node_agent_runs_on_the_nodes_that_need_it_and_nowhere_else(client: Client) -> None:
    tainted = [node.spec.taints for node in client.list(Node) if node.spec and node.spec.taints]
    taints = {(taint.key, taint.value, taint.effect) for each in tainted for taint in each}
    assert taints == {
        ("lab.example.com/team", "research", "NoSchedule"),
        ("nvidia.com/gpu", "true", "NoSchedule"),
        ("nvidia.com/gpu", "present", "NoExecute"),
    }
    running = where(client, "gangline-system")
    reached: dict[str, list[str]] = {agent: [] for agent in AGENTS}
    for daemon_set in client.list(DaemonSet, namespace="*"):
        assert daemon_set.metadata
        assert daemon_set.metadata.name
        assert daemon_set.status
        agent = next(agent for agent in AGENTS if daemon_set.metadata.name.startswith(agent))
        nodes = running[daemon_set.metadata.name]
        assert daemon_set.status.desiredNumberScheduled == daemon_set.status.numberReady == len(nodes)
        assert daemon_set.status.numberMisscheduled == 0
        reached[agent] += nodes
    for agent, pools in AGENTS.items():
        assert sorted(reached[agent]) == sorted(node for pool in pools for node in nodes_of(client, pool)), agent


def test_workloads_of_each_kind_hold_the_right_resource_on_the_right_nodes(client: Client) -> None:
    held: defaultdict[str, set[str]] = defaultdict(set)
    for cluster, (pool, resources) in WORKERS.items():
        found = list(client.list(Pod, namespace="research", labels={"ray.io/cluster": cluster}))
        workers = [
            pod for pod in found if pod.metadata and (pod.metadata.labels or {}).get("ray.io/node-type") == "worker"
        ]
        assert workers
        for pod in workers:
            assert pod.spec
            assert pod.spec.schedulerName == "volcano"
            assert pod.spec.nodeName in nodes_of(client, pool), cluster
            limits = pod.spec.containers[0].resources.limits  # pyright: ignore[reportOptionalMemberAccess]
            held[cluster].update(f"{name} {amount}" for name, amount in limits.items() if "nvidia.com" in name)  # pyright: ignore[reportOptionalMemberAccess]
        assert held[cluster] == {f"{name} {amount}" for name, amount in resources.items()}
        assert all(pod.status and pod.status.phase == "Running" for pod in found)


def test_nodes_say_how_their_gpus_are_to_be_cut(client: Client) -> None:
    for node in client.list(Node):
        labels = (node.metadata.labels if node.metadata else None) or {}
        cut = labels["gangline.dev/pool"] == "small"
        assert labels.get("nvidia.com/mig.config") == ("4x1g.10gb-1x3g.40gb" if cut else None)


def test_agents_leave_a_node_while_its_gpus_are_cut_and_come_back(client: Client) -> None:
    one, other = sorted(nodes_of(client, "small"))
    clients = {
        # What mig-parted v0.15.0 does (pkg/mig/reconfigure): it labels the node, and waits until these pods are gone.
        "nvidia.com/gpu.deploy.device-plugin": "nvidia-device-plugin-daemonset",
        "nvidia.com/gpu.deploy.gpu-feature-discovery": "gpu-feature-discovery",
        "nvidia.com/gpu.deploy.dcgm-exporter": "nvidia-dcgm-exporter",
    }

    def say(value: str) -> None:
        labels = dict.fromkeys(clients, value)
        client.patch(Node, one, {"metadata": {"labels": labels}}, patch_type=PatchType.MERGE)

    def everywhere(nodes: list[str]) -> bool:
        seen = [where(client, "gangline-system", app=app) for app in clients.values()]
        return all(sorted(*found.values()) == nodes for found in seen)

    assert everywhere([one, other])
    say("paused-for-mig-change")
    assert eventually(lambda: everywhere([other]))
    say("true")
    assert eventually(lambda: everywhere([one, other]))


@pytest.mark.parametrize(
    ("verb", "resource", "allowed"),
    [
        ("patch", "nodes", True),
        ("list", "pods", True),
        ("delete", "nodes", False),
        ("delete", "pods", False),
        ("get", "secrets", False),
        ("create", "configmaps", False),
    ],
)
def test_the_mig_manager_may_label_nodes_and_little_else(
    client: Client, verb: str, resource: str, allowed: bool
) -> None:
    user = "system:serviceaccount:gangline-system:nvidia-mig-manager"
    asked = SubjectAccessReviewSpec(user=user, resourceAttributes=ResourceAttributes(verb=verb, resource=resource))
    answer = client.create(SubjectAccessReview(spec=asked))
    assert answer.status
    assert answer.status.allowed is allowed


def test_stop_leaves_no_process(checkout: Checkout) -> None:
    checkout.run("twin", "stop")
    leftover = subprocess.run(["pgrep", "-f", str(checkout.root)], capture_output=True, text=True, check=False)
    assert leftover.stdout == ""
