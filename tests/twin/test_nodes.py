"""Nodes follow what pools offer, and nobody else's nodes are touched."""

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from cluster_helpers import eventually, look_up, offer, tainted
from lightkube import Client
from lightkube.models.core_v1 import Container, PodSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Node, Pod
from lightkube.types import PatchType

from twin import nodes
from twin.cluster import Twin
from twin.errors import TwinError

KEPT = [offer(f"system-{number}") for number in range(3)]


@pytest.fixture
def client(twin: Twin) -> Iterator[Client]:
    with twin.client() as made:
        yield made
    twin.apply_nodes(KEPT)


def test_sixty_four_nodes_come_and_go_and_pods_can_run_on_them(twin: Twin, client: Client) -> None:
    offers = [*KEPT, *(offer(f"many-{number}") for number in range(64))]
    before = time.monotonic()
    made = nodes.reconcile(client, offers)
    assert time.monotonic() - before < 10
    assert len(made.created) == 64
    status = twin.status()
    assert (status.nodes, status.nodes_ready) == (67, 67)
    again = nodes.reconcile(client, offers)
    assert (again.created, again.updated, again.deleted, again.unchanged) == ((), (), (), 67)
    assert set(nodes.reconcile(client, KEPT).deleted) == set(made.created)


def test_a_changed_offer_changes_the_node_and_leaves_what_others_put_there(client: Client) -> None:
    first = tainted("changing-0", "gangline.dev/first")
    nodes.reconcile(client, [*KEPT, first])
    foreign = {"metadata": {"labels": {"feature.node.kubernetes.io/theirs": "1"}}, "spec": {"unschedulable": True}}
    client.patch(Node, "changing-0", foreign, patch_type=PatchType.MERGE)
    eventually(lambda: "node.kubernetes.io/unschedulable" in taints(client, "changing-0"))

    second = replace(offer("changing-0", cpu="8", **{"nvidia.com/gpu": "8"}), labels={**first.labels, "rack": "r1"})
    assert nodes.reconcile(client, [*KEPT, second]).updated == ("changing-0",)
    node = look_up(client, Node, "changing-0")
    assert node["metadata"]["labels"]["rack"] == "r1"
    assert node["metadata"]["labels"]["feature.node.kubernetes.io/theirs"] == "1"
    assert taints(client, "changing-0") == {"node.kubernetes.io/unschedulable"}
    assert (node["status"]["allocatable"]["cpu"], node["status"]["capacity"]["nvidia.com/gpu"]) == ("8", "8")

    nodes.reconcile(client, [*KEPT, offer("changing-0")])
    node = look_up(client, Node, "changing-0")
    assert "rack" not in node["metadata"]["labels"]
    assert "nvidia.com/gpu" not in node["status"]["allocatable"]


def taints(client: Client, name: str) -> set[str]:
    return {taint["key"] for taint in look_up(client, Node, name)["spec"].get("taints", [])}


def test_equal_quantities_are_no_change(client: Client) -> None:
    big = offer("equal-0", memory="2048Gi", cpu="16000m")
    nodes.reconcile(client, [*KEPT, big])
    assert look_up(client, Node, "equal-0")["status"]["allocatable"]["memory"] == "2Ti"
    assert nodes.reconcile(client, [*KEPT, big]).updated == ()


def test_a_taint_keeps_pods_away_and_allocatable_limits_them(client: Client) -> None:
    nodes.reconcile(client, [*KEPT, tainted("closed-0", "gangline.dev/closed")])
    selector = {"kubernetes.io/hostname": "closed-0"}
    spec = PodSpec(containers=[Container("main", image="registry.k8s.io/pause:3.10")], nodeSelector=selector)
    client.create(Pod(metadata=ObjectMeta(name="kept-out", namespace="default"), spec=spec))
    reason = eventually(
        lambda: [c.get("message") for c in look_up(client, Pod, "kept-out", "default")["status"].get("conditions", [])]
    )
    assert "untolerated taint" in reason[0]
    client.delete(Pod, "kept-out", namespace="default")


def test_nodes_of_others_are_left_alone(client: Client) -> None:
    client.create(Node(metadata=ObjectMeta(name="real-0")))
    try:
        nodes.reconcile(client, KEPT)
        assert client.get(Node, "real-0")
        with pytest.raises(TwinError, match="node real-0 exists and is not simulated"):
            nodes.reconcile(client, [*KEPT, offer("real-0")])
    finally:
        client.delete(Node, "real-0")


def test_bad_offers_are_refused_by_name(client: Client) -> None:
    with pytest.raises(TwinError, match="two nodes are named twice-0"):
        nodes.reconcile(client, [offer("twice-0"), offer("twice-0")])
    with pytest.raises(TwinError, match=r"node Not_A_Name: .*lowercase RFC 1123"):
        nodes.reconcile(client, [*KEPT, offer("Not_A_Name")])
