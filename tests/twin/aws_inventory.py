"""Everything that is in a cloud, as plain boto3 sees it.

Only what stands by itself is listed: what lies within a cluster, a role or a bucket cannot outlive it. What AWS keeps
in sight for a while after its deletion counts as gone.
"""

from collections.abc import Iterator
from typing import Any

import boto3
import jmespath

LISTS: tuple[tuple[str, str, dict[str, Any], str], ...] = (
    ("ec2", "describe_vpcs", {}, "Vpcs[].VpcId"),
    ("ec2", "describe_subnets", {}, "Subnets[].SubnetId"),
    ("ec2", "describe_internet_gateways", {}, "InternetGateways[].InternetGatewayId"),
    ("ec2", "describe_addresses", {}, "Addresses[].AllocationId"),
    ("ec2", "describe_nat_gateways", {}, "NatGateways[?State != 'deleted'].NatGatewayId"),
    ("ec2", "describe_route_tables", {}, "RouteTables[].RouteTableId"),
    ("ec2", "describe_route_tables", {}, "RouteTables[].Associations[].RouteTableAssociationId"),
    ("ec2", "describe_route_tables", {}, "RouteTables[].Routes[].join(' ', [DestinationCidrBlock, GatewayId || ''])"),
    ("ec2", "describe_vpc_endpoints", {}, "VpcEndpoints[?State != 'deleted'].VpcEndpointId"),
    ("ec2", "describe_network_interfaces", {}, "NetworkInterfaces[].NetworkInterfaceId"),
    ("ec2", "describe_network_acls", {}, "NetworkAcls[].NetworkAclId"),
    ("ec2", "describe_security_groups", {}, "SecurityGroups[].GroupId"),
    ("ec2", "describe_security_group_rules", {}, "SecurityGroupRules[].SecurityGroupRuleId"),
    ("ec2", "describe_launch_templates", {}, "LaunchTemplates[].LaunchTemplateId"),
    ("ec2", "describe_placement_groups", {}, "PlacementGroups[].GroupId"),
    ("ec2", "describe_capacity_reservations", {}, "CapacityReservations[?State == 'active'].CapacityReservationId"),
    ("ec2", "describe_instances", {}, "Reservations[].Instances[?State.Name != 'terminated'][].InstanceId"),
    ("ec2", "describe_volumes", {}, "Volumes[].VolumeId"),
    ("autoscaling", "describe_auto_scaling_groups", {}, "AutoScalingGroups[].AutoScalingGroupName"),
    ("autoscaling", "describe_tags", {}, "Tags[].join(' ', [ResourceId, Key])"),
    ("eks", "list_clusters", {}, "clusters"),
    ("iam", "list_roles", {}, "Roles[].RoleName"),
    ("iam", "list_policies", {"Scope": "Local"}, "Policies[].Arn"),
    ("iam", "list_instance_profiles", {}, "InstanceProfiles[].InstanceProfileName"),
    ("iam", "list_open_id_connect_providers", {}, "OpenIDConnectProviderList[].Arn"),
    ("kms", "list_aliases", {"Limit": 100}, "Aliases[].AliasName"),
    ("logs", "describe_log_groups", {}, "logGroups[].logGroupName"),
    ("events", "list_rules", {}, "Rules[].Name"),
    ("sqs", "list_queues", {}, "QueueUrls"),
    ("ecr", "describe_repositories", {}, "repositories[].repositoryName"),
    ("ecr", "describe_pull_through_cache_rules", {}, "pullThroughCacheRules[].ecrRepositoryPrefix"),
    ("s3", "list_buckets", {}, "Buckets[].Name"),
    ("secretsmanager", "list_secrets", {}, "SecretList[?!DeletedDate].ARN"),
    ("ssm", "describe_parameters", {}, "Parameters[].Name"),
    ("fsx", "describe_file_systems", {}, "FileSystems[].FileSystemId"),
    ("fsx", "describe_data_repository_associations", {}, "Associations[].AssociationId"),
    ("efs", "describe_file_systems", {}, "FileSystems[].FileSystemId"),
    ("efs", "describe_access_points", {}, "AccessPoints[].AccessPointId"),
)


def inventory(address: str, region: str) -> frozenset[str]:
    """Give all that is there: the service, how it is listed, and its id."""
    return frozenset(_all(boto3.Session(region_name=region), address))


def _all(session: boto3.Session, address: str) -> Iterator[str]:
    def client(service: str) -> Any:
        return session.client(service, endpoint_url=address, aws_access_key_id="twin", aws_secret_access_key="twin")

    for service, operation, parameters, result in LISTS:
        for found in jmespath.search(result, getattr(client(service), operation)(**parameters)) or ():
            yield f"{service} {operation} {found}"
    kms = client("kms")
    for key in kms.list_keys()["Keys"]:
        if kms.describe_key(KeyId=key["KeyId"])["KeyMetadata"]["KeyState"] != "PendingDeletion":
            yield f"kms list_keys {key['KeyId']}"
