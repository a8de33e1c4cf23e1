"""Laws about how machines are had and how long, and what a stack may cost."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from model.dates import moment
from policies.aws.efa import fabrics, placement_group
from policies.aws.machine_types import BLOCK, RESERVED, pool_gpus
from policies.aws.reading import LAUNCH_TEMPLATES, NODE_CLASS, NODE_GROUPS, NODE_POOL, naming, parsed, template_of, told
from policies.fields import UNKNOWN, Field, UnreadableError
from policies.rules import Level, Option, Report, Resource, ResourceRule, Severity, Stack, StackRule, rule

_INSTANCE = "aws:ec2/instance:Instance"
_COSTS = (
    "aws:cloudwatch/logGroup:LogGroup",
    "aws:dynamodb/table:Table",
    "aws:ebs/volume:Volume",
    "aws:ec2/capacityReservation:CapacityReservation",
    "aws:ec2/eip:Eip",
    _INSTANCE,
    *LAUNCH_TEMPLATES,
    "aws:ec2/natGateway:NatGateway",
    "aws:ec2/vpcEndpoint:VpcEndpoint",
    "aws:ecr/repository:Repository",
    "aws:efs/fileSystem:FileSystem",
    "aws:eks/cluster:Cluster",
    *NODE_GROUPS,
    "aws:fsx/lustreFileSystem:LustreFileSystem",
    "aws:fsx/ontapFileSystem:OntapFileSystem",
    "aws:fsx/openZfsFileSystem:OpenZfsFileSystem",
    "aws:kms/key:Key",
    "aws:rds/cluster:Cluster",
    "aws:rds/instance:Instance",
    "aws:s3/bucket:Bucket",
)
"""What AWS bills by itself, and takes tags of."""
_LAUNCHED = ("instance", "volume")
"""What a launch template makes and AWS bills."""


@rule(
    StackRule,
    id="block-capacity",
    severity=Severity.HIGH,
    what=(
        "A group of a capacity block or a reservation takes its machines from there, in one zone, and ends before it "
        "begins."
    ),
    why=(
        "EKS refuses a group of a block that does not name it, or that names its type in the wrong place. A "
        "reservation has no machine to spare: an update that first begins a new node waits for it for ever. Its "
        "machines are where they are: a placement group of the stack's own finds none of them."
    ),
    fix=(
        "Name reservation and `instanceType` in the launch template, one subnet in the group, and "
        "`updateConfig.updateStrategy: MINIMAL`; a placement group only where the reservation was made in it."
    ),
    link="https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html",
)
def block_capacity(stack: Stack, report: Report) -> None:
    """Judge each node group of a block or of a reservation, with its launch template where that is made here."""
    for group in stack.of(*NODE_GROUPS):
        with report.reading(group.urn):
            block = group.inputs["capacityType"].text() == "CAPACITY_BLOCK"
            template = template_of(stack, group)
            reserved = False
            if template is not None:
                target = template.inputs.at("capacityReservationSpecification", "capacityReservationTarget")
                reserved = bool(target.members())
                if block and not reserved:
                    report.violation(target, "names no block", template.urn)
                if block and template.inputs["instanceType"].text() is None:
                    report.violation(template.inputs["instanceType"], "a block wants it here", template.urn)
                if reserved and placement_group(stack, template):
                    place = template.inputs["placement"]
                    report.violation(place, "is a placement group of this stack, beside a reservation", template.urn)
            elif block and not group.inputs["launchTemplate"].members():
                report.violation(group.inputs["launchTemplate"], "is missing, and only it can name a block", group.urn)
            if block or reserved:
                _of_reservation(group, report)


def _of_reservation(group: Resource, report: Report) -> None:
    with report.reading(group.urn):
        subnets = group.inputs["subnetIds"]
        if len(subnets.items()) > 1:
            report.violation(subnets, "are several, and a reservation is in one zone", group.urn)
    with report.reading(group.urn):
        strategy = group.inputs.at("updateConfig", "updateStrategy")
        if strategy.text() != "MINIMAL":
            report.violation(strategy, "is not MINIMAL, and no machine is to spare", group.urn)


@rule(
    StackRule,
    id="block-end",
    severity=Severity.HIGH,
    what="Nobody wants nodes of a capacity block that is over.",
    why=(
        "EC2 ends the machines half an hour before the end that AWS sold, whatever runs on them, and gives none "
        "afterwards: the group fails, and jobs wait for ever."
    ),
    fix="Say `size: 0` (`desiredSize: 0` of a group), or name the next block and its end.",
    link="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html",
    options={"hours": Option(int, 0, "Hours before the end from which on a pool must want none.")},
)
def block_end(stack: Stack, report: Report) -> None:
    """Judge the blocks of the document by the model's rule, and groups of blocks that the stack bought itself."""
    hours = report.options["hours"]
    now, ahead = datetime.now(UTC) + timedelta(hours=hours), f"in {hours} hours: " if hours else ""
    for block in stack.of(BLOCK):
        with report.reading(block.urn):
            if _over(block, now):
                _wanted(stack, block, ahead, report)
    if stack.document is None:
        return
    pools = stack.document["pools"].members().values()
    if not any(each.at("capacity", "ends").value is not None for each in pools):
        return
    # Not at the top: the model behind it would double the time that the pack needs to start.
    from model.aws import blocks

    if stack.environment is not None:
        for problem in blocks.passing(stack.environment, now):
            if problem.severity == "error":
                report.violation(stack.document.at(*map(str, problem.path)), ahead + told(problem))


def _over(block: Resource, now: datetime) -> bool:
    ends = block.properties["endDate"]
    if ends.value is None or ends.value is UNKNOWN:
        return False  # it is bought by this very update
    # Not at the top: the model behind it would double the time that the pack needs to start.
    from model.aws import blocks

    try:
        return now >= moment(ends.text() or "") - blocks.ENDING
    except (OverflowError, TypeError, ValueError):
        raise UnreadableError(ends, "holds no point in time") from None


def _wanted(stack: Stack, block: Resource, ahead: str, report: Report) -> None:
    for template in naming(stack, LAUNCH_TEMPLATES, RESERVED, block):
        for group in naming(stack, NODE_GROUPS, "launchTemplate.id", template):
            with report.reading(group.urn):
                wanted = group.inputs.at("scalingConfig", "desiredSize")
                if wanted.whole():
                    message = f"{ahead}is {wanted}, and its block is over: they cannot be had"
                    report.violation(wanted, message, group.urn)


@rule(
    StackRule,
    id="spot-checkpoints",
    severity=Severity.HIGH,
    what="Gangs run on spot nodes only where checkpoints are kept.",
    why=(
        "Spot nodes go with two minutes' notice, and a gang goes with the first of them: without checkpoints it begins "
        "anew, again and again, and all it did is paid for."
    ),
    fix="Declare `storage.checkpoints`, or take machines on demand or of a reservation.",
    link="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-interruptions.html",
)
def spot_checkpoints(stack: Stack, report: Report) -> None:
    """Judge spot groups with EFA: nothing else needs it."""
    spot = list[tuple[Field, str]]()
    for fabric in fabrics(stack, report):
        with report.reading(fabric.group.urn):
            kind = fabric.group.inputs["capacityType"]
            if kind.text() == "SPOT":
                spot.append((kind, fabric.group.urn))
    if spot and (stack.document is None or not stack.document.at("storage", "checkpoints").members()):
        for kind, urn in spot:
            report.violation(kind, "is SPOT, and nothing says where checkpoints are kept", urn)


@rule(
    ResourceRule,
    types=(NODE_POOL,),
    id="karpenter-limits",
    severity=Severity.HIGH,
    what="A pool of Karpenter ends somewhere.",
    why=(
        "Karpenter buys machines for as long as pods wait: a loop in somebody's script is a thousand of them by "
        "morning."
    ),
    fix="Set `spec.limits`, such as `{nodes: 8}`.",
    link="https://karpenter.sh/docs/concepts/nodepools/#speclimits",
)
def karpenter_limits(pool: Field, report: Report) -> None:
    """Judge whether there is any limit."""
    limits = pool.at("spec", "limits")
    if not limits.members() and not pool.at("spec", "replicas").value:
        report.violation(limits, "is empty")


@rule(
    StackRule,
    id="karpenter-drift",
    severity=Severity.HIGH,
    what="No newer image ends nodes with GPUs under the jobs that run on them.",
    why=(
        "With `@latest` each release of AWS is a drift, and Karpenter replaces every node that has drifted: the gang "
        "goes with the first of them."
    ),
    fix=(
        'Add `{nodes: "0", reasons: [Drifted]}` to the budgets of the pool, or name a release in its class, such as '
        "`al2023@v20261112`."
    ),
    link="https://karpenter.sh/docs/concepts/disruption/#drift",
)
def karpenter_drift(stack: Stack, report: Report) -> None:
    """Judge pools whose requirements name types with GPUs, each with the class that it names."""
    for pool in stack.of(NODE_POOL):
        with report.reading(pool.urn):
            gpus, said = pool_gpus(pool.inputs)
            # Karpenter takes types with GPUs only for pods that ask for them: a pool of any type is no pool of GPUs.
            if not (gpus and said):
                continue
            budgets = pool.inputs.at("spec", "disruption", "budgets")
            name = pool.inputs.at("spec", "template", "spec", "nodeClassRef", "name").text()
            own = next(
                (each for each in stack.of(NODE_CLASS) if each.inputs.at("metadata", "name").value == name), None
            )
            if not any(_holds(each) for each in budgets.items()) and not (own and _pinned(own)):
                report.violation(budgets, "let nodes be replaced that have drifted", pool.urn)


def _holds(budget: Field) -> bool:
    reasons = [each.text() for each in budget["reasons"].items()]
    always = budget["schedule"].value is None
    return always and budget["nodes"].text() in ("0", "0%") and (not reasons or "Drifted" in reasons)


def _pinned(node_class: Resource) -> bool:
    terms = node_class.inputs.at("spec", "amiSelectorTerms").items()
    return bool(terms) and all(
        each["id"].value is not None or not (each["alias"].text() or "@latest").endswith("@latest") for each in terms
    )


@rule(
    StackRule,
    id="cost-tags",
    severity=Severity.LOW,
    level=Level.ADVISORY,
    what="What is billed carries the tags by which bills are told apart.",
    why="Nobody can say afterwards whose machines they were; a tag that is added later does not reach back.",
    fix="Add the tags; a launch template also gives them to its instances and volumes (`tagSpecifications`).",
    link="https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/cost-alloc-tags.html",
    options={"keys": Option(list, (), "Keys of the tags that everything carries; that of the cluster when left out.")},
)
def cost_tags(stack: Stack, report: Report) -> None:
    """Judge the tags of each resource and of its provider, and those that a launch template gives on."""
    # Not at the top: the model around it would add to the time that the pack needs to start.
    from model.aws import CLUSTER_TAG

    wanted = tuple(report.options["keys"] or (CLUSTER_TAG,))
    # The provider itself adds them in an update only, and not where it is rehearsed.
    default = [key for provider in stack.of("pulumi:providers:aws") for key in _default_tags(provider, report)]
    for billed in stack.of(*_COSTS):
        with report.reading(billed.urn):
            _tagged(billed.inputs["tags"], [key for key in wanted if key not in default], billed, report)
        with report.reading(billed.urn):
            _launches(billed, wanted, report)


def _default_tags(provider: Resource, report: Report) -> list[str]:
    with report.reading(provider.urn):
        return list(parsed(provider.inputs["defaultTags"])["tags"].members())
    return []


def _launches(template: Resource, wanted: tuple[str, ...], report: Report) -> None:
    if all(template.inputs[place].value is None for place in ("networkInterfaces", "blockDeviceMappings")):
        return
    specified = template.inputs["tagSpecifications"]
    given = {each["resourceType"].text(): each["tags"] for each in specified.items()}
    for kind in _LAUNCHED:
        with report.reading(template.urn):
            if kind in given:
                _tagged(given[kind], wanted, template, report)
            else:
                report.violation(specified, f"gives {kind}s no tags", template.urn)


def _tagged(tags: Field, wanted: Sequence[str], billed: Resource, report: Report) -> None:
    missing = [key for key in wanted if key not in tags.members()]
    if missing:
        report.violation(tags, f"lacks {', '.join(missing)}", billed.urn)


RULES = (
    block_capacity,
    block_end,
    spot_checkpoints,
    karpenter_limits,
    karpenter_drift,
    cost_tags,
)
