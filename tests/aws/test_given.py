"""What a document takes for given is in the cloud before a run, under the ids that it names."""

from datetime import UTC, datetime

from place import Place
from provider_client import REGION

from model import document
from twin.aws import given

BLOCK, RESERVED = "cr-0a1b2c3d4e5f67890", "cr-0fedcba9876543210"
DOCUMENT = {
    "cluster": {
        "name": "atlas",
        "provider": "aws",
        "kubernetes": "1.35",
        "zones": [f"{REGION}a", f"{REGION}b"],
        "network": {
            "vpc": "vpc-0a1b2c3d4e5f67890",
            "subnets": {f"{REGION}a": "subnet-0a1b2c3d4e5f67890", f"{REGION}b": "subnet-0b1b2c3d4e5f67890"},
        },
    },
    "pools": {
        "system": {"instance": "m7i.2xlarge", "size": 2},
        "train": {
            "instance": "p5en.48xlarge",
            "size": 8,
            "zone": f"{REGION}a",
            "fabric": "efa",
            "capacity": {"kind": "block", "reservation": BLOCK, "ends": "2036-05-28T11:30:00Z"},
        },
        "spare": {
            "instance": "p5.48xlarge",
            "size": 2,
            "zone": f"{REGION}b",
            "capacity": {"kind": "reservation", "reservation": RESERVED, "placementGroup": "close"},
        },
    },
    "topology": {"source": "aws"},
}


def test_reservations_and_network_are_there_under_their_ids(place: Place) -> None:
    env, ec2 = document.load(DOCUMENT), place.client("ec2")
    assert set(given.give(place.cloud.address, env)) == {
        BLOCK,
        RESERVED,
        "vpc-0a1b2c3d4e5f67890",
        "subnet-0a1b2c3d4e5f67890",
        "subnet-0b1b2c3d4e5f67890",
    }
    block, reserved = ec2.describe_capacity_reservations(CapacityReservationIds=[BLOCK, RESERVED])[
        "CapacityReservations"
    ]
    assert (block["InstanceType"], block["AvailabilityZone"], block["TotalInstanceCount"]) == (
        "p5en.48xlarge",
        f"{REGION}a",
        8,
    )
    assert block["ReservationType"] == "capacity-block"
    assert block["EndDate"] == datetime(2036, 5, 28, 11, 30, tzinfo=UTC)
    assert (reserved["ReservationType"], reserved["EndDateType"]) == ("default", "unlimited")
    assert reserved["PlacementGroupArn"].endswith("placement-group/close")
    assert ec2.describe_placement_groups(GroupNames=["close"])["PlacementGroups"][0]["Strategy"] == "cluster"
    [vpc] = ec2.describe_vpcs(VpcIds=["vpc-0a1b2c3d4e5f67890"])["Vpcs"]
    subnets = ec2.describe_subnets(Filters=[{"Name": "vpc-id", "Values": [vpc["VpcId"]]}])["Subnets"]
    assert {subnet["SubnetId"]: subnet["AvailabilityZone"] for subnet in subnets} == {
        "subnet-0a1b2c3d4e5f67890": f"{REGION}a",
        "subnet-0b1b2c3d4e5f67890": f"{REGION}b",
    }


def test_what_is_there_stays_but_for_the_size_and_the_end_of_a_reservation(place: Place) -> None:
    address, ec2 = place.cloud.address, place.client("ec2")
    given.give(address, document.load(DOCUMENT))
    train = DOCUMENT["pools"]["train"]
    larger = {**train, "size": 16, "capacity": {**train["capacity"], "ends": "2036-06-11T11:30:00Z"}}
    pools = {**DOCUMENT["pools"], "train": larger}
    assert given.give(address, document.load({**DOCUMENT, "pools": pools})) == []
    [block] = ec2.describe_capacity_reservations(CapacityReservationIds=[BLOCK])["CapacityReservations"]
    assert block["TotalInstanceCount"] == 16
    assert block["EndDate"] == datetime(2036, 6, 11, 11, 30, tzinfo=UTC)


def test_a_document_may_take_nothing_for_given(place: Place) -> None:
    env = document.load(
        {
            "cluster": {name: DOCUMENT["cluster"][name] for name in ("name", "provider", "kubernetes", "zones")},
            "pools": {"system": {"instance": "m7i.2xlarge", "size": 2}},
        }
    )
    assert given.wanted(env) == {"region": REGION, "reservations": [], "networks": []}
    assert given.give(place.cloud.address, env) == []
