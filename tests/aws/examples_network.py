"""Examples of the network, of security groups and of compute."""

import base64
from collections.abc import Callable, Mapping

from examples import Example, names, policy
from place import Place
from provider_client import ACCOUNT, REGION, Made

TAGS = {"Name": "example", "team": "research"}


def _retagged(place: Place, made: Made) -> None:
    place.client("ec2").create_tags(Resources=[made.id], Tags=[{"Key": "team", "Value": "somebody"}])


def _rule(extra: Mapping[str, object]) -> Callable[[Place], dict]:
    return lambda place: {
        "securityGroupId": place.group,
        "ipProtocol": "tcp",
        "fromPort": 988,
        "toPort": 1023,
        "description": "Lustre",
        "tags": TAGS,
        **{name: place.other_group if value == "GROUP" else value for name, value in extra.items()},
    }


def _narrowed(way: str) -> Callable[[Place, Made], None]:
    def drift(place: Place, made: Made) -> None:
        rule = {"IpProtocol": "tcp", "FromPort": 988, "ToPort": 988, "CidrIpv4": "10.0.0.0/16", "Description": "Lustre"}
        place.client("ec2").modify_security_group_rules(
            GroupId=made.outputs["securityGroupId"],
            SecurityGroupRules=[{"SecurityGroupRuleId": made.id, "SecurityGroupRule": rule}],
        )

    return drift


RULE = Example(
    inputs=_rule({"cidrIpv4": "10.0.0.0/16"}),
    change=lambda place: {"fromPort": 1018, "description": "more", "tags": {"Name": "other"}},
    replace=lambda place: {"securityGroupId": place.other_group},
    drift=_narrowed("ingress"),
    drifted=names("toPort"),
)

OTHER_RULES: Mapping[str, Example] = {
    f"aws:vpc/securityGroup{way}Rule:SecurityGroup{way}Rule {word}": Example(
        inputs=_rule({**source, **everything}),
        change=lambda place: {"description": None},
        replace=lambda place, source=source: {**dict.fromkeys(source), "cidrIpv4": "10.0.0.0/8"},
        drift=_retagged,
        drifted=names("tags"),
    )
    for way in ("Ingress", "Egress")
    for word, source, everything in (
        ("group", {"referencedSecurityGroupId": "GROUP"}, {"ipProtocol": "-1", "fromPort": None, "toPort": None}),
        ("ipv6", {"cidrIpv6": "2001:db8::/32"}, {}),
        ("list", {"prefixListId": "pl-0123456789abcdef0"}, {}),
    )
}

NETWORK: Mapping[str, Example] = {
    **OTHER_RULES,
    "aws:ec2/vpc:Vpc": Example(
        inputs=lambda place: {
            "cidrBlock": "10.1.0.0/16",
            "instanceTenancy": "default",
            "enableDnsHostnames": True,
            "enableDnsSupport": True,
            "tags": TAGS,
        },
        change=lambda place: {"enableDnsHostnames": None, "enableDnsSupport": False, "tags": {"Name": "other"}},
        replace=lambda place: {"cidrBlock": "10.2.0.0/16"},
        drift=lambda place, made: place.client("ec2").modify_vpc_attribute(
            VpcId=made.id, EnableDnsHostnames={"Value": False}
        ),
        drifted=names("enableDnsHostnames"),
    ),
    "aws:ec2/subnet:Subnet": Example(
        inputs=lambda place: {
            "vpcId": place.vpc,
            "cidrBlock": "10.0.64.0/18",
            "availabilityZone": f"{REGION}a",
            "mapPublicIpOnLaunch": False,
            "tags": TAGS,
        },
        change=lambda place: {"mapPublicIpOnLaunch": True},
        replace=lambda place: {"availabilityZone": f"{REGION}b"},
        drift=_retagged,
        drifted=names("tags"),
    ),
    "aws:ec2/subnet:Subnet by-id": Example(
        inputs=lambda place: {
            "vpcId": place.vpc,
            "cidrBlock": "10.0.128.0/18",
            "availabilityZoneId": "use2-az1",
        },
        change=lambda place: {"tags": TAGS},
        replace=lambda place: {"availabilityZoneId": "use2-az2"},
    ),
    "aws:ec2/internetGateway:InternetGateway": Example(
        inputs=lambda place: {"vpcId": place.other_vpc, "tags": TAGS},
        change=lambda place: {"vpcId": None},
        drift=lambda place, made: place.client("ec2").detach_internet_gateway(
            InternetGatewayId=made.id, VpcId=place.other_vpc
        ),
        drifted=names("vpcId"),
    ),
    "aws:ec2/eip:Eip": Example(
        inputs=lambda place: {"domain": "vpc", "tags": TAGS},
        change=lambda place: {"tags": {"Name": "other"}},
        replace=lambda place: {"domain": "standard"},
        drift=_retagged,
        drifted=names("tags"),
    ),
    "aws:ec2/natGateway:NatGateway": Example(
        inputs=lambda place: {
            "subnetId": place.subnets[0],
            "allocationId": place.address,
            "connectivityType": "public",
            "tags": TAGS,
        },
        change=lambda place: {"tags": None},
        replace=lambda place: {"subnetId": place.subnets[1]},
        drift=_retagged,
        drifted=names("tags"),
    ),
    "aws:ec2/routeTable:RouteTable": Example(
        inputs=lambda place: {"vpcId": place.vpc, "tags": TAGS},
        change=lambda place: {"tags": {"Name": "other"}},
        replace=lambda place: {"vpcId": place.other_vpc},
        drift=_retagged,
        drifted=names("tags"),
    ),
    "aws:ec2/route:Route": Example(
        inputs=lambda place: {
            "routeTableId": place.table,
            "destinationCidrBlock": "0.0.0.0/0",
            "gatewayId": place.gateway,
        },
        change=lambda place: {"gatewayId": None, "natGatewayId": place.nat},
        replace=lambda place: {"destinationCidrBlock": "172.16.0.0/12"},
        drift=lambda place, made: place.client("ec2").replace_route(
            RouteTableId=place.table, DestinationCidrBlock="0.0.0.0/0", NatGatewayId=place.nats[1]
        ),
        drifted=names("gatewayId"),
    ),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": Example(
        inputs=lambda place: {"routeTableId": place.table, "subnetId": place.subnets[0]},
        replace=lambda place: {"routeTableId": place.other_table},
    ),
    "aws:ec2/vpcEndpoint:VpcEndpoint": Example(
        inputs=lambda place: {
            "vpcId": place.vpc,
            "serviceName": f"com.amazonaws.{REGION}.ecr.api",
            "vpcEndpointType": "Interface",
            "subnetIds": [place.subnets[0]],
            "securityGroupIds": [place.group],
            "privateDnsEnabled": True,
            "policy": policy("*"),
            "tags": TAGS,
        },
        change=lambda place: {
            "subnetIds": [place.subnets[1], place.subnets[0]],
            "securityGroupIds": [place.other_group],
            "policy": policy("ecr:*"),
        },
        replace=lambda place: {"serviceName": f"com.amazonaws.{REGION}.ecr.dkr"},
        drift=lambda place, made: place.client("ec2").modify_vpc_endpoint(
            VpcEndpointId=made.id, AddSubnetIds=[place.subnets[2]]
        ),
        drifted=names("subnetIds"),
    ),
    "aws:ec2/vpcEndpoint:VpcEndpoint gateway": Example(
        inputs=lambda place: {
            "vpcId": place.vpc,
            "serviceName": f"com.amazonaws.{REGION}.s3",
            "vpcEndpointType": "Gateway",
            "routeTableIds": [place.table],
        },
        change=lambda place: {"routeTableIds": [place.table, place.other_table]},
        replace=lambda place: {"vpcId": place.other_vpc},
        drift=lambda place, made: place.client("ec2").modify_vpc_endpoint(
            VpcEndpointId=made.id, AddRouteTableIds=[place.other_table]
        ),
        drifted=names("routeTableIds"),
    ),
    "aws:ec2/securityGroup:SecurityGroup": Example(
        inputs=lambda place: {"vpcId": place.vpc, "description": "EFA", "name": "efa", "tags": TAGS},
        change=lambda place: {"tags": {"Name": "other"}, "revokeRulesOnDelete": True},
        replace=lambda place: {"description": "InfiniBand"},
        drift=_retagged,
        drifted=names("tags"),
    ),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": RULE,
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": RULE,
}

_USER_DATA = base64.b64encode(b"MIME-Version: 1.0").decode()

COMPUTE: Mapping[str, Example] = {
    "aws:ec2/launchTemplate:LaunchTemplate": Example(
        inputs=lambda place: {
            "description": "training",
            "instanceType": "p5.48xlarge",
            "imageId": "ami-0123456789abcdef0",
            "ebsOptimized": "true",
            "disableApiTermination": False,
            "instanceInitiatedShutdownBehavior": "terminate",
            "keyName": "key",
            "cpuOptions": {"coreCount": 96, "threadsPerCore": 2},
            "iamInstanceProfile": {"name": "nodes"},
            "blockDeviceMappings": [
                {
                    "deviceName": "/dev/xvda",
                    "ebs": {"volumeSize": 500, "volumeType": "gp3", "deleteOnTermination": "true", "encrypted": "true"},
                }
            ],
            "capacityReservationSpecification": {
                "capacityReservationTarget": {"capacityReservationId": "cr-0123456789abcdef0"}
            },
            "instanceMarketOptions": {"marketType": "capacity-block"},
            "metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 2, "httpEndpoint": "enabled"},
            "monitoring": {"enabled": True},
            "networkInterfaces": [
                {
                    "networkCardIndex": card,
                    "deviceIndex": 0 if card == 0 else 1,
                    "interfaceType": "interface" if card == 0 else "efa-only",
                    "deleteOnTermination": "true",
                    "securityGroups": [place.group, place.other_group],
                }
                for card in range(3)
            ],
            "placement": {"groupName": "one"},
            "tagSpecifications": [{"resourceType": "instance", "tags": TAGS}],
            "userData": _USER_DATA,
            "tags": TAGS,
        },
        change=lambda place: {
            "instanceType": "p5en.48xlarge",
            "capacityReservationSpecification": {
                "capacityReservationTarget": {"capacityReservationId": "cr-0fedcba9876543210"}
            },
            "networkInterfaces": None,
            "vpcSecurityGroupIds": [place.group],
            "updateDefaultVersion": True,
        },
        replace=lambda place: {"name": "another"},
        drift=lambda place, made: place.client("ec2").create_launch_template_version(
            LaunchTemplateId=made.id, SourceVersion="1", LaunchTemplateData={"InstanceType": "p4d.24xlarge"}
        ),
        drifted=names(
            "instanceType blockDeviceMappings capacityReservationSpecification cpuOptions description ebsOptimized "
            "iamInstanceProfile imageId instanceInitiatedShutdownBehavior instanceMarketOptions keyName "
            "metadataOptions monitoring networkInterfaces placement tagSpecifications userData"
        ),
    ),
    "aws:ec2/placementGroup:PlacementGroup": Example(
        inputs=lambda place: {"name": "gang", "strategy": "partition", "partitionCount": 3, "tags": TAGS},
        change=lambda place: {"tags": {"Name": "other"}},
        replace=lambda place: {"strategy": "spread", "partitionCount": None, "spreadLevel": "rack"},
        drift=lambda place, made: place.client("ec2").create_tags(
            Resources=[made.outputs["placementGroupId"]], Tags=[{"Key": "team", "Value": "somebody"}]
        ),
        drifted=names("tags"),
    ),
    "aws:ec2/capacityReservation:CapacityReservation": Example(
        inputs=lambda place: {
            "instanceType": "p5.48xlarge",
            "instancePlatform": "Linux/UNIX",
            "availabilityZone": f"{REGION}a",
            "instanceCount": 4,
            "instanceMatchCriteria": "targeted",
            "endDateType": "limited",
            "endDate": "2027-01-31T12:00:00Z",
            "ebsOptimized": True,
            "tenancy": "default",
            "placementGroupArn": f"arn:aws:ec2:{REGION}:{ACCOUNT}:placement-group/one",
            "tags": TAGS,
        },
        change=lambda place: {"instanceCount": 8, "endDate": None, "endDateType": "unlimited"},
        replace=lambda place: {"availabilityZone": f"{REGION}b"},
        drift=lambda place, made: place.client("ec2").modify_capacity_reservation(
            CapacityReservationId=made.id, InstanceCount=2
        ),
        drifted=names("instanceCount"),
    ),
    "aws:ec2/capacityBlockReservation:CapacityBlockReservation": Example(
        inputs=lambda place: {
            "capacityBlockOfferingId": place.offering,
            "instancePlatform": "Linux/UNIX",
            "tags": TAGS,
        },
        change=lambda place: {"tags": {"Name": "other"}},
        replace=lambda place: {"instancePlatform": "Windows"},
        drift=_retagged,
        drifted=names("tags"),
        mortal=False,
    ),
    "aws:autoscaling/tag:Tag": Example(
        inputs=lambda place: {
            "autoscalingGroupName": place.autoscaling,
            "tag": {
                "key": "k8s.io/cluster-autoscaler/node-template/resources/nvidia.com/gpu",
                "value": "8",
                "propagateAtLaunch": False,
            },
        },
        change=lambda place: {
            "tag": {
                "key": "k8s.io/cluster-autoscaler/node-template/resources/nvidia.com/gpu",
                "value": "4",
                "propagateAtLaunch": False,
            }
        },
        replace=lambda place: {"tag": {"key": "other", "value": "8", "propagateAtLaunch": False}},
        drift=lambda place, made: place.client("autoscaling").create_or_update_tags(
            Tags=[
                {
                    "ResourceId": place.autoscaling,
                    "ResourceType": "auto-scaling-group",
                    "Key": made.inputs["tag"]["key"],
                    "Value": "1",
                    "PropagateAtLaunch": False,
                }
            ]
        ),
        drifted=names("tag"),
    ),
}
