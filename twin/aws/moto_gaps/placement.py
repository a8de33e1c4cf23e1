"""Placement groups, of which moto knows nothing.

https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreatePlacementGroup.html
"""

# ruff: noqa: D103 (actions have the names and the form that moto wants; the API describes them)

from typing import Any

from moto.core.responses import ActionResult, EmptyResult
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.responses import EC2Response
from moto.ec2.utils import EC2_RESOURCE_TO_PREFIX

from twin.aws.moto_gaps.patching import add, ec2_tags, ec2_tags_of, filtered, hexadecimal

_FILTERS = "group-name group-arn spread-level state strategy"


def groups(backend: Any) -> dict[str, dict[str, Any]]:
    """Give a region's groups by name."""
    return backend.__dict__.setdefault("placement_groups", {})


def _unknown(name: str) -> EC2ClientError:
    return EC2ClientError("InvalidPlacementGroup.Unknown", f"The Placement Group '{name}' is unknown.")


def create_placement_group(self: Any) -> ActionResult:
    known, asked = groups(self.ec2_backend), self.params
    name = asked["GroupName"]
    if name in known:
        raise EC2ClientError("InvalidPlacementGroup.Duplicate", f"The placement group '{name}' already exists.")
    identity = f"pg-{hexadecimal()}"
    group = {
        "GroupName": name,
        "GroupId": identity,
        "GroupArn": f"arn:aws:ec2:{self.region}:{self.current_account}:placement-group/{name}",
        "State": "available",
        "Strategy": asked.get("Strategy", "cluster"),
    }
    if group["Strategy"] == "partition":
        group["PartitionCount"] = asked.get("PartitionCount", 2)
    if group["Strategy"] == "spread":
        group["SpreadLevel"] = asked.get("SpreadLevel", "rack")
    known[name] = group
    if tags := ec2_tags(asked):
        self.ec2_backend.create_tags([identity], tags)
    return ActionResult({"PlacementGroup": _told(self, group)})


def describe_placement_groups(self: Any) -> ActionResult:
    known, asked = groups(self.ec2_backend), self.params
    names = asked.get("GroupNames") or []
    for name in names:
        if name not in known:
            raise _unknown(name)
    ids = asked.get("GroupIds") or []
    found = [_told(self, group) for name, group in known.items() if not names or name in names]
    found = [group for group in found if not ids or group["GroupId"] in ids]
    return ActionResult({"PlacementGroups": filtered(found, asked.get("Filters"), _FILTERS)})


def delete_placement_group(self: Any) -> EmptyResult:
    name = self.params["GroupName"]
    if name not in groups(self.ec2_backend):
        raise _unknown(name)
    del groups(self.ec2_backend)[name]
    return EmptyResult()


def _told(response: Any, group: dict[str, Any]) -> dict[str, Any]:
    return {**group, "Tags": ec2_tags_of(response.ec2_backend, group["GroupId"])}


def install() -> None:
    """Add the actions to moto, and the form of the ids, so that groups can be tagged."""
    EC2_RESOURCE_TO_PREFIX["placement-group"] = "pg"
    add(EC2Response, create_placement_group, describe_placement_groups, delete_placement_group)
