"""Laws about who reaches what in a network on AWS, and on which way."""

from policies.aws.reading import LAUNCH_TEMPLATES, NODE_CLASS, NODE_GROUPS, flag, naming, wide
from policies.fields import Field
from policies.rules import Level, Option, Report, ResourceRule, Severity, Stack, StackRule, rule

_GROUPS = ("aws:ec2/securityGroup:SecurityGroup", "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup")
_RULE = "aws:ec2/securityGroupRule:SecurityGroupRule"
_INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"


@rule(
    ResourceRule,
    types=(*_GROUPS, _RULE, _INGRESS),
    id="open-ports",
    severity=Severity.CRITICAL,
    what="No security group lets the whole internet in.",
    why=(
        "The internet is searched for open ports all the time. The API of a Ray cluster runs any code that it is sent, "
        "without a password, and so do notebooks."
    ),
    fix=(
        "Name the networks or the security group that may come in; people come through a VPN or `kubectl port-forward`."
    ),
    link="https://docs.aws.amazon.com/vpc/latest/userguide/security-group-rules.html",
    options={"ports": Option(list, (), "Ports that the whole internet may reach, such as `443`.")},
)
def open_ports(group: Field, report: Report) -> None:
    """Judge the rules for what comes in, wherever they are written."""
    with report.reading():
        for entry in group["ingress"].items():
            _networks(entry, ("cidrBlocks", "ipv6CidrBlocks"), "protocol", report)
    with report.reading():
        # A rule by itself says its way, unless it can only have one.
        if group["type"].text() in (None, "ingress"):
            _networks(group, ("cidrBlocks", "ipv6CidrBlocks"), "protocol", report)
            _networks(group, ("cidrIpv4", "cidrIpv6"), "ipProtocol", report)


def _networks(entry: Field, keys: tuple[str, ...], protocol: str, report: Report) -> None:
    for key in keys:
        with report.reading():
            for each in entry[key].items() if isinstance(entry[key].value, list) else [entry[key]]:
                with report.reading():
                    if wide(each) and not _allowed(entry, protocol, report):
                        report.violation(each, f"{each} is the whole internet, or a large part of it")


def _allowed(entry: Field, protocol: str, report: Report) -> bool:
    ports = {str(each) for each in report.options["ports"]}
    first, last = entry["fromPort"].whole(), entry["toPort"].whole()
    if entry[protocol].text() not in ("tcp", "udp", "6", "17") or first is None or last is None:
        return False
    return 0 <= last - first < len(ports) and all(str(port) in ports for port in range(first, last + 1))


@rule(
    ResourceRule,
    types=(*LAUNCH_TEMPLATES, *NODE_GROUPS, NODE_CLASS, "aws:ec2/instance:Instance"),
    id="public-nodes",
    severity=Severity.HIGH,
    what="Nodes have no public address, and no SSH that is open to everybody.",
    why=(
        "A node with a public address is one mistake in a security group away from the internet. EKS opens port 22 to "
        "everybody where a node group has an SSH key and names no group that may come in."
    ),
    fix="Put nodes into private subnets, and people onto them by Session Manager or `kubectl debug`.",
    link="https://docs.aws.amazon.com/eks/latest/APIReference/API_RemoteAccessConfig.html",
)
def public_nodes(machine: Field, report: Report) -> None:
    """Judge the addresses of launch templates, instances and node classes, and the SSH of node groups."""
    places = [machine["associatePublicIpAddress"], machine.at("spec", "associatePublicIPAddress")]
    with report.reading():
        interfaces = machine["networkInterfaces"].items()
        places += [each["associatePublicIpAddress"] for each in interfaces]
    for place in places:
        with report.reading():
            if flag(place):
                report.violation(place, "gives nodes public addresses")
    with report.reading():
        access = machine["remoteAccess"]
        if access["ec2SshKey"].text() and not access["sourceSecurityGroupIds"].items():
            report.violation(access["sourceSecurityGroupIds"], "is empty, so that EKS opens port 22 to everybody")


@rule(
    StackRule,
    id="s3-route",
    severity=Severity.LOW,
    level=Level.ADVISORY,
    what="A VPC with a NAT gateway reaches S3 by a gateway endpoint.",
    why=(
        "A gateway endpoint costs nothing, and a NAT gateway takes money for each gigabyte of data sets, images and "
        "checkpoints."
    ),
    fix="Add a `VpcEndpoint` of type `Gateway` for `com.amazonaws.REGION.s3`, with the route tables of the nodes.",
    link="https://docs.aws.amazon.com/vpc/latest/privatelink/vpc-endpoints-s3.html",
)
def s3_route(stack: Stack, report: Report) -> None:
    """Look for the endpoint of each VPC that is made here, where there is a NAT gateway."""
    if not stack.of("aws:ec2/natGateway:NatGateway"):
        return
    for vpc in stack.of("aws:ec2/vpc:Vpc"):
        with report.reading(vpc.urn):
            endpoints = naming(stack, ("aws:ec2/vpcEndpoint:VpcEndpoint",), "vpcId", vpc)
            if not any(_to_s3(each.inputs) for each in endpoints):
                report.violation("vpc", "no gateway endpoint leads to S3", vpc.urn)


def _to_s3(endpoint: Field) -> bool:
    kind = endpoint["vpcEndpointType"].text() or "Gateway"
    return kind == "Gateway" and (endpoint["serviceName"].text() or "").endswith(".s3")


RULES = (open_ports, public_nodes, s3_route)
