"""Node groups with EFA."""

from typing import Any

from catalog import reader as catalog
from model.aws.interfaces import layout
from tests.policies.objects import UNKNOWN, Breaks, Passes, Resource, Unknowns, referring

SECURITY = Resource("aws:ec2/securityGroup:SecurityGroup", {"vpcId": "vpc-1"}, "security")
PLACE = Resource("aws:ec2/placementGroup:PlacementGroup", {"strategy": "cluster"}, "place")
SPREAD = Resource("aws:ec2/placementGroup:PlacementGroup", {"strategy": "spread"}, "place")
RESERVED = {"capacityReservationTarget": {"capacityReservationId": "cr-1"}}
TYPE = "p6-b300.48xlarge"
FULL = [
    {"networkCardIndex": each.card, "deviceIndex": each.device, "interfaceType": each.kind, "securityGroups": [UNKNOWN]}
    for each in layout(catalog.instances()[TYPE])
]
PLAIN, FIRST = FULL[:2]


def template(*interfaces: Any, **inputs: Any) -> Resource:
    inputs = {"placement": {"groupName": UNKNOWN}, "networkInterfaces": list(interfaces) or FULL} | inputs
    made = Resource("aws:ec2/launchTemplate:LaunchTemplate", inputs, "template")
    sources = {"placement": PLACE} if (inputs["placement"] or {}).get("groupName") == UNKNOWN else {}
    return referring(made, networkInterfaces=SECURITY, **sources)


def group(made: Resource, **inputs: Any) -> Resource:
    usual = {"instanceTypes": [TYPE], "subnetIds": [UNKNOWN], "launchTemplate": {"id": UNKNOWN}}
    return referring(Resource("aws:eks/nodeGroup:NodeGroup", usual | inputs, "group"), launchTemplate=made)


def pair(*interfaces: Any, **inputs: Any) -> list[Resource]:
    made = template(*interfaces, **inputs)
    return [PLACE, group(made), made]


def nodes(**inputs: Any) -> list[Resource]:
    made = template()
    return [made, group(made, **inputs)]


def passing(way: str, protocol: Any = "-1", other: Resource = SECURITY) -> Resource:
    kind = f"securityGroup{way}Rule"
    inputs = {"ipProtocol": protocol, "securityGroupId": UNKNOWN, "referencedSecurityGroupId": UNKNOWN}
    made = Resource(f"aws:vpc/{kind}:S{kind[1:]}", inputs, way)
    return referring(made, securityGroupId=SECURITY, referencedSecurityGroupId=other)


def old(way: str, **inputs: Any) -> Resource:
    inputs = {"type": way, "protocol": "-1", "securityGroupId": UNKNOWN} | inputs
    made = Resource("aws:ec2/securityGroupRule:SecurityGroupRule", inputs, way)
    return referring(made, securityGroupId=SECURITY)


def inside(**ways: Any) -> list[Resource]:
    made = template()
    own = Resource(SECURITY.type, {way: [{"protocol": "-1", **entry}] for way, entry in ways.items()}, SECURITY.name)
    return [made, group(made), own]


OTHER = Resource("aws:ec2/securityGroup:SecurityGroup", {"vpcId": "vpc-1"}, "other")
IN, OUT = passing("Ingress"), passing("Egress")
EFA = {"interfaceType": "efa"}

BREAKS: Breaks = {
    "efa-zone": [
        (nodes(subnetIds=["subnet-1", UNKNOWN]), "subnetIds: names 2 subnets"),
        (nodes(instanceTypes=[TYPE, "p5.48xlarge"]), "instanceTypes: names 2 instance types"),
    ],
    "efa-placement": [
        (pair(placement=None), "placement: names no placement group"),
        (pair(placement={"availabilityZone": "us-east-2a"}), "placement: names no placement group"),
        ([group(template()), template(), SPREAD], "strategy: is spread, not cluster"),
    ],
    "efa-security-group": [
        ([*pair(), IN, SECURITY], "egress: does not let everything pass"),
        ([*pair(), OUT, SECURITY], "ingress: does not let everything pass"),
        ([*pair(), IN, passing("Egress", "tcp"), SECURITY], "egress: does not let everything pass"),
        ([*pair(), IN, passing("Egress", other=OTHER), SECURITY], "egress: does not let everything pass"),
        ([*pair(), IN, old("egress", cidrBlocks=["0.0.0.0/0"], sourceSecurityGroupId=""), SECURITY], "egress: does"),
        ([*pair(), old("ingress", self=True), SECURITY], "egress: does not let everything pass"),
        (inside(ingress={"self": True}, egress={"cidrBlocks": ["0.0.0.0/0"]}), "egress: does not let everything pass"),
    ],
    "efa-interfaces": [
        (pair(*FULL[:9]), "networkInterfaces: 8 of the 16 EFA devices of p6-b300.48xlarge are used"),
        # Card 0 of this type carries none.
        (pair({**PLAIN, **EFA}, *FULL[2:]), "networkInterfaces[0]: card 0 of p6-b300.48xlarge carries no EFA"),
        (pair({**PLAIN, "interfaceType": "efa-only"}, *FULL[2:]), "networkInterfaces[0]: card 0"),
        (pair(PLAIN, {**FIRST, "deviceIndex": 9}, *FULL[2:]), "networkInterfaces[1]: card 1 of p6-b300.48xlarge takes"),
        (pair(*FULL[:-1], {**FIRST, "networkCardIndex": 40}), "networkInterfaces[16]: p6-b300.48xlarge has 17 network"),
        (pair(*FULL[:-1], FIRST), "networkInterfaces[16]: card 1 has a device 0 already"),
        (pair(*FULL[1:]), "networkInterfaces: card 0 has no device 0"),
        (pair(*FULL[:2], instanceType="p5.4xlarge"), "networkInterfaces[1]: p5.4xlarge has 1 network cards"),
        (pair({**EFA, "interfaceType": "efa-only"}, instanceType="p5.4xlarge"), "networkInterfaces[0]: the primary"),
    ],
}

PASSES: Passes = {
    "efa-zone": [nodes(), nodes(subnetIds=["subnet-1"], instanceTypes=None)],
    "efa-placement": [
        pair(),
        [group(template()), template()],
        pair(placement={"groupName": "made-elsewhere"})[1:],
        pair(placement=None, capacityReservationSpecification=RESERVED),
        [group(made := Resource("aws:ec2/launchTemplate:LaunchTemplate", {"networkInterfaces": [{}]})), made],
    ],
    "efa-security-group": [
        [*pair(), SECURITY, IN, OUT],
        [*pair(), SECURITY, old("ingress", self=True), OUT],
        [*pair(), SECURITY, IN, referring(old("egress"), securityGroupId=SECURITY, sourceSecurityGroupId=SECURITY)],
        inside(ingress={"self": True}, egress={"self": True}),
        pair({**EFA, "securityGroups": ["sg-elsewhere"]}),
        [OTHER],
    ],
    "efa-interfaces": [
        pair(),
        pair(
            *({"networkCardIndex": n, "deviceIndex": int(n > 0), **EFA} for n in range(4)), instanceType="p4d.24xlarge"
        ),
        pair(EFA, instanceType="hpc7a.96xlarge"),
    ],
}

UNKNOWNS: Unknowns = {
    "efa-zone": [(nodes(subnetIds=UNKNOWN), "subnetIds")],
    "efa-placement": [
        (
            [
                PLACE,
                group(made := Resource("aws:ec2/launchTemplate:LaunchTemplate", template().inputs, "template")),
                made,
            ],
            "placement.groupName",
        ),
    ],
    "efa-security-group": [
        ([*pair(), IN, old("egress", self=UNKNOWN), SECURITY], "self"),
        (
            [
                SECURITY,
                OTHER,
                group(made := Resource("aws:ec2/launchTemplate:LaunchTemplate", {"networkInterfaces": [FIRST]})),
                made,
            ],
            "networkInterfaces[0].securityGroups[0]",
        ),
    ],
    "efa-interfaces": [
        (pair(*FULL[:-1], {**FULL[-1], "deviceIndex": UNKNOWN}), "networkInterfaces[16].deviceIndex"),
        (pair(instanceType=UNKNOWN), "instanceType"),
    ],
}
