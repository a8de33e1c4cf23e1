"""Rows of the network: VPC, subnets, gateways, routes, endpoints."""

# ruff: noqa: ARG001, ARG005 (functions of rows all take the same)

from collections.abc import Mapping
from typing import Any

from twin.aws.row import Call, Read, Row, Update
from twin.aws.rows.common import ec2_tags, words


def _attribute(name: str) -> Read:
    member = name[0].upper() + name[1:]
    return Read("describe_vpc_attribute", {"VpcId": "$id", "Attribute": name}, result=f"{member}.Value", into=name)


def _of_vpc(operation: str, result: str, into: str, *filters: tuple[str, str]) -> Read:
    wanted = [{"Name": "vpc-id", "Values": ["$id"]}, *({"Name": name, "Values": [value]} for name, value in filters)]
    return Read(operation, {"Filters": wanted}, result=result, into=into)


def _arn(kind: str) -> Any:
    return lambda actual, context: f"arn:aws:ec2:{context['region']}:{context['account']}:{kind}/{context['id']}"


def _in_vpc(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"VpcId": now["vpcId"]}] if now.get("vpcId") else []


def _out_of_vpc(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"VpcId": before["vpcId"]}] if before.get("vpcId") else []


def _endpoint_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[dict[str, Any]]:
    parameters: dict[str, Any] = {}
    for name, member in (
        ("routeTableIds", "RouteTableIds"),
        ("subnetIds", "SubnetIds"),
        ("securityGroupIds", "SecurityGroupIds"),
    ):
        old, new = set(before.get(name) or ()), set(now.get(name) or ())
        if new - old:
            parameters[f"Add{member}"] = sorted(new - old)
        if old - new:
            parameters[f"Remove{member}"] = sorted(old - new)
    if now.get("policy") != before.get("policy"):
        parameters["PolicyDocument"] = now.get("policy")
    if now.get("privateDnsEnabled") != before.get("privateDnsEnabled"):
        parameters["PrivateDnsEnabled"] = bool(now.get("privateDnsEnabled"))
    return [parameters]


ROWS: Mapping[str, Row] = {
    "aws:ec2/vpc:Vpc": Row(
        service="ec2",
        create=Call("create_vpc"),
        id="Vpc.VpcId",
        reads=(
            Read("describe_vpcs", {"VpcIds": ["$id"]}, result="Vpcs[0]"),
            _attribute("enableDnsSupport"),
            _attribute("enableDnsHostnames"),
            _of_vpc(
                "describe_security_groups",
                "SecurityGroups[0].GroupId",
                "defaultSecurityGroupId",
                ("group-name", "default"),
            ),
            _of_vpc(
                "describe_route_tables", "RouteTables[0].RouteTableId", "mainRouteTableId", ("association.main", "true")
            ),
            _of_vpc("describe_network_acls", "NetworkAcls[0].NetworkAclId", "defaultNetworkAclId", ("default", "true")),
        ),
        delete=(Call("delete_vpc", {"VpcId": "$id"}),),
        updates=(
            Update(
                "modify_vpc_attribute",
                {"VpcId": "$id"},
                properties=("enableDnsSupport",),
                resets={"enableDnsSupport": True},
            ),
            Update(
                "modify_vpc_attribute",
                {"VpcId": "$id"},
                properties=("enableDnsHostnames",),
                resets={"enableDnsHostnames": False},
            ),
        ),
        replaced=words("cidrBlock instanceTenancy"),
        tags=ec2_tags("vpc"),
        outputs={"arn": _arn("vpc"), "defaultRouteTableId": "mainRouteTableId"},
        gone=words("InvalidVpcID.NotFound"),
    ),
    "aws:ec2/subnet:Subnet": Row(
        service="ec2",
        create=Call("create_subnet"),
        id="Subnet.SubnetId",
        reads=(Read("describe_subnets", {"SubnetIds": ["$id"]}, result="Subnets[0]"),),
        delete=(Call("delete_subnet", {"SubnetId": "$id"}),),
        updates=(
            Update(
                "modify_subnet_attribute",
                {"SubnetId": "$id"},
                properties=("mapPublicIpOnLaunch",),
                resets={"mapPublicIpOnLaunch": False},
            ),
        ),
        replaced=words("vpcId cidrBlock availabilityZone availabilityZoneId"),
        tags=ec2_tags("subnet"),
        outputs={"arn": "SubnetArn"},
        gone=words("InvalidSubnetID.NotFound"),
    ),
    "aws:ec2/internetGateway:InternetGateway": Row(
        service="ec2",
        create=Call("create_internet_gateway"),
        id="InternetGateway.InternetGatewayId",
        reads=(Read("describe_internet_gateways", {"InternetGatewayIds": ["$id"]}, result="InternetGateways[0]"),),
        delete=(
            Call(
                "detach_internet_gateway",
                {"InternetGatewayId": "$id", "VpcId": "$vpcId"},
                when=lambda context: bool(context.get("vpcId")),
                ignore=words("Gateway.NotAttached"),
            ),
            Call("delete_internet_gateway", {"InternetGatewayId": "$id"}),
        ),
        updates=(
            Update(
                "detach_internet_gateway",
                {"InternetGatewayId": "$id"},
                properties=("vpcId",),
                parameters_of=_out_of_vpc,
            ),
            Update(
                "attach_internet_gateway", {"InternetGatewayId": "$id"}, properties=("vpcId",), parameters_of=_in_vpc
            ),
        ),
        tags=ec2_tags("internet-gateway"),
        outputs={"arn": _arn("internet-gateway"), "vpcId": "Attachments[0].VpcId"},
        gone=words("InvalidInternetGatewayID.NotFound"),
    ),
    "aws:ec2/eip:Eip": Row(
        service="ec2",
        create=Call("allocate_address"),
        id="AllocationId",
        reads=(Read("describe_addresses", {"AllocationIds": ["$id"]}, result="Addresses[0]"),),
        delete=(Call("release_address", {"AllocationId": "$id"}),),
        replaced=words("domain"),
        tags=ec2_tags("elastic-ip"),
        outputs={"arn": _arn("elastic-ip"), "privateIp": "PrivateIpAddress"},
        gone=words("InvalidAllocationID.NotFound"),
    ),
    "aws:ec2/natGateway:NatGateway": Row(
        service="ec2",
        create=Call("create_nat_gateway"),
        id="NatGateway.NatGatewayId",
        reads=(
            Read("describe_nat_gateways", {"NatGatewayIds": ["$id"]}, result="NatGateways[?State != 'deleted'] | [0]"),
        ),
        delete=(Call("delete_nat_gateway", {"NatGatewayId": "$id"}),),
        replaced=words("allocationId connectivityType subnetId"),
        tags=ec2_tags("natgateway"),
        outputs={
            "allocationId": "NatGatewayAddresses[0].AllocationId",
            "networkInterfaceId": "NatGatewayAddresses[0].NetworkInterfaceId",
            "privateIp": "NatGatewayAddresses[0].PrivateIp",
            "publicIp": "NatGatewayAddresses[0].PublicIp",
        },
        gone=words("NatGatewayNotFound"),
    ),
    "aws:ec2/routeTable:RouteTable": Row(
        service="ec2",
        create=Call("create_route_table"),
        id="RouteTable.RouteTableId",
        reads=(Read("describe_route_tables", {"RouteTableIds": ["$id"]}, result="RouteTables[0]"),),
        delete=(Call("delete_route_table", {"RouteTableId": "$id"}),),
        replaced=words("vpcId"),
        tags=ec2_tags("route-table"),
        outputs={"arn": _arn("route-table"), "routes": "nothing", "propagatingVgws": "PropagatingVgws[].GatewayId"},
        gone=words("InvalidRouteTableID.NotFound"),
    ),
    "aws:ec2/route:Route": Row(
        service="ec2",
        create=Call("create_route"),
        id="{routeTableId}_{destinationCidrBlock}",
        reads=(
            Read(
                "describe_route_tables",
                {"RouteTableIds": ["$routeTableId"]},
                result="RouteTables[0].Routes[?DestinationCidrBlock == '${destinationCidrBlock}'] | [0]",
            ),
        ),
        delete=(
            Call("delete_route", {"RouteTableId": "$routeTableId", "DestinationCidrBlock": "$destinationCidrBlock"}),
        ),
        updates=(
            Update(
                "replace_route",
                {"RouteTableId": "$routeTableId", "DestinationCidrBlock": "$destinationCidrBlock"},
                properties=("gatewayId", "natGatewayId"),
                whole=True,
            ),
        ),
        replaced=words("routeTableId destinationCidrBlock"),
        outputs={"routeTableId": lambda actual, context: context["routeTableId"]},
        gone=words("InvalidRouteTableID.NotFound InvalidRoute.NotFound"),
    ),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": Row(
        service="ec2",
        create=Call("associate_route_table"),
        id="AssociationId",
        reads=(
            Read(
                "describe_route_tables",
                {},
                result="RouteTables[].Associations[] | [?RouteTableAssociationId == '${id}'] | [0]",
            ),
        ),
        delete=(Call("disassociate_route_table", {"AssociationId": "$id"}),),
        # A change of the table in place would give another id, which the engine cannot follow.
        replaced=words("subnetId routeTableId"),
        alone=True,
        gone=words("InvalidAssociationID.NotFound"),
    ),
    "aws:ec2/vpcEndpoint:VpcEndpoint": Row(
        service="ec2",
        create=Call("create_vpc_endpoint"),
        id="VpcEndpoint.VpcEndpointId",
        reads=(
            Read(
                "describe_vpc_endpoints", {"VpcEndpointIds": ["$id"]}, result="VpcEndpoints[?State != 'deleted'] | [0]"
            ),
        ),
        delete=(Call("delete_vpc_endpoints", {"VpcEndpointIds": ["$id"]}),),
        updates=(
            Update(
                "modify_vpc_endpoint",
                {"VpcEndpointId": "$id"},
                properties=("policy", "privateDnsEnabled", "routeTableIds", "securityGroupIds", "subnetIds"),
                parameters_of=_endpoint_changes,
            ),
        ),
        replaced=words("vpcId serviceName vpcEndpointType"),
        replaced_too=lambda before, now: words(
            "" if now.get("vpcEndpointType") == "Interface" else "privateDnsEnabled"
        ),
        tags=ec2_tags("vpc-endpoint"),
        renames={"policy": "PolicyDocument"},
        outputs={"arn": _arn("vpc-endpoint"), "securityGroupIds": "Groups[].GroupId"},
        gone=words("InvalidVpcEndpointId.NotFound"),
    ),
}
