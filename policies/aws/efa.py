"""Laws about node groups with EFA: what keeps their nodes together and lets them talk."""

from collections.abc import Iterator
from dataclasses import dataclass

from policies.aws.reading import NODE_GROUPS, listed, named, names, naming, template_of
from policies.fields import UNKNOWN, Field, UnreadableError
from policies.rules import Level, Report, Resource, Severity, Stack, StackRule, rule

_EFA = ("efa", "efa-only")
_PLACEMENT_GROUP = ("aws:ec2/placementGroup:PlacementGroup",)
_SECURITY_GROUP = ("aws:ec2/securityGroup:SecurityGroup",)
_RULE = ("aws:ec2/securityGroupRule:SecurityGroupRule",)
_WAYS = {
    # Property of the group for rules inside it, and the type of rules beside it.
    "ingress": ("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",),
    "egress": ("aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",),
}
_START = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html"


@dataclass(frozen=True)
class Fabric:
    """A node group with EFA.

    Attributes:
        group: The node group.
        template: Its launch template.
        interfaces: Those of the template's interfaces that carry EFA.
    """

    group: Resource
    template: Resource
    interfaces: tuple[Field, ...]

    @property
    def reserved(self) -> bool:
        """Whether its machines come from a reservation."""
        reservation = self.template.inputs["capacityReservationSpecification"]
        return bool(reservation["capacityReservationTarget"].members())


def fabrics(stack: Stack, report: Report) -> Iterator[Fabric]:
    """Give the node groups with EFA whose launch template is made here; what cannot be read is noted."""
    for group in stack.of(*NODE_GROUPS):
        found: Fabric | None = None
        with report.reading(group.urn):
            template = template_of(stack, group)
            interfaces = template.inputs["networkInterfaces"].items() if template else []
            efa = tuple(each for each in interfaces if each["interfaceType"].text() in _EFA)
            found = Fabric(group, template, efa) if template and efa else None
        if found is not None:
            yield found


@rule(
    StackRule,
    id="efa-zone",
    severity=Severity.HIGH,
    what="The nodes of a group with EFA are of one type, in one zone.",
    why=(
        "EFA does not leave its zone, nor its subnet: NCCL finds no way between two nodes, and hangs in its first "
        "step. With several types the interfaces fit one of them at most."
    ),
    fix="Give the group one subnet, and one instance type; a second zone or type is a second group.",
    link="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html",
)
def efa_zone(stack: Stack, report: Report) -> None:
    """Judge the subnets and types of each group with EFA."""
    for fabric in fabrics(stack, report):
        for place, what in (("subnetIds", "subnets"), ("instanceTypes", "instance types")):
            with report.reading(fabric.group.urn):
                field = fabric.group.inputs[place]
                if len(field.items()) > 1:
                    report.violation(field, f"names {len(field.items())} {what}", fabric.group.urn)


@rule(
    StackRule,
    id="efa-placement",
    severity=Severity.MEDIUM,
    level=Level.ADVISORY,
    what="Nodes with EFA stand close together: in a cluster placement group, or where their reservation was made.",
    why="Nodes anywhere in a zone are more hops apart, and a gang is as slow as its worst pair.",
    fix="Set `placement.groupName` to a placement group with `strategy: cluster`; with a reservation leave it out.",
    link="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html",
)
def efa_placement(stack: Stack, report: Report) -> None:
    """Judge the placement of each launch template with EFA whose machines are of no reservation."""
    for fabric in fabrics(stack, report):
        template = fabric.template
        with report.reading(template.urn):
            if fabric.reserved:
                continue
            placement = template.inputs["placement"]
            own = placement_group(stack, template)
            if own is None and all(placement[key].value is None for key in ("groupName", "groupId")):
                report.violation(placement, "names no placement group", template.urn)
            elif own and own.inputs["strategy"].text() != "cluster":
                report.violation(own.inputs["strategy"], f"is {own.inputs['strategy']}, not cluster", own.urn)


def placement_group(stack: Stack, template: Resource) -> Resource | None:
    """Give the placement group of a launch template, where it is made in the stack.

    Raises:
        UnreadableError: It is not known which.
    """
    return named(stack, template, ("placement.groupName", "placement.groupId"), _PLACEMENT_GROUP)


@rule(
    StackRule,
    id="efa-security-group",
    severity=Severity.HIGH,
    what="The security group of EFA interfaces lets everything in from itself, and out to itself.",
    why=(
        "EFA's own traffic has no ports, and counts only rules that name the group itself: one for all addresses does "
        "not do. Without them NCCL hangs, or falls back to TCP without a word."
    ),
    fix="Add a rule each way with `ipProtocol: -1` whose `referencedSecurityGroupId` is the group itself.",
    link=_START,
)
def efa_security_group(stack: Stack, report: Report) -> None:
    """Judge the security groups of EFA interfaces that are made here."""
    found: dict[str, Resource] = {}
    for fabric in fabrics(stack, report):
        for interface in fabric.interfaces:
            with report.reading(fabric.template.urn):
                for field in interface["securityGroups"].items():
                    if group := _group(stack, fabric.template, field):
                        found[group.urn] = group
    for group in found.values():
        for way, rules in _WAYS.items():
            with report.reading(group.urn):
                if not _itself(stack, group, way, rules):
                    report.violation(way, "does not let everything pass between members of the group", group.urn)


def _group(stack: Stack, template: Resource, field: Field) -> Resource | None:
    groups = stack.of(*_SECURITY_GROUP)
    if field.value is not UNKNOWN:
        return next((each for each in groups if field.text() == each.properties["id"].value), None)
    # All interfaces come from these; which is whose is not said.
    sources = template.references.get("networkInterfaces", ())
    known = [each for each in groups if each.urn in sources]
    if len(known) != 1:
        raise UnreadableError(field, "is not known yet")
    return known[0]


def _itself(stack: Stack, group: Resource, way: str, rules: tuple[str, ...]) -> bool:
    inline = group.inputs[way].items()
    if any(each["self"].boolean() and each["protocol"].text() == "-1" for each in inline):
        return True
    for each in naming(stack, rules, "securityGroupId", group):
        if each.inputs["ipProtocol"].text() == "-1" and names(each, "referencedSecurityGroupId", group):
            return True
    return any(_old(each, group, way) for each in naming(stack, _RULE, "securityGroupId", group))


def _old(each: Resource, group: Resource, way: str) -> bool:
    if each.inputs["type"].text() != way or each.inputs["protocol"].text() != "-1":
        return False
    return bool(each.inputs["self"].boolean()) or names(each, "sourceSecurityGroupId", group)


@rule(
    StackRule,
    id="efa-interfaces",
    severity=Severity.HIGH,
    what="A node with EFA has all of its EFA devices, each on a card that carries it.",
    why=(
        "EC2 refuses an interface that a card does not take, and the group stays empty. With fewer devices than the "
        "machine has, a gang gets a fraction of the network that is paid for."
    ),
    fix="Take the interfaces that a pool with `fabric: efa` gets (`./gangline render`), by card.",
    link="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html",
)
def efa_interfaces(stack: Stack, report: Report) -> None:
    """Judge the interfaces of each launch template with EFA, for the type that its group has."""
    for fabric in fabrics(stack, report):
        template, group = fabric.template, fabric.group
        with report.reading(template.urn):
            types = [template.inputs["instanceType"], *listed(group.inputs["instanceTypes"])]
            for where, message in _layout(next((each.text() for each in types if each.text()), None), template.inputs):
                report.violation(where, message, template.urn)


def _layout(instance: str | None, template: Field) -> Iterator[tuple[Field, str]]:
    # Not at the top: the pack starts without what few stacks need.
    from catalog import reader as catalog
    from model.aws import interfaces

    known = catalog.instances().get(instance or "")
    if known is None:
        return
    written = template["networkInterfaces"].items()
    found = [
        interfaces.Interface(
            each["networkCardIndex"].whole() or 0,
            each["deviceIndex"].whole() or 0,
            each["interfaceType"].text() if each["interfaceType"].text() in _EFA else "interface",  # pyright: ignore[reportArgumentType]
        )
        for each in written
    ]
    for number, message in interfaces.faults(known, found):
        yield template["networkInterfaces"] if number is None else written[number], message


RULES = (efa_zone, efa_placement, efa_security_group, efa_interfaces)
