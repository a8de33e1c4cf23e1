"""The whole way, as a person goes it: refusals, `up`, no change, a small change, a kill, `destroy`, `stop`.

The tests share one checkout and one twin, and run in the order of this file.
"""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lightkube import Client, KubeConfig
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_global_resource, create_namespaced_resource
from lightkube.resources.core_v1 import Pod

from cli import changes
from model import document as model_document
from model import gangs
from model.quantities import Quantity

from . import workloads
from .conftest import Checkout
from .looking import Job, PodGroup, bound, eventually, pods, racks

Queue: Any = create_global_resource("scheduling.volcano.sh", "v1beta1", "Queue", "queues")
HyperNode: Any = create_global_resource("topology.volcano.sh", "v1alpha1", "HyperNode", "hypernodes")
RayJob: Any = create_namespaced_resource("ray.io", "v1", "RayJob", "rayjobs")
Definition: Any = create_global_resource(
    "apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions"
)

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def client(checkout: Checkout) -> Iterator[Client]:
    config = KubeConfig.from_file(checkout.root / ".twin" / "kubeconfig")
    with Client(config=config.get("gangline-twin")) as connected:
        yield connected


@pytest.fixture
def document(checkout: Checkout) -> Iterator[Checkout]:
    """The checkout, whose document is put back afterwards."""
    written = checkout.document.read_text()
    yield checkout
    checkout.document.write_text(written)


def test_ten_mistakes_are_reported_at_once_and_nothing_is_created(document: Checkout) -> None:
    def plant(environment: dict[str, Any]) -> None:
        environment["cluster"]["kuberntes"] = "1.35"
        environment["pools"]["train"]["server"] = "dgx-h1000"
        environment["pools"]["system"]["labels"] = {"gpu": True}
        environment["pools"]["system"]["shape"]["memory"] = "64GB"
        environment["queues"]["research"]["queues"]["llm"]["capability"] = {"mem": "4Ti"}
        environment["queues"]["research"]["queues"]["vision"]["guarantee"] = {"gpu": 130}
        environment["queues"]["root"] = {}
        environment["tenants"]["production"]["defaultQueue"] = "research.llm"
        environment["ray"]["clusters"]["tuning"]["queue"] = "research"
        environment["ray"]["clusters"]["tuning"]["within"]["level"] = "row"

    document.edit(plant)
    done = document.run("up", check=False)
    assert done.returncode == 1
    problems = [
        line for line in done.stderr.splitlines() if re.match(r"stacks/Pulumi\.twin\.yaml:\d+  environment", line)
    ]
    assert len(problems) == 10, done.stderr
    assert "Traceback" not in done.stderr
    assert not (document.root / ".twin").exists()


def test_another_cluster_needs_its_own_pulumi_context_and_consent(checkout: Checkout, tmp_path: Path) -> None:
    lab = checkout.root / "stacks" / "Pulumi.lab.yaml"
    copied = checkout.document.read_text().replace("context: gangline-twin", "context: lab")
    lab.write_text(copied)
    assert "encryptionsalt\n  it is the twin's" in checkout.run("check", "lab", check=False).stderr
    lab.write_text(copied.partition("encryptionsalt")[0])
    twins = {"PULUMI_BACKEND_URL": f"file://{checkout.root / '.twin' / 'state'}"}
    assert "this shell has the twin's settings" in checkout.run("up", "lab", check=False, variables=twins).stderr
    plain = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    assert "pulumi: not on PATH" in checkout.run("up", "lab", check=False, variables=plain).stderr
    pulumi = tmp_path / "pulumi"
    # `stack export` is asked for what is protected, before anything is taken down.
    pulumi.write_text('#!/bin/sh\n[ "$1" = stack ] && echo "{}" || echo it was called\n')
    pulumi.chmod(0o755)
    plain["PATH"] += f":{tmp_path}"
    for command in ("up", "destroy"):
        done = checkout.run(command, "lab", check=False, variables=plain)
        assert (done.returncode, "it was called" in done.stdout) == (1, False)
        assert "there is no terminal" in done.stderr
    done = checkout.run("up", "lab", "--yes", check=False, variables=plain)
    assert done.returncode == 1
    assert "cluster.context lab: no kubeconfig has it" in done.stderr
    assert "it was called" in checkout.run("destroy", "lab", "--yes", variables=plain).stdout
    lab.unlink()


def test_up_from_nothing(checkout: Checkout) -> None:
    done = checkout.run("up")
    assert "policies: none is broken" in done.stdout
    assert re.search(r"tuning\s+research\.llm\s+5 of 5\s+1 spine \(\S+\); 1 rack \(\S+\)", done.stdout), done.stdout


def test_the_ray_cluster_runs_within_one_rack(client: Client) -> None:
    found = pods(client, "research", **{"ray.io/cluster": "tuning"})
    nodes = bound(found)
    assert len(nodes) == 5
    assert all(pod.status and pod.status.phase == "Running" for pod in found)
    assert len(racks(client, nodes)) == 1
    workers = [pod for pod in found if pod.metadata and (pod.metadata.labels or {}).get("ray.io/node-type") == "worker"]
    assert len(set(bound(workers))) == 4


def test_the_gang_asks_for_what_the_model_counts(client: Client, checkout: Checkout) -> None:
    """RDMA included: what KubeRay writes into the PodGroup is what fits and queues are judged by."""
    environment = model_document.read(checkout.document).load()
    group = client.get(PodGroup, "ray-tuning-pg", namespace="research")
    asked = {name: Quantity.parse(amount) for name, amount in group.spec["minResources"].items()}
    assert asked == gangs.gang(environment, ("ray", "clusters", "tuning")).min_resources
    assert asked["rdma/shared_ib"] == Quantity.parse(4)


def test_the_scheduler_discovered_the_topology(client: Client) -> None:
    tiers = eventually(lambda: sorted(node.spec["tier"] for node in client.list(HyperNode)))
    assert tiers == [1, 1, 1, 1, 2, 2]


def test_every_node_agent_runs_on_its_nodes_and_nowhere_else(client: Client) -> None:
    gpu = {f"train-{index:02d}" for index in range(64)}
    agents = [pod for pod in pods(client, "gangline-system") if pod.metadata and pod.metadata.ownerReferences]
    for name in ("nvidia-device-plugin-", "rdma-shared-device-plugin-", "dcgm-exporter-"):
        plugin = [pod for pod in agents if pod.metadata and (pod.metadata.name or "").startswith(name)]
        assert sorted(bound(plugin)) == sorted(gpu), name
    assert all(pod.status and pod.status.phase == "Running" for pod in agents)


def test_a_second_up_changes_nothing_and_settles_the_topology(checkout: Checkout, client: Client) -> None:
    before = checkout.resources()
    # As Volcano's controller leaves it now and then, when nodes come one after another.
    spine = next(node for node in client.list(HyperNode) if node.spec["tier"] == 2)
    twice = {"metadata": {"name": "twice", "labels": dict(spine.metadata.labels)}, "spec": spine.spec}
    client.create(HyperNode.from_dict(twice))
    done = checkout.run("up")
    # What comes before is the plan, and long: a report that is cut short would lose what changed.
    update = done.stdout[done.stdout.find("Updating (") :].partition("Where to look next")[0]
    assert re.search(r"Resources:\s+\d+ unchanged", update), update
    assert {resource["urn"] for resource in checkout.resources()} == {resource["urn"] for resource in before}
    assert sorted(node.spec["tier"] for node in client.list(HyperNode)) == [1, 1, 1, 1, 2, 2]


def test_plain_pulumi_sees_the_same(checkout: Checkout) -> None:
    done = checkout.pulumi("preview", "--stack", "twin", "--policy-pack", "policies", "--expect-no-changes")
    assert "unchanged" in done.stdout


def test_a_changed_quota_previews_just_that(document: Checkout) -> None:
    def change(environment: dict[str, Any]) -> None:
        environment["queues"]["production"]["deserved"]["gpu"] = 120

    document.edit(change)
    plan = json.loads(document.pulumi("preview", "--stack", "twin", "--json").stdout)
    changed = {(step["op"], step["urn"].rpartition("::")[2]) for step in plan["steps"] if step["op"] != "same"}
    # The root component shows the document itself, and Prometheus records what queues deserve: both change along.
    assert changed == {("update", name) for name in ("platform", "platform-queues-production", "platform-rules-rule")}
    # What was brought up is what a change is compared with.
    before = changes.document_of(document.pulumi("stack", "export", "--stack", "twin").stdout)
    assert before is not None
    assert before.queues["production"].deserved["gpu"] == Quantity.parse(128)


def test_a_mandatory_policy_stops_up(checkout: Checkout, client: Client) -> None:
    program = checkout.root / "__main__.py"
    written = program.read_text()
    program.write_text(written + HAND_WRITTEN)
    done = checkout.run("up", check=False)
    program.write_text(written)
    assert done.returncode == 1
    assert "mandatory" in done.stdout
    assert "latest" in done.stdout
    assert pods(client, "research", app="by-hand") == []


HAND_WRITTEN = """
import pulumi_kubernetes as kubernetes

kubernetes.core.v1.Pod(
    "by-hand",
    metadata={"name": "by-hand", "namespace": "research", "labels": {"app": "by-hand"}},
    spec={"containers": [{"name": "main", "image": "registry.k8s.io/pause:latest"}]},
    opts=__import__("pulumi").ResourceOptions(
        provider=kubernetes.Provider("by-hand", context="gangline-twin", cluster_identifier="twin")
    ),
)
"""


def test_what_people_submit_meets_the_same_law(client: Client) -> None:
    spec = {"containers": [{"name": "main", "image": "registry.k8s.io/pause:latest"}]}
    made: Any = Pod.from_dict({"metadata": {"name": "by-hand", "namespace": "research"}, "spec": spec})
    with pytest.raises(ApiError, match=r"image-version: container main: \S+/pause:latest names no version"):
        client.create(made, dry_run=True)


def test_a_gang_that_does_not_fit_stays_whole_outside_and_says_why(client: Client, checkout: Checkout) -> None:
    # 60 nodes of 8 are free: 64 less the 4 of the Ray cluster.
    client.create(Job.from_dict(_gang("too-large", 61)))
    client.create(Job.from_dict(_gang("fits", 8)))
    assert eventually(lambda: len(bound(pods(client, "research", **{"volcano.sh/job-name": "fits"}))) == 8)
    assert bound(pods(client, "research", **{"volcano.sh/job-name": "too-large"})) == []
    assert "have room for 52 of its 61 pods" in checkout.run("why", "too-large").stdout
    assert re.search(r"job research/fits runs .*\n +8 pods on 8 nodes", checkout.run("why", "fits").stdout)
    racked = _gang("racked", 17)
    racked["spec"]["networkTopology"] = {"mode": "hard", "highestTierAllowed": 1}
    client.create(Job.from_dict(racked))
    assert eventually(
        lambda: (
            "racked"
            in {
                each.metadata.ownerReferences[0].name
                for each in client.list(PodGroup, namespace="research")
                if each.metadata and each.metadata.ownerReferences
            }
        )
    )
    says = "it must stay within one rack, and none is large enough: even empty, the largest holds 16 of its 17 pods"
    assert says in checkout.run("why", "research/racked").stdout
    for name in ("too-large", "fits", "racked"):
        client.delete(Job, name, namespace="research")
    assert eventually(lambda: not pods(client, "research", **{"volcano.sh/job-namespace": "research"}))


def _gang(name: str, nodes: int) -> dict[str, Any]:
    container = {
        "name": "main",
        "image": "registry.k8s.io/pause:3.10",
        "resources": {"limits": {"nvidia.com/gpu": "8", "cpu": "8", "memory": "64Gi"}},
    }
    spec = {
        "restartPolicy": "Never",
        "containers": [container],
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
    }
    return {
        "metadata": {"name": name, "namespace": "research"},
        "spec": {
            "schedulerName": "volcano",
            "queue": "research.llm",
            "minAvailable": nodes,
            "tasks": [{"name": "worker", "replicas": nodes, "template": {"spec": spec}}],
        },
    }


def test_a_training_job_starts_whole_comes_back_and_completes(client: Client, checkout: Checkout) -> None:
    workloads.starts_comes_back_and_completes(client, model_document.read(checkout.document).value)


def test_an_elastic_ray_cluster_starts_with_its_least_and_grows(client: Client, checkout: Checkout) -> None:
    workloads.starts_with_its_least_and_grows(client, model_document.read(checkout.document).value)


def test_volcano_refuses_the_jobs_that_the_model_calls_wrong(client: Client) -> None:
    workloads.are_refused_as_the_model_says(client)


def test_destroy_keeps_what_is_other_peoples_and_nothing_else(checkout: Checkout, client: Client) -> None:
    client.create(
        Queue.from_dict({"metadata": {"name": "theirs"}, "spec": {"parent": "root", "reclaimable": True, "weight": 1}})
    )
    # Asks for more than there is: it waits, and has no pods.
    theirs = _gang("theirs", 65)
    theirs["metadata"]["namespace"] = "default"
    theirs["spec"]["queue"] = "theirs"
    assert eventually(lambda: _state(client, "theirs") == "Open")
    client.create(Job.from_dict(theirs))
    # Has a finalizer that only its operator clears; the namespace that it is in goes away.
    client.create(RayJob.from_dict(_ray_job()))
    assert eventually(lambda: client.get(RayJob, "leftover", namespace="research").metadata.finalizers)
    group = eventually(
        lambda: [each for each in client.list(PodGroup, namespace="research") if "leftover" in _name(each)]
    )
    assert group
    refused = checkout.run("destroy", check=False)
    assert refused.returncode == 1
    assert re.search(r"research\.vision +\w+ +Ray job research/leftover", refused.stderr), refused.stderr
    assert "tuning" not in refused.stderr, "it is of the stack, and goes first"
    assert {_state(client, name) for name in ("research.vision", "research.llm")} == {"Open"}
    done = checkout.run("destroy", "--force")
    assert client.get(Job, "theirs", namespace="default").spec["minAvailable"] == 65
    assert [resource for resource in checkout.resources() if resource["type"] != "pulumi:pulumi:Stack"] == []
    assert {queue.metadata.name for queue in client.list(Queue) if queue.metadata} == {"root", "default", "theirs"}
    kept = {definition.metadata.name for definition in client.list(Definition) if definition.metadata}
    assert {"queues.scheduling.volcano.sh", "jobs.batch.volcano.sh", "rayclusters.ray.io"} <= kept
    assert {"prometheusrules.monitoring.coreos.com", "servicemonitors.monitoring.coreos.com"} <= kept
    assert {pod.metadata.namespace for pod in client.list(Pod, namespace="*") if pod.metadata} == {"default"}
    assert "stay" in done.stdout


def _name(found: Any) -> str:
    return (found.metadata.name if found.metadata else None) or ""


def _state(client: Client, queue: str) -> str:
    return (client.get(Queue, queue).status or {}).get("state", "")


def _ray_job() -> dict[str, Any]:
    resources = {"limits": {"cpu": "1", "memory": "4Gi"}, "requests": {"cpu": "1", "memory": "4Gi"}}
    pod = {"spec": {"containers": [{"name": "ray", "image": "rayproject/ray:2.52.0", "resources": resources}]}}
    return {
        "metadata": {
            "name": "leftover",
            "namespace": "research",
            "labels": {"volcano.sh/queue-name": "research.vision"},
        },
        "spec": {
            "entrypoint": "true",
            "rayClusterSpec": {"rayVersion": "2.52.0", "headGroupSpec": {"rayStartParams": {}, "template": pod}},
        },
    }


def test_killed_midway_it_converges_and_adopts_what_was_kept(checkout: Checkout, client: Client) -> None:
    running = subprocess.Popen(
        [checkout.root / "gangline", "up"],
        cwd=checkout.root,
        env=checkout.settings(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert running.stdout
    for line in running.stdout:
        # The release is the longest step, and the one that a killed run leaves in the worst state.
        if "platform-volcano-release creating" in line:
            break
    time.sleep(2)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    done = checkout.run("up")
    assert "An earlier run on stack twin was killed" in done.stdout
    assert len(bound(pods(client, "research", **{"ray.io/cluster": "tuning"}))) == 5
    assert _state(client, "theirs") == "Open"
    assert client.get(Queue, "default").spec["capability"] == {"nvidia.com/gpu": "0"}
    client.delete(Job, "theirs", namespace="default")
    client.delete(Queue, "theirs")
    assert "unchanged" in checkout.pulumi("preview", "--stack", "twin", "--expect-no-changes").stdout


def test_stop_leaves_no_process(checkout: Checkout) -> None:
    checkout.run("twin", "stop")
    leftover = subprocess.run(["pgrep", "-f", str(checkout.root)], capture_output=True, text=True, check=False)
    assert leftover.stdout == ""
