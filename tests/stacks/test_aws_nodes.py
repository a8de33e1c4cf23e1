"""A cluster on AWS as a whole: in which order it is made, and what it may do."""

import asyncio
import copy
import json
from collections.abc import Mapping
from typing import Any

import pulumi
import pytest

from components.sources import Sources
from model import document
from model.aws import wildcards
from stacks.platform import deploy
from tests.aws_answers import Answers
from twin.monitor import Resource, StrictMonitor
from twin.rehearsal import Rehearsal, rehearse

VALUE: dict[str, Any] = {
    "cluster": {
        "name": "atlas",
        "provider": "aws",
        "kubernetes": "1.35",
        "zones": ["us-east-2a", "us-east-2b"],
        "access": {"platform": {"principal": "arn:aws:iam::123456789012:role/platform", "policy": "cluster-admin"}},
        "registry": {"cache": ["quay.io"]},
    },
    "pools": {
        "system": {"instance": "m7i.2xlarge", "size": {"min": 2, "max": 4}},
        "train": {
            "instance": "p5en.48xlarge",
            "size": 4,
            "zone": "us-east-2a",
            "fabric": "efa",
            "taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}],
        },
        "serve": {
            "instance": "g6e.12xlarge",
            "size": {"min": 0, "max": 8},
            "capacity": {"kind": "spot"},
            "provisioner": "karpenter",
            "sharing": {"timeSlicing": {"replicas": 4}},
            "taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}],
        },
    },
}


@pytest.fixture(scope="module")
def rehearsal() -> Rehearsal:
    return rehearse(document.load(copy.deepcopy(VALUE)), stack="atlas")


def test_what_nodes_need_is_there_before_them(rehearsal: Rehearsal) -> None:
    for pool in ("system", "train"):
        assert rehearsal.after(f"platform-pool-{pool}-group", "platform-node-addons-vpc-cni-addon")
        assert rehearsal.after(f"platform-pool-{pool}-group", "platform-node-addons-eks-pod-identity-agent-addon")


def test_add_ons_with_pods_come_once_there_is_a_home_for_them(rehearsal: Rehearsal) -> None:
    for addon in ("coredns", "aws-ebs-csi-driver", "eks-node-monitoring-agent"):
        assert rehearsal.after(f"platform-addons-{addon}-addon", "platform-pool-system-group")
        # A pool that waits for its machines does not hold up DNS.
        assert not rehearsal.after(f"platform-addons-{addon}-addon", "platform-pool-train-group")


def test_nothing_is_left_that_karpenter_s_nodes_run_when_it_goes(rehearsal: Rehearsal) -> None:
    """What is deleted later than its controller would leave machines that nobody ends."""
    assert rehearsal.after("platform-volcano-release", "platform-karpenter-serve-pool")
    assert rehearsal.after("platform-karpenter-serve-pool", "platform-karpenter-release")
    assert rehearsal.after("platform-karpenter-release", "platform-pool-system-group")
    assert rehearsal.after("platform-karpenter-release", "platform-addons-coredns-addon")
    assert rehearsal.after("platform-karpenter-release", "platform-karpenter-definitions-nodepools.karpenter.sh")


def test_the_autoscaler_runs_before_what_may_need_nodes(rehearsal: Rehearsal) -> None:
    assert rehearsal.after("platform-volcano-release", "platform-autoscaler-deployment")


def test_what_nobody_asked_for_is_not_there() -> None:
    value = copy.deepcopy(VALUE)
    del value["pools"]["serve"], value["cluster"]["registry"]
    value["pools"]["system"]["size"] = 2
    names = [each.name for each in rehearse(document.load(value), stack="atlas").resources]
    assert not [name for name in names if "karpenter" in name or "autoscaler" in name or "registry" in name]


@pytest.fixture(scope="module")
def made() -> Mapping[str, Resource]:
    """All resources as they are once AWS has answered."""
    asyncio.set_event_loop(asyncio.new_event_loop())
    monitor = StrictMonitor()
    monitor.mocks = Answers()
    pulumi.runtime.set_mocks(monitor.mocks, project="gangline", stack="atlas", monitor=monitor)
    environment = document.load(copy.deepcopy(VALUE))
    pulumi.runtime.test(lambda: (deploy(environment, Sources(rehearsal=True)), None)[1])()
    assert monitor.complaints() == []
    return {resource.name: resource for resource in monitor.recorded()}


def test_no_policy_of_the_whole_stack_has_a_wildcard_without_a_reason(made: Mapping[str, Resource]) -> None:
    policies = {
        name: json.loads(resource.inputs[key])
        for name, resource in made.items()
        for key in ("policy", "assumeRolePolicy")
        if resource.type.startswith("aws:") and isinstance(resource.inputs.get(key), str)
    }
    for name, policy in policies.items():
        assert list(wildcards.unreasoned(policy)) == [], name
    roles = [resource for resource in made.values() if resource.type == "aws:iam/role:Role"]
    # Control plane, managed nodes, nodes of Karpenter; CNI, EBS, autoscaler, Karpenter's controller.
    assert len(roles) == 7
    assert len(policies) >= len(roles) + 7


def test_roles_that_are_made_elsewhere_are_aws_s_own(made: Mapping[str, Resource]) -> None:
    attached = {
        resource.inputs["policyArn"].rpartition("/")[2]
        for resource in made.values()
        if resource.type == "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
    }
    assert attached == {
        "AmazonEKSClusterPolicy",
        "AmazonEKSWorkerNodePolicy",
        "AmazonEC2ContainerRegistryPullOnly",
        "AmazonSSMManagedInstanceCore",
    }
