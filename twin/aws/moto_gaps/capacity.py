"""Capacity reservations and capacity blocks.

https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateCapacityReservation.html and
.../API_PurchaseCapacityBlock.html. A block that was bought is active at once, so that trials need not wait for a date.
"""

# ruff: noqa: D103 (actions have the names and the form that moto wants; the API describes them)

import datetime
from typing import Any

from moto.core.responses import ActionResult
from moto.core.utils import utcnow
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.responses import EC2Response
from moto.ec2.utils import EC2_RESOURCE_TO_PREFIX

from twin.aws.moto_gaps.patching import add, ec2_tags, ec2_tags_of, filtered, hexadecimal

_FILTERS = (
    "instance-type owner-id instance-platform availability-zone tenancy outpost-arn state start-date end-date "
    "end-date-type instance-match-criteria placement-group-arn"
)
_KEPT = (
    "InstanceType", "InstancePlatform", "AvailabilityZone", "EbsOptimized", "EphemeralStorage", "EndDate",
    "PlacementGroupArn",
)  # fmt: skip


def reservations(backend: Any) -> dict[str, dict[str, Any]]:
    """Give a region's reservations by id."""
    return backend.__dict__.setdefault("capacity_reservations", {})


def _offerings(backend: Any) -> dict[str, dict[str, Any]]:
    return backend.__dict__.setdefault("capacity_block_offerings", {})


def _named(response: Any, identity: str) -> dict[str, Any]:
    found = reservations(response.ec2_backend).get(identity)
    if found is None:
        raise EC2ClientError(
            "InvalidCapacityReservationId.NotFound", f"The capacity reservation '{identity}' does not exist."
        )
    return found


def _kept(response: Any, count: int, **members: Any) -> dict[str, Any]:
    identity = f"cr-{hexadecimal()}"
    entry = {
        "CapacityReservationId": identity,
        "OwnerId": response.current_account,
        "CapacityReservationArn": (
            f"arn:aws:ec2:{response.region}:{response.current_account}:capacity-reservation/{identity}"
        ),
        "TotalInstanceCount": count,
        "AvailableInstanceCount": count,
        "State": "active",
        "Tenancy": "default",
        "CreateDate": utcnow(),
        "StartDate": utcnow(),
        "EndDateType": "unlimited",
        "InstanceMatchCriteria": "open",
        "ReservationType": "default",
        "EbsOptimized": False,
        "EphemeralStorage": False,
    } | {name: value for name, value in members.items() if value is not None}
    reservations(response.ec2_backend)[identity] = entry
    if tags := ec2_tags(response.params):
        response.ec2_backend.create_tags([identity], tags)
    return entry


def _told(response: Any, entry: dict[str, Any]) -> dict[str, Any]:
    return {**entry, "Tags": ec2_tags_of(response.ec2_backend, entry["CapacityReservationId"])}


def create_capacity_reservation(self: Any) -> ActionResult:
    asked = self.params
    if asked.get("EndDateType") == "limited" and not asked.get("EndDate"):
        raise EC2ClientError("InvalidParameterCombination", "EndDate is required for an EndDateType of limited.")
    entry = _kept(
        self,
        asked["InstanceCount"],
        **{name: asked.get(name) for name in (*_KEPT, "EndDateType", "InstanceMatchCriteria", "Tenancy")},
    )
    return ActionResult({"CapacityReservation": _told(self, entry)})


def describe_capacity_reservations(self: Any) -> ActionResult:
    asked = self.params
    ids = asked.get("CapacityReservationIds") or []
    found = [_named(self, identity) for identity in ids] or list(reservations(self.ec2_backend).values())
    told = [_told(self, entry) for entry in found]
    return ActionResult({"CapacityReservations": filtered(told, asked.get("Filters"), _FILTERS)})


def modify_capacity_reservation(self: Any) -> ActionResult:
    asked = self.params
    entry = _named(self, asked["CapacityReservationId"])
    if asked.get("InstanceCount") is not None:
        used = entry["TotalInstanceCount"] - entry["AvailableInstanceCount"]
        entry["TotalInstanceCount"] = asked["InstanceCount"]
        entry["AvailableInstanceCount"] = asked["InstanceCount"] - used
    if asked.get("EndDateType"):
        entry["EndDateType"] = asked["EndDateType"]
        entry.pop("EndDate", None)
    if asked.get("EndDate"):
        entry["EndDate"] = asked["EndDate"]
    return ActionResult({"Return": True})


def cancel_capacity_reservation(self: Any) -> ActionResult:
    entry = _named(self, self.params["CapacityReservationId"])
    if entry["ReservationType"] == "capacity-block":
        raise EC2ClientError("OperationNotPermitted", "A capacity block cannot be cancelled.")
    entry["State"] = "cancelled"
    return ActionResult({"Return": True})


def describe_capacity_block_offerings(self: Any) -> ActionResult:
    asked = self.params
    count, hours = asked.get("InstanceCount", 1), asked["CapacityDurationHours"]
    start = utcnow().replace(minute=30, second=0, microsecond=0)
    identity = f"cbo-{hexadecimal()}"
    offering = {
        "CapacityBlockOfferingId": identity,
        "InstanceType": asked["InstanceType"],
        "AvailabilityZone": f"{self.region}a",
        "InstanceCount": count,
        "StartDate": start,
        "EndDate": start + datetime.timedelta(hours=hours),
        "CapacityBlockDurationHours": hours,
        "UpfrontFee": "0.00",
        "CurrencyCode": "USD",
        "Tenancy": "default",
    }
    _offerings(self.ec2_backend)[identity] = offering
    return ActionResult({"CapacityBlockOfferings": [offering]})


def purchase_capacity_block(self: Any) -> ActionResult:
    asked = self.params
    offering = _offerings(self.ec2_backend).get(asked["CapacityBlockOfferingId"])
    if offering is None:
        raise EC2ClientError(
            "InvalidCapacityBlockOfferingId.NotFound", f"There is no offering '{asked['CapacityBlockOfferingId']}'."
        )
    entry = _kept(
        self,
        offering["InstanceCount"],
        **{name: offering[name] for name in ("InstanceType", "AvailabilityZone", "StartDate", "EndDate")},
        InstancePlatform=asked["InstancePlatform"],
        EndDateType="limited",
        InstanceMatchCriteria="targeted",
        ReservationType="capacity-block",
    )
    return ActionResult({"CapacityReservation": _told(self, entry)})


def install() -> None:
    """Add the actions to moto, and the form of the ids, so that reservations can be tagged."""
    EC2_RESOURCE_TO_PREFIX["capacity-reservation"] = "cr"
    add(
        EC2Response,
        create_capacity_reservation,
        describe_capacity_reservations,
        modify_capacity_reservation,
        cancel_capacity_reservation,
        describe_capacity_block_offerings,
        purchase_capacity_block,
    )
