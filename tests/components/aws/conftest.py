"""Components of AWS by themselves, with what AWS would answer."""

import asyncio
import copy
from collections.abc import Callable
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes
import pytest

from components.component import Component
from model import document
from model.environment import Environment
from tests.aws_answers import Answers
from twin.monitor import Resource, StrictMonitor

VALUE: dict[str, Any] = {
    "cluster": {
        "name": "atlas",
        "provider": "aws",
        "kubernetes": "1.35",
        "zones": ["us-east-2a", "us-east-2b"],
        "registry": {"cache": ["quay.io", "registry.k8s.io"]},
    },
    "pools": {
        "system": {"instance": "m7i.2xlarge", "size": {"min": 2, "max": 4}},
        "serve": {
            "instance": "g6e.xlarge",
            "size": {"min": 0, "max": 8},
            "provisioner": "karpenter",
            "zone": "us-east-2b",
            "sharing": {"timeSlicing": {"replicas": 4}},
            "taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}],
        },
        "plain": {"instance": "m7i.2xlarge", "size": {"min": 0, "max": 8}, "provisioner": "karpenter"},
    },
}


@pulumi.type_token("gangline:index:Whole")
class _Whole(Component):
    def __init__(self, make: Callable[[pulumi.ResourceOptions], object]) -> None:
        super().__init__("platform", {}, None)
        inside = pulumi.ResourceOptions(parent=self)
        providers = [
            aws.Provider("platform-aws", region="us-east-2", opts=inside),
            kubernetes.Provider("platform-kubernetes", context="atlas", opts=inside),
        ]
        make(pulumi.ResourceOptions(parent=self, providers=providers))
        self.register_outputs({})


@pytest.fixture(scope="session")
def env() -> Environment:
    return document.load(copy.deepcopy(VALUE))


@pytest.fixture(scope="session")
def made() -> Callable[[Callable[[pulumi.ResourceOptions], object]], dict[str, Resource]]:
    """Make something below a component with both providers, and give all resources by name."""

    def run(make: Callable[[pulumi.ResourceOptions], object]) -> dict[str, Resource]:
        asyncio.set_event_loop(asyncio.new_event_loop())
        monitor = StrictMonitor()
        monitor.mocks = Answers()
        pulumi.runtime.set_mocks(monitor.mocks, project="gangline", stack="test", monitor=monitor)
        pulumi.runtime.test(lambda: (_Whole(make), None)[1])()
        assert monitor.complaints() == []
        return {resource.name: resource for resource in monitor.recorded()}

    return run
