"""What a change of a document does to nodes on AWS, as the real engine plans it on moto."""

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from aws_engine import client, plan, serving_moto
from test_language_host_engine import Engine

from model import document
from model.engine_names import DOCUMENT_KEY
from twin.aws.names import VARIABLE
from twin.paths import CHECKOUT

PROGRAM = """
import sys

sys.path.insert(0, CHECKOUT)

import pulumi

from components.aws.cluster import Cluster
from components.aws.network import Network
from components.aws.node_pool import NodePool
from components.aws.provider import provider
from components.component import Component
from model import aws, document


@pulumi.type_token("test:index:Root")
class Root(Component):
    def __init__(self, environment):
        super().__init__("aws", {}, None)
        made = provider("aws-aws", environment, pulumi.ResourceOptions(parent=self))
        inside = pulumi.ResourceOptions(parent=self, providers=[made])
        network = Network("aws-network", environment=environment, opts=inside)
        cluster = Cluster("aws-cluster", environment=environment, network=network, opts=inside)
        for pool in aws.managed(environment):
            NodePool(
                f"aws-pool-{pool}",
                environment=environment,
                pool=pool,
                network=network,
                cluster=cluster,
                opts=inside,
            )
        self.register_outputs({})


Root(document.load(pulumi.Config("gangline").require_object("environment")))
"""
OTHER = "cr-0a1b2c3d4e5f67891"

Change = Callable[[dict[str, Any]], Any]


def value_of(*changes: Change) -> dict[str, Any]:
    read = document.read(CHECKOUT / "stacks" / "Pulumi.aws-training.yaml").value
    value = {key: copy.deepcopy(read[key]) for key in ("cluster", "pools", "topology")}
    value["data"] = "delete"
    value["pools"]["batch"] = {"instance": "m7i.2xlarge", "size": {"min": 0, "max": 4, "desired": 2}}
    for change in changes:
        change(value)
    return value


class Stack:
    """The AWS part of a stack under the real engine."""

    def __init__(self, folder: Path, address: str) -> None:
        self.engine = Engine(folder)
        (self.engine.project / "__main__.py").write_text(PROGRAM.replace("CHECKOUT", repr(str(CHECKOUT))))
        self.engine.environment["PATH"] += f":{CHECKOUT / 'twin' / 'aws' / 'bin'}"
        self.engine.environment[VARIABLE] = address
        self.address = address

    def write(self, *changes: Change) -> None:
        """Make the changed document the stack's configuration."""
        file = self.engine.project / "Pulumi.test.yaml"
        whole = yaml.safe_load(file.read_text()) if file.exists() else {}
        whole["config"] = {DOCUMENT_KEY: value_of(*changes)}
        file.write_text(yaml.safe_dump(whole))

    def plan(self, *changes: Change) -> dict[str, str]:
        """What a preview of the changed document would do, by logical name; components are left out."""
        self.write(*changes)
        return {name: step for name, step in plan(self.engine).items() if name.count("-") > 1 and not _component(name)}


def _component(name: str) -> bool:
    return name.removeprefix("aws-pool-") in ("system", "train", "batch")


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with serving_moto() as address:
        made = Stack(tmp_path_factory.mktemp("aws"), address)
        made.write()
        made.engine.run("up", "--yes", "--skip-preview")
        yield made
        made.write()
        said = made.engine.run("destroy", "--yes", "--skip-preview")
        assert "deleted" in said
        assert client(address, "eks").list_clusters()["clusters"] == []
        assert [it["VpcId"] for it in client(address, "ec2").describe_vpcs()["Vpcs"] if not it["IsDefault"]] == []
        assert client(address, "ec2").describe_launch_templates()["LaunchTemplates"] == []


def at(pool: str, key: str, new: Any) -> Change:
    return lambda value: value["pools"][pool].update({key: new})


TEMPLATE, GROUP = "aws-pool-train-template", "aws-pool-train-group"


@pytest.mark.parametrize(
    ("change", "planned"),
    [
        (lambda value: None, {}),
        (
            at("train", "capacity", {"kind": "block", "reservation": OTHER, "ends": "2036-07-01T11:30:00Z"}),
            {TEMPLATE: "update", GROUP: "update"},
        ),
        (at("train", "amiRelease", "1.35.3-20261112"), {GROUP: "update"}),
        (at("train", "size", 8), {GROUP: "update"}),
        (at("train", "labels", {"acme.io/project": "llm"}), {GROUP: "update"}),
        (at("train", "rootVolume", "500Gi"), {TEMPLATE: "update", GROUP: "update"}),
        (at("train", "image", "bottlerocket-nvidia"), {TEMPLATE: "update", GROUP: "replace"}),
        (at("system", "instance", "m7i.4xlarge"), {"aws-pool-system-group": "replace"}),
        (at("batch", "size", {"min": 0, "max": 4, "desired": 3}), {}),
        (at("batch", "size", {"min": 0, "max": 6, "desired": 2}), {"aws-pool-batch-group": "update"}),
        (
            lambda value: value["cluster"].update(kubernetes="1.36"),
            {
                "aws-cluster-eks": "update",
                GROUP: "update",
                "aws-pool-system-group": "update",
                "aws-pool-batch-group": "update",
            },
        ),
        (lambda value: value["cluster"]["zones"].append("us-east-2c"), None),
    ],
    ids=[
        "nothing",
        "block",
        "release",
        "size",
        "label",
        "volume",
        "image",
        "type",
        "where a range begins",
        "range",
        "kubernetes",
        "zone",
    ],
)
def test_a_change_touches_what_it_must_and_nothing_else(
    stack: Stack, change: Change, planned: dict[str, str] | None
) -> None:
    found = stack.plan(change)
    if planned is None:  # a zone more: what may stand in all of them must be made anew, and nothing else
        anew = {name for name, step in found.items() if step not in ("create", "update")}
        assert {name for name in anew if "-hint-" not in name} == {"aws-pool-batch-group", "aws-pool-system-group"}
        assert found["aws-cluster-eks"] == "update"
        return
    assert found == planned


def test_what_somebody_changed_by_hand_is_found_and_repaired(stack: Stack) -> None:
    ec2, eks = client(stack.address, "ec2"), client(stack.address, "eks")
    stack.write()
    stack.engine.run("up", "--yes", "--skip-preview")
    assert "unchanged" in stack.engine.run("refresh", "--yes", "--skip-preview", "--expect-no-changes")

    (group,) = [it for it in eks.list_nodegroups(clusterName="training")["nodegroups"] if "pool-train" in it]
    eks.update_nodegroup_config(
        clusterName="training", nodegroupName=group, scalingConfig={"desiredSize": 32, "minSize": 1}
    )
    eks.update_cluster_config(name="training", deletionProtection=True)
    (fabric,) = ec2.describe_security_groups(
        Filters=[{"Name": "description", "Values": ["EFA between the nodes of a pool"]}]
    )["SecurityGroups"]
    rules = {"Filters": [{"Name": "group-id", "Values": [fabric["GroupId"]]}]}
    (inward,) = [it for it in ec2.describe_security_group_rules(**rules)["SecurityGroupRules"] if not it["IsEgress"]]
    ec2.revoke_security_group_ingress(GroupId=fabric["GroupId"], SecurityGroupRuleIds=[inward["SecurityGroupRuleId"]])

    said = stack.engine.run("up", "--yes", "--skip-preview", "--refresh")
    assert "+ 1 created" in said
    assert "~ 2 updated" in said
    assert [it for it in ec2.describe_security_group_rules(**rules)["SecurityGroupRules"] if not it["IsEgress"]]
    assert not eks.describe_cluster(name="training")["cluster"]["deletionProtection"]
    assert (
        eks.describe_nodegroup(clusterName="training", nodegroupName=group)["nodegroup"]["scalingConfig"]["minSize"]
        == 32
    )


def test_the_cloud_has_what_the_document_says(stack: Stack) -> None:
    """Read back by whoever has an account."""
    ec2, eks = client(stack.address, "ec2"), client(stack.address, "eks")
    cluster = eks.describe_cluster(name="training")["cluster"]
    assert cluster["accessConfig"]["authenticationMode"] == "API"
    assert cluster["encryptionConfig"][0]["resources"] == ["secrets"]
    vpc = cluster["resourcesVpcConfig"]
    assert (vpc["endpointPrivateAccess"], vpc["endpointPublicAccess"]) == (True, False)
    zones = {it["AvailabilityZone"] for it in ec2.describe_subnets(SubnetIds=vpc["subnetIds"])["Subnets"]}
    assert zones == {"us-east-2a", "us-east-2b"}
    (train,) = [it for it in eks.list_nodegroups(clusterName="training")["nodegroups"] if "pool-train" in it]
    group = eks.describe_nodegroup(clusterName="training", nodegroupName=train)["nodegroup"]
    assert group["capacityType"] == "CAPACITY_BLOCK"
    (subnet,) = ec2.describe_subnets(SubnetIds=group["subnets"])["Subnets"]
    assert (subnet["AvailabilityZone"], subnet["MapPublicIpOnLaunch"]) == ("us-east-2a", False)
    assert group["taints"] == [{"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}]
    entries = eks.list_access_entries(clusterName="training")["accessEntries"]
    assert "arn:aws:iam::123456789012:role/platform" in entries


def test_a_size_that_the_autoscaler_changed_stays(stack: Stack) -> None:
    eks = client(stack.address, "eks")
    (group,) = [it for it in eks.list_nodegroups(clusterName="training")["nodegroups"] if "pool-batch" in it]
    eks.update_nodegroup_config(clusterName="training", nodegroupName=group, scalingConfig={"desiredSize": 4})
    stack.write(at("batch", "labels", {"acme.io/project": "llm"}))
    stack.engine.run("up", "--yes", "--skip-preview")
    found = eks.describe_nodegroup(clusterName="training", nodegroupName=group)["nodegroup"]
    assert found["scalingConfig"]["desiredSize"] == 4
    assert found["labels"]["acme.io/project"] == "llm"
