"""The interfaces of every EFA type, as the cloud has them once they are made."""

import copy
from functools import cache
from typing import Any

import pytest
from place import Place
from provider_client import Engine

from catalog import reader as catalog
from model import document
from model.aws.interfaces import layout
from twin.paths import CHECKOUT
from twin.rehearsal import Rehearsal, rehearse

TYPE = "aws:ec2/launchTemplate:LaunchTemplate"
EFA = sorted(name for name, instance in catalog.instances().items() if instance.efa)


def pool_of(instance: str) -> str:
    return instance.replace(".", "-")


@cache
def rehearsal() -> Rehearsal:
    """A cluster with a pool of each type that carries EFA."""
    value = copy.deepcopy(document.read(CHECKOUT / "stacks" / "Pulumi.aws-training-ondemand.yaml").value)
    value["pools"] = {
        "system": value["pools"]["system"],
        **{pool_of(name): {"instance": name, "size": 1, "zone": "us-east-2a", "fabric": "efa"} for name in EFA},
    }
    for part in ("ray", "queues", "tenants"):
        del value[part]
    return rehearse(document.load(value), stack="efa")


def test_the_catalogue_has_types_of_every_family_that_carries_efa() -> None:
    assert len(EFA) >= 30
    assert {"p4d", "p4de", "p5", "p5e", "p5en", "p6-b200", "p6-b300", "g6e", "g7e"} <= {
        catalog.instances()[name].family for name in EFA
    }


@pytest.mark.parametrize("name", EFA)
def test_the_cloud_has_exactly_the_interfaces_of_the_type(name: str, engine: Engine, place: Place) -> None:
    ec2 = place.client("ec2")
    registered = rehearsal().named(f"platform-pool-{pool_of(name)}-template").inputs
    inputs: dict[str, Any] = copy.deepcopy(dict(registered))
    # What a rehearsal cannot know: names and ids that AWS gives.
    inputs["placement"] = {"groupName": "efa"}
    for interface in inputs["networkInterfaces"]:
        interface["securityGroups"] = [place.group]
    made = engine.create(TYPE, f"efa-{pool_of(name)}", inputs)
    (version,) = ec2.describe_launch_template_versions(LaunchTemplateId=made.id, Versions=["$Latest"])[
        "LaunchTemplateVersions"
    ]
    interfaces = version["LaunchTemplateData"]["NetworkInterfaces"]
    ec2.delete_launch_template(LaunchTemplateId=made.id)
    found = [(it["NetworkCardIndex"], it["DeviceIndex"], it["InterfaceType"]) for it in interfaces]
    assert found == [(it.card, it.device, it.kind) for it in layout(catalog.instances()[name])]

    (told,) = ec2.describe_instance_types(InstanceTypes=[name])["InstanceTypes"]
    network = told["NetworkInfo"]
    assert [kind for _, _, kind in found].count("efa-only") == network["EfaInfo"]["MaximumEfaInterfaces"]
    assert len({(card, device) for card, device, _ in found}) == len(found)
    for card, device, kind in found:
        has = network["NetworkCards"][card]
        assert device < has["MaximumNetworkInterfaces"]
        assert kind in has["InterfaceTypes"]
    assert not [it for it in interfaces if it.get("AssociatePublicIpAddress")]
