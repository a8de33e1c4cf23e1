"""Laws about who reaches what in a network on AWS, and on which way."""

from policies.aws.reading import LAUNCH_TEMPLATES, NODE_CLASS, NODE_GROUPS, flag, naming, template_of, wide
from policies.fields import Field
from policies.rules import Level, Option, Report, Resource, ResourceRule, Severity, Stack, StackRule, rule

_GROUPS = ("aws:ec2/securityGroup:SecurityGroup", "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup")
_PLACED = (*NODE_GROUPS, "aws:ec2/instance:Instance")
"""Machines that say in which subnets they are."""
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
    StackRule,
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
def public_nodes(stack: Stack, report: Report) -> None:
    """Judge what machines say of addresses, the subnets that give them unasked, and the SSH of node groups."""
    for machine in stack.of(*LAUNCH_TEMPLATES, *_PLACED, NODE_CLASS):
        with report.reading(machine.urn):
            for place in _addresses(machine.inputs):
                with report.reading(machine.urn):
                    if flag(place):
                        report.violation(place, "gives nodes public addresses", machine.urn)
    public = [each for each in stack.of("aws:ec2/subnet:Subnet") if each.inputs["mapPublicIpOnLaunch"].value is True]
    for machine in stack.of(*_PLACED) if public else ():
        with report.reading(machine.urn):
            template = template_of(stack, machine)
            said = [*_addresses(machine.inputs), *(_addresses(template.inputs) if template else ())]
            if all(each.value is None for each in said) and (place := _within(machine, public)):
                report.violation(place, "is a subnet that gives public addresses to all that starts there", machine.urn)
    for group in stack.of(*NODE_GROUPS):
        with report.reading(group.urn):
            access = group.inputs["remoteAccess"]
            if access["ec2SshKey"].text() and not access["sourceSecurityGroupIds"].items():
                place = access["sourceSecurityGroupIds"]
                report.violation(place, "is empty, so that EKS opens port 22 to everybody", group.urn)


def _addresses(machine: Field) -> list[Field]:
    """Where a machine says whether it has a public address."""
    interfaces = [each["associatePublicIpAddress"] for each in machine["networkInterfaces"].items()]
    return [machine["associatePublicIpAddress"], machine.at("spec", "associatePublicIPAddress"), *interfaces]


def _within(machine: Resource, subnets: list[Resource]) -> Field | None:
    """Where a machine names one of some subnets."""
    for place in ("subnetIds", "subnetId"):
        field = machine.inputs[place]
        texts = [each.value for each in (field.items() if isinstance(field.value, list) else [field])]
        for subnet in subnets:
            identity = subnet.properties["id"].value
            if subnet.urn in machine.references.get(place, ()) or (isinstance(identity, str) and identity in texts):
                return field
    return None


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
