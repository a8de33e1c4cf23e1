"""Clusters on AWS: what is made before what, what is protected, and what AWS is asked for."""

import base64
import copy
import json
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from catalog import reader as catalog
from model import document
from model.aws.interfaces import layout
from model.aws.pool_rules import LONGEST_NAME
from tests.rehearsals import rehearsal_of
from twin.rehearsal import Rehearsal, Resource

ROOT = Path(__file__).resolve().parents[2]
Change = Callable[[dict[str, Any]], Any]


@cache
def _value() -> dict[str, Any]:
    return document.read(ROOT / "stacks" / "Pulumi.aws-training.yaml").value


def rehearsed(*changes: Change) -> Rehearsal:
    value = copy.deepcopy(_value())
    for change in changes:
        change(value)
    return rehearsal_of(value, "aws-training")


@pytest.fixture(scope="module")
def training() -> Rehearsal:
    return rehearsed()


@pytest.fixture(scope="module")
def on_demand() -> Rehearsal:
    def change(value: dict[str, Any]) -> None:
        del value["pools"]["train"]["capacity"]
        value["data"] = "delete"
        value["cluster"]["network"] = {"nat": "zonal", "endpoints": True}
        value["cluster"]["publicAccessCidrs"] = ["203.0.113.0/24"]
        value["pools"]["batch"] = {"instance": "m7i.2xlarge", "size": {"min": 0, "max": 4}, "labels": {"team": "a"}}

    return rehearsed(change)


def aws(rehearsal: Rehearsal) -> list[Resource]:
    return [each for each in rehearsal.resources if each.type.startswith("aws:")]


def test_the_api_is_proven_before_nodes_are_bought(training: Rehearsal) -> None:
    proof = "platform-agents-namespace"
    for group in training.of_kind("NodeGroup"):
        assert training.after(group.name, proof)
    assert training.after(proof, "platform-cluster-eks")


def test_what_runs_in_the_cluster_comes_after_its_nodes_and_goes_before(training: Rehearsal) -> None:
    inside = [each for each in training.resources if each.type.startswith("kubernetes:")]
    definitions = [each.name for each in inside if each.type.endswith(":CustomResourceDefinition")]
    for each in inside:
        if each.name not in definitions and each.name != "platform-agents-namespace":
            assert training.after(each.name, "platform-pool-train-group"), each.name


def test_data_goes_after_all_that_reads_it(training: Rehearsal) -> None:
    """A volume waits for its claim, a claim for its pods, and pods that lost their file system never end."""
    order = (
        "platform-ray-tuning-cluster",
        "platform-storage-research-research-claim",
        "platform-tenant-research-research",
        "platform-shared-research",
        "platform-lustre-files",
        "platform-lustre-group",
        "platform-network-vpc",
    )
    for later, earlier in pairwise(order):
        assert training.after(later, earlier), (later, earlier)
    for rule in ("platform-lustre-nodes-in-988", "platform-lustre-nodes-servers-in-988", "platform-data-key"):
        assert training.after("platform-shared-research", rule), rule
    assert training.after("platform-lustre-link-research-results", "platform-archive-encryption")


def test_nodes_need_their_way_out(training: Rehearsal) -> None:
    for route in ("platform-network-private-us-east-2a-out", "platform-network-gpu-us-east-2a-routed"):
        assert training.after("platform-pool-train-group", route)
        assert training.after("platform-cluster-eks", route)


def test_everything_at_aws_has_the_environment_s_provider_and_its_tag(training: Rehearsal) -> None:
    untagged = {
        "Route",
        "RouteTableAssociation",
        "RolePolicyAttachment",
        "RolePolicy",
        "Alias",
        "AccessPolicyAssociation",
        "SecurityGroupIngressRule",
        "SecurityGroupEgressRule",
        "BucketLifecycleConfiguration",
        "BucketOwnershipControls",
        "BucketPolicy",
        "BucketPublicAccessBlock",
        "BucketServerSideEncryptionConfiguration",
        "BucketVersioning",
    }
    for each in aws(training):
        assert (each.provider or "").endswith("::platform-aws"), each.name
        if each.type.rpartition(":")[2] not in untagged:
            assert each.inputs["tags"]["gangline.dev/cluster"] == "training", each.name


def test_what_holds_work_is_protected(training: Rehearsal, on_demand: Rehearsal) -> None:
    assert {each.name for each in training.resources if each.protect} == {
        "platform-cluster-eks",
        "platform-cluster-key",
        "platform-archive-bucket",
        "platform-data-key",
        "platform-lustre-files",
    }
    assert training.named("platform-cluster-eks").inputs["deletionProtection"] is True
    assert not [each.name for each in on_demand.resources if each.protect]
    assert on_demand.named("platform-cluster-eks").inputs["deletionProtection"] is False


def test_the_control_plane_is_closed(training: Rehearsal, on_demand: Rehearsal) -> None:
    inputs = training.named("platform-cluster-eks").inputs
    assert inputs["accessConfig"]["authenticationMode"] == "API"
    assert inputs["encryptionConfig"]["resources"] == ["secrets"]
    assert inputs["enabledClusterLogTypes"] == ["audit", "authenticator"]
    vpc = inputs["vpcConfig"]
    assert (vpc["endpointPrivateAccess"], vpc["endpointPublicAccess"]) == (True, False)
    open_to = on_demand.named("platform-cluster-eks").inputs["vpcConfig"]
    assert open_to["publicAccessCidrs"] == ["203.0.113.0/24"]


def test_a_block_has_its_three_parts(training: Rehearsal) -> None:
    template = training.named("platform-pool-train-template").inputs
    group = training.named("platform-pool-train-group")
    assert template["instanceMarketOptions"] == {"marketType": "capacity-block"}
    assert template["instanceType"] == "p5en.48xlarge"
    target = template["capacityReservationSpecification"]["capacityReservationTarget"]
    assert target == {"capacityReservationId": "cr-0a1b2c3d4e5f67890"}
    assert group.inputs["capacityType"] == "CAPACITY_BLOCK"
    assert "instanceTypes" not in group.inputs
    assert group.delete_before_replace
    assert group.inputs["updateConfig"] == {"maxUnavailable": 1, "updateStrategy": "MINIMAL"}
    assert not training.of_kind("PlacementGroup")


def test_on_demand_nodes_with_efa_stand_together(on_demand: Rehearsal) -> None:
    assert [each.name for each in on_demand.of_kind("PlacementGroup")] == ["platform-pool-train-placement"]
    template = on_demand.named("platform-pool-train-template").inputs
    group = on_demand.named("platform-pool-train-group")
    assert template["placement"]["groupName"]
    assert "instanceType" not in template
    assert "instanceMarketOptions" not in template
    assert group.inputs["instanceTypes"] == ["p5en.48xlarge"]
    assert not group.delete_before_replace


def test_what_eks_refuses_beside_a_template_is_not_there(training: Rehearsal, on_demand: Rehearsal) -> None:
    for rehearsal in (training, on_demand):
        for group in rehearsal.of_kind("NodeGroup"):
            assert not {"diskSize", "remoteAccess"} & set(group.inputs)
        for template in rehearsal.of_kind("LaunchTemplate"):
            assert not {"iamInstanceProfile", "imageId", "vpcSecurityGroupIds"} & set(template.inputs)
            assert not [nic for nic in template.inputs.get("networkInterfaces", []) if "subnetId" in nic]
            assert template.inputs["metadataOptions"]["httpTokens"] == "required"
            for device in template.inputs["blockDeviceMappings"]:
                assert device["ebs"]["encrypted"] == "true"


def test_efa_nodes_have_the_interfaces_of_their_type(training: Rehearsal) -> None:
    interfaces = training.named("platform-pool-train-template").inputs["networkInterfaces"]
    assert [(it["networkCardIndex"], it["deviceIndex"], it["interfaceType"]) for it in interfaces] == [
        (it.card, it.device, it.kind) for it in layout(catalog.instances()["p5en.48xlarge"])
    ]
    assert {"associatePublicIpAddress", "subnetId"}.isdisjoint({key for it in interfaces for key in it})
    for way in ("in", "out"):
        rule = training.named(f"platform-pool-train-fabric-{way}").inputs
        assert rule["ipProtocol"] == "-1"
        assert rule["referencedSecurityGroupId"] == rule["securityGroupId"]


def test_nothing_is_made_of_what_is_not_known_yet(training: Rehearsal) -> None:
    for each in training.resources:
        assert '"None"' not in json.dumps(each.inputs, default=str), each.name


def test_the_group_stands_in_the_subnet_of_its_zone(training: Rehearsal, on_demand: Rehearsal) -> None:
    assert training.named("platform-pool-train-group").inputs["subnetIds"] == ["platform-network-gpu-us-east-2a-id"]
    assert on_demand.named("platform-pool-batch-group").inputs["subnetIds"] == [
        "platform-network-private-us-east-2a-id",
        "platform-network-private-us-east-2b-id",
    ]


def test_a_range_belongs_to_the_autoscaler(on_demand: Rehearsal) -> None:
    assert on_demand.named("platform-pool-batch-group").ignore_changes == ("scalingConfig.desiredSize",)
    assert on_demand.named("platform-pool-train-group").ignore_changes == ()
    hints = {each.inputs["tag"]["key"]: each.inputs["tag"]["value"] for each in on_demand.of_kind("Tag")}
    assert hints["k8s.io/cluster-autoscaler/node-template/label/team"] == "a"
    assert hints["k8s.io/cluster-autoscaler/node-template/label/gangline.dev/pool"] == "batch"


def test_each_hint_is_a_resource_of_its_own() -> None:
    def change(value: dict[str, Any]) -> None:
        pool = {"instance": "m7i.2xlarge", "size": {"min": 0, "max": 4}, "labels": {"rack/a": "1", "rack-a": "2"}}
        value["pools"]["p" * LONGEST_NAME] = pool

    made = rehearsed(change)
    assert len({each.name for each in made.of_kind("Tag") if "/label/rack" in each.inputs["tag"]["key"]}) == 2
    # The engine puts a hyphen and seven characters after names; EKS takes 63.
    assert max(len(each.name) for each in made.of_kind("NodeGroup")) == 63 - 8


def test_china_has_names_of_its_own() -> None:
    def change(value: dict[str, Any]) -> None:
        value["cluster"]["zones"] = ["cn-north-1a", "cn-north-1b"]
        value["cluster"]["network"] = {"nat": "none", "endpoints": True}
        del value["cluster"]["access"]
        value["pools"]["train"]["zone"] = "cn-north-1a"
        value["pools"]["batch"] = {"instance": "m7i.2xlarge", "size": {"min": 0, "max": 4}, "provisioner": "karpenter"}

    made = rehearsed(change)
    services = {each.inputs["serviceName"] for each in made.of_kind("VpcEndpoint")}
    assert {"cn.com.amazonaws.cn-north-1.ecr.api", "com.amazonaws.cn-north-1.s3"} <= services
    trusts = [text for each in made.of_kind("Role") if "ec2." in (text := each.inputs.get("assumeRolePolicy", ""))]
    assert len(trusts) == 2
    assert all('"ec2.amazonaws.com.cn"' in each for each in trusts)


def test_ways_out_of_the_network(training: Rehearsal, on_demand: Rehearsal) -> None:
    assert len(training.of_kind("NatGateway")) == 1
    assert [each.inputs["serviceName"] for each in training.of_kind("VpcEndpoint")] == ["com.amazonaws.us-east-2.s3"]
    assert len(on_demand.of_kind("NatGateway")) == 2
    services = {
        each.inputs["serviceName"].removeprefix("com.amazonaws.us-east-2.") for each in on_demand.of_kind("VpcEndpoint")
    }
    assert services == {"s3", "ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "sts", "autoscaling"}
    for subnet in (*training.of_kind("Subnet"), *on_demand.of_kind("Subnet")):
        assert not subnet.inputs["mapPublicIpOnLaunch"]


def test_a_network_that_is_there_is_read_and_not_made() -> None:
    def change(value: dict[str, Any]) -> None:
        value["cluster"]["network"] = {
            "vpc": "vpc-0a1b2c3d4e5f67890",
            "subnets": {"us-east-2a": "subnet-0a1b2c3d4e5f67890", "us-east-2b": "subnet-0a1b2c3d4e5f67891"},
            "gpuSubnets": {"us-east-2a": "subnet-0a1b2c3d4e5f67892"},
        }

    found = rehearsed(change)
    assert {each.read for each in (*found.of_kind("Vpc"), *found.of_kind("Subnet"))} == {True}
    assert not [*found.of_kind("NatGateway"), *found.of_kind("RouteTable"), *found.of_kind("InternetGateway")]


def test_user_data_is_what_eks_reads(training: Rehearsal) -> None:
    text = base64.b64decode(training.named("platform-pool-train-template").inputs["userData"]).decode()
    assert "application/node.eks.aws" in text
    assert "strategy: RAID0" in text


def test_who_drains_is_told_when(training: Rehearsal) -> None:
    assert training.outputs["drains"]["train"]["ends"] == "2036-05-28T11:30:00Z"


def test_the_kubeconfig_is_a_secret_without_a_token(training: Rehearsal) -> None:
    for provider in training.of_kind("kubernetes"):
        assert "4dabf18193072939515e22adb298388d" in provider.inputs["kubeconfig"]


def test_the_number_of_resources_does_not_grow_with_the_nodes(training: Rehearsal) -> None:
    small = rehearsed(lambda value: value["pools"]["train"].update(size=60))
    assert len(small.resources) == len(training.resources)
