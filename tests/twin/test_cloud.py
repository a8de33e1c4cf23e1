"""The twin's cloud and the nodes that its node groups bring, on a real control plane."""

import os
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import boto3
import pytest
from cluster_helpers import eventually, offer
from lightkube.models.core_v1 import Node as NodeModel
from lightkube.resources.core_v1 import Node

from model import document
from model.nodes import POOL_LABEL
from twin.aws import running
from twin.aws.names import VARIABLE
from twin.cluster import Twin
from twin.errors import TwinError
from twin.keeper import Keeper
from twin.paths import CHECKOUT

REGION = "us-east-2"
DOCUMENT = document.read(CHECKOUT / "stacks" / "Pulumi.twin.yaml").value
CLUSTER = "twin"
SIZES = {"minSize": 0, "maxSize": 8, "desiredSize": 3}


@pytest.fixture(scope="module")
def own(programs: Mapping[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    made = Twin(tmp_path_factory.mktemp("cloud") / ".twin", programs)
    yield made
    made.stop()


def client(twin: Twin, service: str) -> Any:
    assert twin.cloud
    return boto3.client(
        service, region_name=REGION, endpoint_url=twin.cloud, aws_access_key_id="twin", aws_secret_access_key="twin"
    )


def make_cluster(twin: Twin) -> str:
    """A cluster of the document's name; gives a subnet of it."""
    ec2 = client(twin, "ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnets = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{n}.0/24", AvailabilityZone=f"{REGION}{zone}")["Subnet"][
            "SubnetId"
        ]
        for n, zone in enumerate("ab")
    ]
    client(twin, "eks").create_cluster(
        name=CLUSTER,
        roleArn="arn:aws:iam::123456789012:role/cluster",
        resourcesVpcConfig={"subnetIds": subnets},
        accessConfig={"authenticationMode": "API"},
    )
    return subnets[0]


def make_group(twin: Twin, subnet: str) -> dict[str, str]:
    client(twin, "eks").create_nodegroup(
        clusterName=CLUSTER,
        nodegroupName="train",
        nodeRole="arn:aws:iam::123456789012:role/nodes",
        subnets=[subnet],
        scalingConfig=SIZES,
        instanceTypes=["p5en.48xlarge"],
        labels={POOL_LABEL: "train"},
        taints=[{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}],
    )
    return {"clusterName": CLUSTER, "nodegroupName": "train"}


def nodes(twin: Twin) -> list[NodeModel]:
    with twin.client() as kubernetes:
        return list(kubernetes.list(Node))


def test_a_twin_without_a_cloud_says_so(own: Twin) -> None:
    own.start()
    assert own.cloud is None
    assert own.status().cloud is None
    assert VARIABLE not in own.environment()
    with pytest.raises(TwinError, match="the twin has no cloud"):
        own.follow(REGION, DOCUMENT)
    own.apply_nodes([offer("system-0")])


def test_a_cloud_joins_a_running_control_plane(own: Twin) -> None:
    own.start()
    before = {process.name: process.pid for process in own.status().processes}
    lines: list[str] = []
    assert own.start(lines.append, cloud=True).already
    assert lines[-1].startswith("aws works")
    after = {process.name: process.pid for process in own.status().processes}
    assert before.items() <= after.items()
    assert own.start(cloud=True).seconds < 2
    assert {process.name: process.pid for process in own.status().processes} == after

    given = own.environment()
    assert given[VARIABLE] == given["AWS_ENDPOINT_URL"] == own.cloud
    assert given["PATH"].split(os.pathsep)[0] == str(running.STAND_INS)
    assert own.start().already, "who needs no cloud leaves it alone"
    assert own.cloud


def test_nodes_come_change_and_go_with_their_group(own: Twin) -> None:
    own.start(cloud=True)
    own.apply_nodes([offer("system-0")])
    assert own.follow(REGION, DOCUMENT) == 0
    assert nodes(own) == [], "the nodes of another environment are gone"
    subnet = make_cluster(own)
    began = time.monotonic()
    group = make_group(own, subnet)
    found = eventually(lambda: nodes(own), what="nodes of the group")
    assert time.monotonic() - began < 5  # 0.3 on two quiet cores
    eventually(lambda: len(nodes(own)) == SIZES["desiredSize"])
    labels = (found[0].metadata and found[0].metadata.labels) or {}
    assert labels["eks.amazonaws.com/nodegroup"] == "train"
    assert labels["topology.kubernetes.io/zone"] == f"{REGION}a"
    eventually(lambda: _ready(own), what="nodes that take pods")

    eks = client(own, "eks")
    eks.update_nodegroup_config(
        **group, scalingConfig={"desiredSize": 1}, labels={"addOrUpdateLabels": {"more": "yes"}}
    )
    eventually(lambda: [_labels(node).get("more") for node in nodes(own)] == ["yes"], what="one changed node")
    status = own.status()
    assert status.healthy
    assert status.cloud
    assert (status.cloud.followed, status.cloud.problem) == (CLUSTER, "")
    assert {"aws", "aws-nodes"} <= {process.name for process in status.processes}

    # A pool that the document has no more is there until its group goes.
    fewer = {**DOCUMENT, "pools": {name: pool for name, pool in DOCUMENT["pools"].items() if name != "train"}}
    fewer = {key: value for key, value in fewer.items() if key not in ("ray", "queues", "tenants")}
    assert own.follow(REGION, fewer) == 1
    eks.delete_nodegroup(**group)
    eventually(lambda: nodes(own) == [], what="no nodes")


def test_a_cloud_that_ended_comes_back_empty_and_so_do_the_nodes(own: Twin) -> None:
    own.start(cloud=True)
    own.follow(REGION, DOCUMENT)
    if not client(own, "eks").list_clusters()["clusters"]:
        make_cluster(own)
    [subnet, *_] = client(own, "eks").describe_cluster(name=CLUSTER)["cluster"]["resourcesVpcConfig"]["subnetIds"]
    make_group(own, subnet)
    eventually(lambda: len(nodes(own)) == SIZES["desiredSize"])
    pid = Keeper(own.paths).processes()["aws"].pid
    assert pid
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: nodes(own) == [], limit=40, what="no nodes of a cloud without memory")
    make_group(own, make_cluster(own))
    eventually(lambda: len(nodes(own)) == SIZES["desiredSize"], what="nodes of the new group")


def test_it_starts_beside_the_control_plane_and_stops_with_it(own: Twin) -> None:
    own.start(cloud=True)
    assert own.stop()
    lines: list[str] = []
    started = own.start(lines.append, cloud=True)
    assert lines[-1].startswith("aws works")
    assert started.seconds < 30  # 8 on two quiet cores
    assert own.follow(REGION, DOCUMENT) == 0
    own.apply_nodes([offer("system-0")])
    assert "aws-nodes" not in Keeper(own.paths).processes()
    assert own.stop()
    own.start()
    assert own.cloud is None


def _labels(node: NodeModel) -> Mapping[str, str]:
    return (node.metadata and node.metadata.labels) or {}


def _ready(twin: Twin) -> bool:
    return all(not [t for t in (node.spec and node.spec.taints) or [] if "not-ready" in t.key] for node in nodes(twin))
