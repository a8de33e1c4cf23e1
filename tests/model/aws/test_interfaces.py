"""Network interfaces of EFA nodes, held against what the API of EC2 says of its types."""

import gzip
import json
from importlib import resources
from typing import Any

import pytest

from catalog import reader as catalog
from catalog.reader import Card, Instance
from model.aws.interfaces import Interface, faults, layout

API: dict[str, Any] = json.loads(
    gzip.decompress((resources.files("moto") / "ec2/resources/instance_types.json.gz").read_bytes())
)
"""Answers of DescribeInstanceTypes, as moto keeps them."""
EFA = sorted(name for name, instance in catalog.instances().items() if instance.efa)

# Number of EFA devices, as https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html has them.
DEVICES = {
    "p4d.24xlarge": 4,
    "p4de.24xlarge": 4,
    "p5.4xlarge": 1,
    "p5.48xlarge": 32,
    "p5e.48xlarge": 32,
    "p5en.48xlarge": 16,
    "p6-b200.48xlarge": 8,
    "p6-b300.48xlarge": 16,
    "g6e.8xlarge": 1,
    "g6e.24xlarge": 2,
    "g6e.48xlarge": 4,
    "g7e.24xlarge": 2,
    "g7e.48xlarge": 4,
}


@pytest.mark.parametrize("name", catalog.instances())
def test_the_catalogue_says_what_the_api_says(name: str) -> None:
    instance, told = catalog.instances()[name], API[name]
    assert instance.cpu == told["VCpuInfo"]["DefaultVCpus"]
    assert instance.memory == f"{told['MemoryInfo']['SizeInMiB'] // 1024}Gi"
    assert instance.architecture.replace("amd64", "x86_64") in told["ProcessorInfo"]["SupportedArchitectures"]
    gpus = told.get("GpuInfo", {}).get("Gpus", [])
    assert instance.gpus == sum(gpu["Count"] for gpu in gpus)
    cards = told["NetworkInfo"]["NetworkCards"]
    assert instance.cards == tuple(
        Card(it["MaximumNetworkInterfaces"], "efa-only" in it["InterfaceTypes"]) for it in cards
    )
    assert [card["NetworkCardIndex"] for card in cards] == list(range(len(cards)))
    assert instance.efa == told["NetworkInfo"].get("EfaInfo", {}).get("MaximumEfaInterfaces", 0)
    disks = told.get("InstanceStorageInfo", {}).get("Disks", [])
    assert (instance.disks, instance.disk) == ((disks[0]["Count"], f"{disks[0]['SizeInGB']}G") if disks else (0, None))
    assert instance.blocks == ("capacity-block" in told["SupportedUsageClasses"])
    assert "cluster" in told["PlacementGroupInfo"]["SupportedStrategies"]


@pytest.mark.parametrize("name", EFA)
def test_a_type_has_exactly_the_interfaces_that_its_cards_take(name: str) -> None:
    interfaces, told = layout(catalog.instances()[name]), API[name]["NetworkInfo"]
    assert interfaces[0] == Interface(0, 0, "interface")
    assert [it.kind for it in interfaces[1:]] == ["efa-only"] * told["EfaInfo"]["MaximumEfaInterfaces"]
    assert len({(it.card, it.device) for it in interfaces}) == len(interfaces)
    assert len({it.card for it in interfaces[1:]}) == len(interfaces) - 1
    for it in interfaces:
        card = told["NetworkCards"][it.card]
        assert it.device < card["MaximumNetworkInterfaces"]
        assert it.kind in card["InterfaceTypes"]


@pytest.mark.parametrize(("name", "devices"), DEVICES.items())
def test_the_number_of_devices_is_what_the_guide_says(name: str, devices: int) -> None:
    assert len(layout(catalog.instances()[name])) == devices + 1


def test_card_0_of_p6_b300_carries_no_efa() -> None:
    interfaces = layout(catalog.instances()["p6-b300.48xlarge"])
    assert [it.card for it in interfaces] == [0, *range(1, 17)]
    assert {it.device for it in interfaces} == {0}


def test_without_efa_there_is_no_layout() -> None:
    with pytest.raises(ValueError, match="carries no EFA"):
        layout(catalog.instances()["m7i.2xlarge"])


def test_a_card_without_room_is_told() -> None:
    with pytest.raises(ValueError, match="card 0 takes 1"):
        layout(Instance("x", 1, "1Gi", (Card(1, efa=True),)))


@pytest.mark.parametrize("name", EFA)
def test_our_own_layout_has_no_faults_and_one_device_less_has(name: str) -> None:
    instance = catalog.instances()[name]
    whole = layout(instance)
    assert list(faults(instance, whole)) == []
    told = [message for _, message in faults(instance, whole[:-1])]
    # With its only device gone, nobody asked for EFA.
    assert told == (
        [] if instance.efa == 1 else [f"{instance.efa - 1} of the {instance.efa} EFA devices of {name} are used"]
    )


@pytest.mark.parametrize(
    ("name", "found", "number", "message"),
    [
        # aws-parallelcluster#7143, eksctl#8685: card 0 of p6-b300 carries no EFA.
        ("p6-b300.48xlarge", [Interface(0, 0, "efa")], 0, "carries no EFA"),
        # eksctl#7520: the number of the card is not that of the device.
        ("p5.48xlarge", [Interface(0, 0, "efa"), Interface(2, 2, "efa-only")], 1, "card 2 of p5.48xlarge takes 2"),
        ("p5.48xlarge", [Interface(0, 0, "efa"), Interface(32, 0, "efa-only")], 1, "has 32 network cards"),
        ("p5.48xlarge", [Interface(0, 0, "efa"), Interface(0, 0, "efa")], 1, "has a device 0 already"),
        ("p5.48xlarge", [Interface(0, 0, "efa-only")], 0, "the primary interface needs an address"),
        ("p5.48xlarge", [Interface(1, 0, "efa-only")], None, "card 0 has no device 0"),
    ],
)
def test_interfaces_that_ec2_refuses(name: str, found: list[Interface], number: int | None, message: str) -> None:
    told = list(faults(catalog.instances()[name], found))
    assert told[0][0] == number
    assert message in told[0][1]
