"""Laws about the machines that become nodes: instances, launch templates, node groups and Karpenter's classes."""

from collections.abc import Iterator

from policies.aws.reading import LAUNCH_TEMPLATES, NODE_CLASS, NODE_GROUPS, template_of
from policies.fields import Field
from policies.rules import Option, Report, ResourceRule, Severity, Stack, StackRule, rule

_CONFIGURATION = "aws:ec2/launchConfiguration:LaunchConfiguration"
_INSTANCE = "aws:ec2/instance:Instance"
_HOPS = 2
"""The limit that EC2 takes for images which ask for tokens, such as those of AL2023
(https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-IMDS-new-instances.html)."""


@rule(
    ResourceRule,
    types=(*LAUNCH_TEMPLATES, _INSTANCE, _CONFIGURATION, NODE_CLASS),
    id="instance-metadata",
    severity=Severity.HIGH,
    what="The credentials of a node are for the node: its metadata wants a token, and pods do not reach it.",
    why=(
        "A pod, or a web service that fetches what it is told to, could ask the node for its role and use it: to read "
        "all images, and to leave or to change the cluster."
    ),
    fix=(
        "Set `metadataOptions` with `httpTokens: required` and `httpPutResponseHopLimit: 1`. Pods get roles of their "
        "own by EKS Pod Identity."
    ),
    link="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-service.html",
    options={"hops": Option(int, 1, "Hops that an answer takes at most: 2 lets pods have it.")},
)
def instance_metadata(machine: Field, report: Report) -> None:
    """Judge the options. Karpenter's defaults are right; EC2's depend on the account and the image.

    So are those of EKS for a node group without a launch template
    (https://github.com/hashicorp/terraform-provider-aws/issues/38516).
    """
    defaults = machine["spec"].value is not None
    options = machine.at("spec", "metadataOptions") if defaults else machine["metadataOptions"]
    if options["httpEndpoint"].text() == "disabled":
        return
    tokens, hops = options["httpTokens"], options["httpPutResponseHopLimit"]
    with report.reading():
        if tokens.text() != "required" and not (defaults and tokens.value is None):
            report.violation(tokens, "is not `required`")
    with report.reading():
        number = hops.whole()
        said = number if number is not None else 1 if defaults else _HOPS
        if said > report.options["hops"]:
            what = f"is {number}" if number is not None else f"is not said, and images of AL2023 make it {_HOPS}"
            report.violation(hops, f"{what}: pods reach it too")


@rule(
    ResourceRule,
    types=NODE_GROUPS,
    id="node-group",
    severity=Severity.MEDIUM,
    what="A node group asks EKS for nothing that it refuses, and for no version that changes by itself.",
    why=(
        "EKS refuses disks, SSH and labels of its own prefixes after minutes, when half of the stack is there, or its "
        "nodes never join. `$Latest` becomes a number, which is a change at every run."
    ),
    fix=(
        "Put disk and SSH into the launch template, name its version by `latestVersion`, and labels by a prefix of "
        "yours."
    ),
    link="https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html",
)
def node_group(group: Field, report: Report) -> None:
    """Judge a node group by itself."""
    with report.reading():
        if group["launchTemplate"].members():
            for place in (group["diskSize"], group["remoteAccess"]):
                if place.value is not None:
                    report.violation(place, "belongs into the launch template where there is one")
            version = group.at("launchTemplate", "version")
            if version.value in ("$Latest", "$Default"):
                report.violation(version, f"{version} is another number afterwards")
    with report.reading():
        # Not at the top: the model behind it would double the time that the pack needs to start.
        from model.aws import pool_rules

        for key, value in group["labels"].members().items():
            if keeper := pool_rules.keeper(key):
                report.violation(value, f"{keeper[1]} keeps labels under {keeper[0]} for itself")


@rule(
    StackRule,
    id="node-group-template",
    severity=Severity.MEDIUM,
    what="A node group and its launch template do not contradict each other.",
    why=(
        "EKS refuses such a pair when half of the stack is there; where neither names an instance type it makes nodes "
        "of `t3.medium` without a word."
    ),
    fix="Say the instance type in one of the two, and leave role, subnets and images of EKS's to the node group.",
    link="https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html",
)
def node_group_template(stack: Stack, report: Report) -> None:
    """Judge each launch template of a node group, where both are made here."""
    for group in stack.of(*NODE_GROUPS):
        with report.reading(group.urn):
            if template := template_of(stack, group):
                for rule_ in (_types, _image, _profile, _interfaces, _market):
                    with report.reading(template.urn):
                        for where, message in rule_(group.inputs, template.inputs):
                            report.violation(where, message, template.urn)


def _types(group: Field, template: Field) -> Iterator[tuple[Field, str]]:
    kind, others = template["instanceType"], group["instanceTypes"].items()
    if kind.text() and others:
        yield kind, "the node group names instance types too"
    elif not (kind.text() or others or template["instanceRequirements"].members()):
        yield kind, "neither it nor the node group names an instance type"


def _image(group: Field, template: Field) -> Iterator[tuple[Field, str]]:
    if template["imageId"].value is not None and group["amiType"].text() not in (None, "CUSTOM"):
        yield template["imageId"], f"the node group takes EKS's image {group['amiType']}"


def _profile(group: Field, template: Field) -> Iterator[tuple[Field, str]]:  # noqa: ARG001 - as its neighbours
    if template["iamInstanceProfile"].members():
        yield template["iamInstanceProfile"], "EKS makes it of the node group's role"


def _interfaces(group: Field, template: Field) -> Iterator[tuple[Field, str]]:  # noqa: ARG001
    interfaces = template["networkInterfaces"].items()
    for each in interfaces:
        if each["subnetId"].value is not None:
            yield each["subnetId"], "EKS takes the subnets of the node group"
    if interfaces and template["vpcSecurityGroupIds"].value is not None:
        yield template["vpcSecurityGroupIds"], "stands beside interfaces that name security groups themselves"


def _market(group: Field, template: Field) -> Iterator[tuple[Field, str]]:
    market, kind = template.at("instanceMarketOptions", "marketType"), group["capacityType"].text()
    block = market.text() == "capacity-block"
    if market.text() is not None and not block:
        yield market, f"is {market}: spot is said in the node group"
    elif block != (kind == "CAPACITY_BLOCK"):
        yield market, f"is {market if block else 'not capacity-block'}, and the node group's capacity is {kind}"


RULES = (instance_metadata, node_group, node_group_template)
