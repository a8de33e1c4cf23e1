"""A real API server takes what Karpenter is told, to the last field, and sees whether it is ready."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from cluster_helpers import eventually
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_global_resource
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition
from moto.server import ThreadedMotoServer

from components.sources import documents
from model import document
from model.aws import node_pools
from tests.upstream.test_karpenter import POOLS, VALUE, node_class
from twin import tools
from twin.aws import node_classes
from twin.aws.cloud import Cloud
from twin.cluster import Twin

KINDS = {
    "ec2nodeclasses": create_global_resource("karpenter.k8s.aws", "v1", "EC2NodeClass", "ec2nodeclasses"),
    "nodepools": create_global_resource("karpenter.sh", "v1", "NodePool", "nodepools"),
    "nodeoverlays": create_global_resource("karpenter.sh", "v1alpha1", "NodeOverlay", "nodeoverlays"),
}


def test_without_definitions_there_is_nothing_to_judge(twin: Twin, cloud: Cloud) -> None:
    with twin.client() as client:
        assert node_classes.judge(client, cloud) == []


@pytest.fixture(scope="module")
def client(twin: Twin) -> Iterator[Any]:
    folder = tools.ensure_sources(["karpenter-chart"])["karpenter-chart"] / "crds"
    wanted = [
        definition
        for file in folder.glob("*.yaml")
        for definition in documents(file)
        if definition["spec"]["names"]["plural"] in KINDS
    ]
    with twin.client() as found:
        for definition in wanted:
            made: Any = CustomResourceDefinition.from_dict(dict(definition))
            found.create(made)
        for definition in wanted:
            name = definition["metadata"]["name"]
            eventually(lambda name=name: _established(found.get(CustomResourceDefinition, name)))
        yield found
        for definition in wanted:
            found.delete(CustomResourceDefinition, definition["metadata"]["name"])


@pytest.fixture(scope="module")
def cloud() -> Iterator[Cloud]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield Cloud(f"http://{host}:{port}", "us-east-2")
    server.stop()


@pytest.mark.parametrize("pool", POOLS)
def test_it_takes_and_keeps_every_field(client: Any, pool: str) -> None:
    """Its definitions have rules (CEL) that only an API server judges."""
    env = document.load(copy.deepcopy(VALUE))
    specs = {"ec2nodeclasses": node_class(env, pool), "nodepools": node_pools.node_pool(env, pool)}
    if pool in node_pools.overlays(env):
        specs["nodeoverlays"] = node_pools.overlays(env)[pool]
    for plural, spec in specs.items():
        kept = client.create(KINDS[plural](metadata=ObjectMeta(name=pool), spec=spec), dry_run=True)
        assert _missing(spec, kept["spec"]) == []


def test_what_breaks_a_rule_is_refused(client: Any) -> None:
    spec = node_class(document.load(copy.deepcopy(VALUE)), "whole") | {"role": "nodes"}
    with pytest.raises(ApiError, match="must specify exactly one of"):
        client.create(KINDS["ec2nodeclasses"](metadata=ObjectMeta(name="both"), spec=spec), dry_run=True)


def test_a_class_is_ready_once_the_cloud_has_what_it_names(client: Any, cloud: Cloud) -> None:
    ec2, iam = cloud.client("ec2"), cloud.client("iam")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
    group = ec2.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
    env = document.load(copy.deepcopy(VALUE))
    spec = node_pools.node_class(env, "plain", profile="nodes", subnet_ids=[subnet], security_groups=[group])
    kind = KINDS["ec2nodeclasses"]
    client.create(kind(metadata=ObjectMeta(name="plain"), spec=spec))
    assert node_classes.judge(client, cloud) == ["plain"]
    assert _ready(client) == ("False", "there is no instance profile nodes")
    assert node_classes.judge(client, cloud) == []
    iam.create_instance_profile(InstanceProfileName="nodes")
    assert node_classes.judge(client, cloud) == ["plain"]
    assert _ready(client) == ("True", "")
    client.delete(kind, "plain")


def _missing(wanted: Any, kept: Any, path: str = "spec") -> list[str]:
    """The places of what was sent that are not in what was kept; the server fills in others by itself."""
    if isinstance(wanted, Mapping):
        return [
            place
            for key, value in wanted.items()
            for place in (_missing(value, kept[key], f"{path}.{key}") if key in kept else [f"{path}.{key}"])
        ]
    if isinstance(wanted, list) and len(wanted) == len(kept):
        return [place for a, b in zip(wanted, kept, strict=True) for place in _missing(a, b, f"{path}[]")]
    return [] if wanted == kept else [path]


def _ready(client: Any) -> tuple[str, str]:
    (condition,) = client.get(KINDS["ec2nodeclasses"], "plain")["status"]["conditions"]
    return condition["status"], condition["message"]


def _established(definition: CustomResourceDefinition) -> bool:
    conditions = definition.status.conditions if definition.status else None
    return any(each.type == "Established" and each.status == "True" for each in conditions or ())
