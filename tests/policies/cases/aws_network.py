"""Networks on AWS."""

from typing import Any

from tests.policies.objects import UNKNOWN, Breaks, Passes, Resource, Unknowns, referring

VPC = Resource("aws:ec2/vpc:Vpc", {"cidrBlock": "10.0.0.0/16"}, "vpc")
GATEWAY = Resource("aws:ec2/natGateway:NatGateway", {"subnetId": "subnet-1"}, "gateway")


def group(**entry: Any) -> Resource:
    return Resource("aws:ec2/securityGroup:SecurityGroup", {"ingress": [{"protocol": "tcp", **entry}]})


def ingress(**inputs: Any) -> Resource:
    return Resource("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", {"ipProtocol": "tcp", **inputs})


def old(**inputs: Any) -> Resource:
    return Resource("aws:ec2/securityGroupRule:SecurityGroupRule", {"protocol": "-1", **inputs})


def template(*interfaces: Any) -> Resource:
    return Resource("aws:ec2/launchTemplate:LaunchTemplate", {"networkInterfaces": list(interfaces)})


def nodes(**access: Any) -> Resource:
    return Resource("aws:eks/nodeGroup:NodeGroup", {"instanceTypes": ["m7i.large"], "remoteAccess": access})


def node_class(**spec: Any) -> Resource:
    return Resource("kubernetes:karpenter.k8s.aws/v1:EC2NodeClass", {"spec": spec})


def subnet(name: str, **inputs: Any) -> Resource:
    return Resource("aws:ec2/subnet:Subnet", {"id": name} | inputs, name)


PUBLIC = subnet("subnet-1", mapPublicIpOnLaunch=True)
PRIVATE = subnet("subnet-2", mapPublicIpOnLaunch=False)


def within(**inputs: Any) -> Resource:
    return Resource("aws:eks/nodeGroup:NodeGroup", {"instanceTypes": ["m7i.large"]} | inputs, "group")


def endpoint(**inputs: Any) -> Resource:
    usual = {"vpcId": UNKNOWN, "serviceName": "com.amazonaws.us-east-2.s3", "vpcEndpointType": "Gateway"}
    return Resource("aws:ec2/vpcEndpoint:VpcEndpoint", usual | inputs, "endpoint")


BREAKS: Breaks = {
    "open-ports": [
        (group(fromPort=22, toPort=22, cidrBlocks=["10.0.0.0/8", "0.0.0.0/0"]), "ingress[0].cidrBlocks[1]: 0.0.0.0/0"),
        (group(fromPort=443, toPort=443, ipv6CidrBlocks=["::/0"]), "ingress[0].ipv6CidrBlocks[0]: ::/0 is the whole"),
        (ingress(fromPort=8265, toPort=8265, cidrIpv4="0.0.0.0/0"), "cidrIpv4: 0.0.0.0/0 is the whole internet"),
        # Two halves are the whole.
        (ingress(fromPort=8265, toPort=8265, cidrIpv4="128.0.0.0/1"), "cidrIpv4: 128.0.0.0/1"),
        (ingress(ipProtocol="-1", cidrIpv6="::/0"), "cidrIpv6: ::/0"),
        (old(type="ingress", cidrBlocks=["0.0.0.0/0"]), "cidrBlocks[0]: 0.0.0.0/0"),
    ],
    "public-nodes": [
        (template({}, {"associatePublicIpAddress": "true"}), "networkInterfaces[1].associatePublicIpAddress: gives"),
        (node_class(associatePublicIPAddress=True), "spec.associatePublicIPAddress: gives nodes public addresses"),
        (
            Resource("aws:ec2/instance:Instance", {"associatePublicIpAddress": True}),
            "associatePublicIpAddress: gives nodes public addresses",
        ),
        (nodes(ec2SshKey="ops"), "remoteAccess.sourceSecurityGroupIds: is empty, so that EKS opens port 22"),
        ([PUBLIC, within(subnetIds=["subnet-2", "subnet-1"])], "subnetIds: is a subnet that gives public addresses"),
        ([PUBLIC, referring(within(subnetIds=[UNKNOWN]), subnetIds=PUBLIC)], "subnetIds: is a subnet that gives"),
        ([PUBLIC, Resource("aws:ec2/instance:Instance", {"subnetId": "subnet-1"})], "subnetId: is a subnet that gives"),
    ],
    "s3-route": [
        ([GATEWAY, VPC], "vpc: no gateway endpoint leads to S3"),
        ([GATEWAY, referring(endpoint(vpcEndpointType="Interface"), vpcId=VPC), VPC], "vpc: no gateway endpoint"),
        ([GATEWAY, referring(endpoint(serviceName="com.amazonaws.us-east-2.dynamodb"), vpcId=VPC), VPC], "vpc: no"),
        ([GATEWAY, endpoint(vpcId="vpc-0a1b2c3d"), VPC], "vpc: no gateway endpoint"),
    ],
}

PASSES: Passes = {
    "open-ports": [
        group(fromPort=443, toPort=443, cidrBlocks=["10.0.0.0/8", "192.0.2.0/24"]),
        group(self=True),
        ingress(ipProtocol="-1", referencedSecurityGroupId="sg-1"),
        ingress(fromPort=443, toPort=443, cidrIpv4="10.0.0.0/8"),
        ingress(fromPort=443, toPort=443, cidrIpv6="fc00::/7"),
        old(type="egress", cidrBlocks=["0.0.0.0/0"]),
        Resource("aws:ec2/securityGroup:SecurityGroup", {"egress": [{"cidrBlocks": ["0.0.0.0/0"]}]}),
    ],
    "public-nodes": [
        template({"associatePublicIpAddress": "false"}, {}),
        node_class(),
        nodes(),
        nodes(ec2SshKey="ops", sourceSecurityGroupIds=["sg-1"]),
        [PUBLIC, within(subnetIds=["subnet-2"]), PRIVATE],
        # What a machine says itself counts.
        [
            PUBLIC,
            made := template({"associatePublicIpAddress": "false"}),
            referring(within(subnetIds=["subnet-1"], launchTemplate={"id": UNKNOWN}), launchTemplate=made),
        ],
    ],
    "s3-route": [
        VPC,
        [GATEWAY, VPC, referring(endpoint(), vpcId=VPC)],
        [GATEWAY, VPC, referring(endpoint(vpcEndpointType=None), vpcId=VPC)],
        GATEWAY,
    ],
}

UNKNOWNS: Unknowns = {
    "open-ports": [
        (group(fromPort=22, toPort=22, cidrBlocks=["10.0.0.0/8", UNKNOWN]), "ingress[0].cidrBlocks[1]"),
        (ingress(fromPort=22, toPort=22, cidrIpv4=UNKNOWN), "cidrIpv4"),
        (ingress(fromPort=22, toPort=22, cidrIpv4="everywhere"), "cidrIpv4"),
        (ingress(fromPort=UNKNOWN, toPort=22, cidrIpv4="0.0.0.0/0"), "fromPort"),
    ],
    "public-nodes": [
        (template({"associatePublicIpAddress": UNKNOWN}), "networkInterfaces[0].associatePublicIpAddress"),
        (nodes(ec2SshKey=UNKNOWN), "remoteAccess.ec2SshKey"),
    ],
    "s3-route": [([GATEWAY, endpoint(), VPC], "vpcId")],
}
