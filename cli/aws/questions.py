"""What an account is asked before anything is made in it. Every question only reads."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from model.aws import addons, quotas
from model.aws.answers import Answers, Reservation, Running, Subnet, Unknown, Zone

from .account import DENIED, Account, code, message

if TYPE_CHECKING:
    from model.environment import Environment

T = TypeVar("T")

_CLUSTER_TAGS = ("eks:cluster-name", "eks:eks-cluster-name")
"""Tags with the name of their cluster that instances of managed node groups have, and those of Karpenter."""
_SPOT_LIFECYCLE, _BLOCK_LIFECYCLE = "spot", "capacity-block"


def ask(account: Account, env: "Environment") -> Answers:
    """Ask all that a document wants to know. A refused question is `Unknown`, and the others are asked all the same.

    Raises:
        RefusedError: There are no credentials, they are not accepted, or AWS cannot be reached.
    """
    number = account.identity
    wanted = {quota.code for quota in quotas.asked(env)}
    network = env.cluster.network
    named = sorted({*network.subnets.values(), *network.gpu_subnets.values()})
    instances = sorted({pool.instance for pool in env.pools.values() if pool.instance})
    return Answers(
        account=number,
        zones=_answer("ec2:DescribeAvailabilityZones", lambda: _zones(account)),
        offerings=_answer("ec2:DescribeInstanceTypeOfferings", lambda: _offerings(account, instances)),
        quotas={each: _answer("servicequotas:GetServiceQuota", lambda at=each: _quota(account, at)) for each in wanted},
        running=_answer("ec2:DescribeInstances", lambda: tuple(_running(account))),
        reservations=_answer("ec2:DescribeCapacityReservations", lambda: dict(_reservations(account))),
        versions=_answer("eks:DescribeClusterVersions", lambda: _versions(account)),
        subnets=_answer("ec2:DescribeSubnets", lambda: dict(_subnets(account, named))) if named else {},
        addons=_answer("eks:DescribeAddonVersions", lambda: _addons(account, env)),
    )


def _answer(action: str, question: Callable[[], T]) -> T | Unknown:
    """Ask, and take a refusal for an answer."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        return question()
    except ClientError as error:
        return Unknown(action, f"{code(error)}: {message(error)}", denied=code(error) in DENIED)
    except BotoCoreError as error:
        return Unknown(action, str(error), denied=False)


def _pages(client: Any, operation: str, result: str, **parameters: Any) -> Iterator[Mapping[str, Any]]:
    for page in client.get_paginator(operation).paginate(**parameters):
        yield from page[result]


def _zones(account: Account) -> dict[str, Zone]:
    found = account.client("ec2").describe_availability_zones(AllAvailabilityZones=True)["AvailabilityZones"]
    return {
        zone["ZoneName"]: Zone(
            zone["ZoneId"],
            usable=zone.get("OptInStatus") != "not-opted-in" and zone.get("State", "available") != "unavailable",
        )
        for zone in found
        if zone.get("ZoneType", "availability-zone") == "availability-zone"
    }


def _offerings(account: Account, instances: list[str]) -> dict[str, frozenset[str]]:
    filters = [{"Name": "instance-type", "Values": instances}]
    found: dict[str, set[str]] = {}
    for offer in _pages(
        account.client("ec2"),
        "describe_instance_type_offerings",
        "InstanceTypeOfferings",
        LocationType="availability-zone",
        Filters=filters,
    ):
        found.setdefault(offer["InstanceType"], set()).add(offer["Location"])
    return {name: frozenset(zones) for name, zones in found.items()}


def _quota(account: Account, wanted: str) -> int:
    answer = account.client("service-quotas").get_service_quota(ServiceCode="ec2", QuotaCode=wanted)
    return int(answer["Quota"]["Value"])


def _running(account: Account) -> Iterator[Running]:
    filters = [{"Name": "instance-state-name", "Values": ["pending", "running"]}]
    for group in _pages(account.client("ec2"), "describe_instances", "Reservations", Filters=filters):
        for found in group["Instances"]:
            tags = {tag["Key"]: tag["Value"] for tag in found.get("Tags", ())}
            cores = found.get("CpuOptions", {})
            yield Running(
                instance=found["InstanceType"],
                cpu=cores.get("CoreCount", 0) * cores.get("ThreadsPerCore", 1),
                spot=found.get("InstanceLifecycle") == _SPOT_LIFECYCLE,
                block=found.get("InstanceLifecycle") == _BLOCK_LIFECYCLE,
                reservation=found.get("CapacityReservationId"),
                subnet=found.get("SubnetId"),
                cluster=next((tags[key] for key in _CLUSTER_TAGS if key in tags), None),
            )


def _reservations(account: Account) -> Iterator[tuple[str, Reservation]]:
    for found in _pages(account.client("ec2"), "describe_capacity_reservations", "CapacityReservations"):
        group = found.get("PlacementGroupArn")
        yield (
            found["CapacityReservationId"],
            Reservation(
                state=found["State"],
                block=found.get("ReservationType") == "capacity-block",
                instance=found["InstanceType"],
                zone=found["AvailabilityZone"],
                total=found["TotalInstanceCount"],
                available=found["AvailableInstanceCount"],
                targeted=found.get("InstanceMatchCriteria") == "targeted",
                platform=found["InstancePlatform"],
                tenancy=found.get("Tenancy", "default"),
                owner=found["OwnerId"],
                starts=found.get("StartDate"),
                ends=found.get("EndDate"),
                placement_group=group.rpartition("/")[2] if group else None,
            ),
        )


def _versions(account: Account) -> dict[str, str]:
    found = _pages(account.client("eks"), "describe_cluster_versions", "clusterVersions", includeAll=True)
    return {each["clusterVersion"]: each.get("versionStatus", "STANDARD_SUPPORT") for each in found}


def _subnets(account: Account, named: list[str]) -> Iterator[tuple[str, Subnet]]:
    # Asked by a filter: one id that is not there would be an error for all of them.
    filters = [{"Name": "subnet-id", "Values": named}]
    for found in _pages(account.client("ec2"), "describe_subnets", "Subnets", Filters=filters):
        yield (
            found["SubnetId"],
            Subnet(
                vpc=found["VpcId"],
                zone=found["AvailabilityZone"],
                free=found["AvailableIpAddressCount"],
                public=found["MapPublicIpOnLaunch"],
            ),
        )


def _addons(account: Account, env: "Environment") -> dict[str, frozenset[str]]:
    """Ask for the versions of the add-ons that the cluster gets, for its Kubernetes."""
    found: dict[str, frozenset[str]] = {}
    for addon in (*addons.before_nodes(env), *addons.after_nodes(env)):
        offered = _pages(
            account.client("eks"),
            "describe_addon_versions",
            "addons",
            addonName=addon.name,
            kubernetesVersion=env.cluster.kubernetes,
        )
        found[addon.name] = frozenset(each["addonVersion"] for one in offered for each in one["addonVersions"])
        if account.endpoint:
            found[addon.name] |= {addon.version}  # the twin's EKS knows the catalogue's, and takes any
    return found
