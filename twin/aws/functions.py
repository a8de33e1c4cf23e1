"""Functions of the AWS SDK that stacks call: what they ask is answered by moto, or by the documents of AWS."""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

import jmespath

from twin.aws import sdk
from twin.aws.cloud import ACCOUNT, Cloud, CloudError
from twin.aws.row import Call
from twin.aws.translate import UnmappedError, from_api

Values = Mapping[str, Any]
Function = Callable[[Cloud, Values], dict[str, Any]]


def invoke(cloud: Cloud, token: str, given: Values) -> dict[str, Any]:
    """Carry out a function.

    Raises:
        UnmappedError: The stand-in does not carry the function or one of its arguments.
        CloudError: The cloud refused it.
    """
    entry = FUNCTIONS.get(token)
    if entry is None:
        raise UnmappedError(token, "the stand-in of the AWS provider has no such function (twin/aws/functions.py)")
    function, carried = entry
    for name in sorted(given.keys() - set(carried) - {"region"}):
        raise UnmappedError(name, f"not carried by the stand-in; it carries {', '.join(sorted(carried))}")
    if given.get("region", cloud.region) != cloud.region:
        raise UnmappedError("region", f"the stand-in asks its provider's region only, {cloud.region}")
    kinds = sdk.function(token)["outputs"]
    answer = {"region": cloud.region, **given, **function(cloud, given)}
    result = {name: from_api(answer.get(name), kind, name, {}) for name, kind in kinds.items()}
    return {name: value for name, value in result.items() if value is not None}


def _ask(cloud: Cloud, service: str, operation: str, result: str, **parameters: Any) -> Any:
    filled = {name: value for name, value in parameters.items() if value is not None}
    return jmespath.search(result, cloud.call(service, Call(operation), {}, filled))


def _filters(given: Values) -> list[dict[str, Any]] | None:
    return [{"Name": entry["name"], "Values": entry["values"]} for entry in given.get("filters") or ()] or None


def _one(found: list[Any], what: str) -> Any:
    if len(found) != 1:
        raise CloudError(f"{len(found)} {what} match, one is wanted")
    return found[0]


def _zones(cloud: Cloud, given: Values) -> dict[str, Any]:
    zones = _ask(cloud, "ec2", "describe_availability_zones", "AvailabilityZones", Filters=_filters(given))
    zones = [zone for zone in zones if given.get("state") in (None, zone["State"])]
    zones = [zone for zone in zones if zone["ZoneName"] not in (given.get("excludeNames") or ())]
    return {
        "id": cloud.region,
        "names": [zone["ZoneName"] for zone in zones],
        "zoneIds": [zone["ZoneId"] for zone in zones],
        "groupNames": sorted({zone.get("GroupName", cloud.region) for zone in zones}),
    }


def _caller(cloud: Cloud, _given: Values) -> dict[str, Any]:
    found = _ask(cloud, "sts", "get_caller_identity", "@")
    return {"id": found["Account"], "accountId": found["Account"], "arn": found["Arn"], "userId": found["UserId"]}


def _region(cloud: Cloud, given: Values) -> dict[str, Any]:
    name = given.get("name") or cloud.region
    return {
        "id": name, "name": name, "region": name, "description": name, "endpoint": f"ec2.{name}.amazonaws.com",
    }  # fmt: skip


def _partition(_cloud: Cloud, _given: Values) -> dict[str, Any]:
    return {"id": "aws", "partition": "aws", "dnsSuffix": "amazonaws.com", "reverseDnsPrefix": "com.amazonaws"}


_WORDS = {"actions": "Action", "notActions": "NotAction", "resources": "Resource", "notResources": "NotResource"}


def _document(_cloud: Cloud, given: Values) -> dict[str, Any]:
    """The language of policies: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html."""
    statements = [_statement(entry) for entry in given.get("statements") or ()]
    document: dict[str, Any] = {"Version": given.get("version") or "2012-10-17"}
    if given.get("policyId"):
        document["Id"] = given["policyId"]
    document["Statement"] = statements
    text = json.dumps(document, indent=2)
    return {
        "id": hashlib.sha256(text.encode()).hexdigest()[:10],
        "json": text,
        "minifiedJson": json.dumps(document, separators=(",", ":")),
    }


def _statement(entry: Values) -> dict[str, Any]:
    statement: dict[str, Any] = {"Effect": entry.get("effect") or "Allow"}
    if entry.get("sid"):
        statement["Sid"] = entry["sid"]
    for name, word in _WORDS.items():
        if entry.get(name):
            statement[word] = _single(entry[name])
    for name, word in (("principals", "Principal"), ("notPrincipals", "NotPrincipal")):
        if entry.get(name):
            statement[word] = {one["type"]: _single(one["identifiers"]) for one in entry[name]}
            if statement[word] == {"*": "*"}:
                statement[word] = "*"
    for one in entry.get("conditions") or ():
        statement.setdefault("Condition", {}).setdefault(one["test"], {})[one["variable"]] = _single(one["values"])
    return statement


def _single(values: list[str]) -> Any:
    return values[0] if len(values) == 1 else sorted(values)


def _parameter(cloud: Cloud, given: Values) -> dict[str, Any]:
    # moto holds AWS's own parameters of images,; those of EKS are added by moto_gaps.
    found = _ask(cloud, "ssm", "get_parameter", "Parameter", Name=given["name"], WithDecryption=True)
    return {
        "id": given["name"], "name": given["name"], "arn": found.get("ARN"), "type": found["Type"],
        "value": found["Value"], "insecureValue": found["Value"], "version": found["Version"],
    }  # fmt: skip


def _image(cloud: Cloud, given: Values) -> dict[str, Any]:
    found = _ask(cloud, "ec2", "describe_images", "Images", Owners=given.get("owners"), Filters=_filters(given))
    if given.get("mostRecent"):
        found = sorted(found, key=lambda image: image["CreationDate"])[-1:]
    image = _one(found, "images")
    return {**{name[0].lower() + name[1:]: value for name, value in image.items()}, "id": image["ImageId"]}


def _offerings(cloud: Cloud, given: Values) -> dict[str, Any]:
    found = _ask(
        cloud, "ec2", "describe_instance_type_offerings", "InstanceTypeOfferings",
        LocationType=given.get("locationType"), Filters=_filters(given),
    )  # fmt: skip
    return {
        "id": cloud.region,
        "instanceTypes": [entry["InstanceType"] for entry in found],
        "locations": [entry["Location"] for entry in found],
        "locationTypes": [entry["LocationType"] for entry in found],
    }


def _vpc(cloud: Cloud, given: Values) -> dict[str, Any]:
    ids = [given["id"]] if given.get("id") else None
    vpc = _one(_ask(cloud, "ec2", "describe_vpcs", "Vpcs", VpcIds=ids, Filters=_filters(given)), "VPCs")
    return {
        "id": vpc["VpcId"], "cidrBlock": vpc["CidrBlock"], "ownerId": vpc.get("OwnerId"), "state": vpc["State"],
        "default": vpc.get("IsDefault"), "instanceTenancy": vpc.get("InstanceTenancy"),
        "arn": f"arn:aws:ec2:{cloud.region}:{ACCOUNT}:vpc/{vpc['VpcId']}", "tags": _tags(vpc),
    }  # fmt: skip


def _subnet(cloud: Cloud, given: Values) -> dict[str, Any]:
    ids = [given["id"]] if given.get("id") else None
    found = _one(_ask(cloud, "ec2", "describe_subnets", "Subnets", SubnetIds=ids, Filters=_filters(given)), "subnets")
    return {
        "id": found["SubnetId"], "vpcId": found["VpcId"], "cidrBlock": found.get("CidrBlock"), "state": found["State"],
        "availabilityZone": found["AvailabilityZone"], "availabilityZoneId": found.get("AvailabilityZoneId"),
        "availableIpAddressCount": found.get("AvailableIpAddressCount"), "arn": found.get("SubnetArn"),
        "mapPublicIpOnLaunch": found.get("MapPublicIpOnLaunch"), "ownerId": found.get("OwnerId"), "tags": _tags(found),
    }  # fmt: skip


def _subnets(cloud: Cloud, given: Values) -> dict[str, Any]:
    found = _ask(cloud, "ec2", "describe_subnets", "Subnets[].SubnetId", Filters=_filters(given))
    return {"id": cloud.region, "ids": sorted(found)}


def _tags(found: Values) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in found.get("Tags") or ()}


def _cluster(cloud: Cloud, given: Values) -> dict[str, Any]:
    found = _ask(cloud, "eks", "describe_cluster", "cluster", name=given["name"])
    network = found.get("resourcesVpcConfig") or {}
    return {
        **found,
        "id": found["name"],
        "vpcConfig": network,
        "certificateAuthorities": [found["certificateAuthority"]],
    }


def _block(cloud: Cloud, given: Values) -> dict[str, Any]:
    found = _ask(
        cloud, "ec2", "describe_capacity_block_offerings", "CapacityBlockOfferings",
        CapacityDurationHours=given["capacityDurationHours"], InstanceCount=given["instanceCount"],
        InstanceType=given["instanceType"],
    )  # fmt: skip
    offer = _one(found[:1], "offerings of capacity blocks")
    named = {name[0].lower() + name[1:]: value for name, value in offer.items()}
    return {**named, "startDateRange": offer["StartDate"], "endDateRange": offer["EndDate"]}


FUNCTIONS: Mapping[str, tuple[Function, frozenset[str]]] = {
    token: (function, frozenset(carried.split()))
    for token, function, carried in (
        ("aws:index/getAvailabilityZones:getAvailabilityZones", _zones, "state filters excludeNames"),
        ("aws:index/getCallerIdentity:getCallerIdentity", _caller, ""),
        ("aws:index/getRegion:getRegion", _region, "name"),
        ("aws:index/getPartition:getPartition", _partition, ""),
        ("aws:iam/getPolicyDocument:getPolicyDocument", _document, "statements version policyId"),
        ("aws:ssm/getParameter:getParameter", _parameter, "name withDecryption"),
        ("aws:ec2/getAmi:getAmi", _image, "owners filters mostRecent"),
        ("aws:ec2/getInstanceTypeOfferings:getInstanceTypeOfferings", _offerings, "filters locationType"),
        ("aws:ec2/getVpc:getVpc", _vpc, "id filters"),
        ("aws:ec2/getSubnet:getSubnet", _subnet, "id filters"),
        ("aws:ec2/getSubnets:getSubnets", _subnets, "filters"),
        ("aws:eks/getCluster:getCluster", _cluster, "name"),
        (
            "aws:ec2/getCapacityBlockOffering:getCapacityBlockOffering",
            _block,
            "capacityDurationHours instanceCount instanceType",
        ),
    )
}
