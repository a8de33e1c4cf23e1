"""What an account has before a stack comes: reservations and networks that documents name by their ids.

At AWS somebody bought or made them. Here they are put there under just those ids, which no API of AWS does; it lies
beside moto's own address, `/moto-api`. What is there already stays, but for a reservation's size and end.
"""

# ruff: noqa: ARG001 (handlers have the form that moto wants)

import datetime
import ipaddress
import json
import threading
from collections.abc import Mapping
from typing import Any
from unittest import mock

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.core.utils import utcnow
from moto.ec2.models import ec2_backends
from moto.moto_api._internal.urls import url_paths

from twin.aws.moto_gaps import capacity, placement
from twin.aws.names import GIVEN

_one_at_a_time = threading.Lock()


def _given(request: Any, full_url: str, headers: Any) -> tuple[int, dict[str, str], str]:
    """Answer POST with the ids of what was not there before.

    The body is `{"region", "reservations": [{id, type, zone, count, block, ends, placementGroup}], "networks":
    [{vpc, subnets: {id: zone}}]}`.
    """
    asked = json.loads(request.data)
    backend: Any = ec2_backends[DEFAULT_ACCOUNT_ID][asked["region"]]
    with _one_at_a_time:
        new = [one["id"] for one in asked["reservations"] if _reservation(backend, asked["region"], one)]
        for one in asked["networks"]:
            new += _network(backend, one["vpc"], one["subnets"])
    return 200, {"Content-Type": "application/json"}, json.dumps(new)


def _reservation(backend: Any, region: str, asked: Mapping[str, Any]) -> bool:
    there = capacity.reservations(backend)
    known = asked["id"] in there
    owner = f"arn:aws:ec2:{region}:{DEFAULT_ACCOUNT_ID}"
    entry = there.setdefault(
        asked["id"],
        {
            "CapacityReservationId": asked["id"],
            "CapacityReservationArn": f"{owner}:capacity-reservation/{asked['id']}",
            "OwnerId": DEFAULT_ACCOUNT_ID,
            "State": "active",
            "Tenancy": "default",
            "CreateDate": utcnow(),
            "StartDate": utcnow(),
            "InstancePlatform": "Linux/UNIX",
            "InstanceMatchCriteria": "targeted",
            "EbsOptimized": False,
            "EphemeralStorage": False,
        },
    )
    entry |= {
        "InstanceType": asked["type"],
        "AvailabilityZone": asked["zone"],
        "TotalInstanceCount": asked["count"],
        "AvailableInstanceCount": asked["count"],
        "ReservationType": "capacity-block" if asked["block"] else "default",
        "EndDateType": "limited" if asked["ends"] else "unlimited",
    }
    entry.pop("EndDate", None)
    if asked["ends"]:
        entry["EndDate"] = datetime.datetime.fromisoformat(asked["ends"])
    if name := asked["placementGroup"]:
        arn = f"{owner}:placement-group/{name}"
        entry["PlacementGroupArn"] = arn
        group = {"GroupName": name, "GroupId": f"pg-{asked['id'].removeprefix('cr-')}", "GroupArn": arn}
        placement.groups(backend).setdefault(name, {**group, "State": "available", "Strategy": "cluster"})
    return not known


def _network(backend: Any, vpc: str, subnets: Mapping[str, str]) -> list[str]:
    new = []
    if vpc not in backend.vpcs:
        with mock.patch("moto.ec2.models.vpcs.random_vpc_id", return_value=vpc):
            backend.create_vpc("10.0.0.0/16")
        new.append(vpc)
    # As large as can be, since nobody knows how large the real ones are: `up` looks whether the nodes fit.
    network = ipaddress.ip_network(backend.vpcs[vpc].cidr_block)
    blocks = network.subnets(len(subnets).bit_length())
    taken = [ipaddress.ip_network(one.cidr_block) for one in backend.describe_subnets() if one.vpc_id == vpc]
    free = (str(block) for block in blocks if not any(block.overlaps(other) for other in taken))
    there = {subnet.id for subnet in backend.describe_subnets()}
    for subnet, zone in sorted(subnets.items()):
        if subnet not in there:
            with mock.patch("moto.ec2.models.subnets.random_subnet_id", return_value=subnet):
                backend.create_subnet(vpc, next(free), availability_zone=zone)
            new.append(subnet)
    return new


def install() -> None:
    """Put it beside moto's own address."""
    url_paths[f"{{0}}{GIVEN}"] = _given
