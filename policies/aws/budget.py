"""Laws about which machines a stack may have, and how many GPUs."""

from policies.aws.machine_types import BLOCK, RESERVATION, RESERVED, gpus, machine_gpus, pool_gpus, requirements
from policies.aws.reading import LAUNCH_TEMPLATES, NODE_GROUPS, NODE_POOL, names, template_of
from policies.fields import Field, UnreadableError
from policies.rules import Option, Report, Resource, ResourceRule, Severity, Stack, StackRule, rule

_GPU = "nvidia.com/gpu"
_SINGLE = ("aws:ec2/instance:Instance", "aws:ec2/spotInstanceRequest:SpotInstanceRequest")
_RESERVATIONS = (RESERVATION, BLOCK)
_SETS = {
    # How many machines they have at most.
    **dict.fromkeys(NODE_GROUPS, ("scalingConfig", "maxSize")),
    "aws:autoscaling/group:Group": ("maxSize",),
    "aws:ec2/fleet:Fleet": ("targetCapacitySpecification", "totalTargetCapacity"),
    "aws:ec2/spotFleetRequest:SpotFleetRequest": ("targetCapacity",),
}


@rule(
    ResourceRule,
    types=(*NODE_GROUPS, *LAUNCH_TEMPLATES, *_SINGLE, RESERVATION, NODE_POOL),
    id="instance-types",
    severity=Severity.MEDIUM,
    what="Machines are of the types that were approved.",
    why="One word in a pull request makes a machine with eight GPUs out of one with none.",
    fix=(
        "Take an approved type, or have another one approved: option `allowed`. A NodePool says by `In` which types or "
        "families it takes."
    ),
    link="https://aws.amazon.com/ec2/pricing/on-demand/",
    options={"allowed": Option(list, (), "Approved types, such as `m7i.*`; all of them when none is named.")},
)
def instance_types(machine: Field, report: Report) -> None:
    """Judge the types that a machine may be of."""
    if not report.options["allowed"]:
        return
    with report.reading():
        for each in [machine["instanceType"], *machine["instanceTypes"].items()]:
            with report.reading():
                _approved(each, each.text(), report)
    with report.reading():
        if machine["instanceRequirements"].members():
            report.violation(machine["instanceRequirements"], "leaves the type to AWS")
    with report.reading():
        if machine.at("spec", "template").members():
            _pool(machine, report)


def _approved(where: Field, name: str | None, report: Report) -> None:
    if name and not report.listed("allowed", name):
        report.violation(where, f"{where} was not approved")


def _pool(pool: Field, report: Report) -> None:
    named = {aspect: values for each, aspect, values in requirements(pool) if each["operator"].text() == "In"}
    sizes = [each.text() or "" for each in named["size"].items()] if "size" in named else ["*"]
    # The narrowest of these says it: a type, else a family, else all types that begin with a letter.
    if "type" in named:
        for each in named["type"].items():
            with report.reading():
                _approved(each, each.text(), report)
    elif "family" in named:
        for each in named["family"].items():
            with report.reading():
                name = each.text() or ""
                if not all(report.listed("allowed", f"{name}.{size}") for size in sizes):
                    report.violation(each, f"{each} was not approved, or not in all sizes")
    elif "category" in named:
        for each in named["category"].items():
            with report.reading():
                _approved(each, f"{each.text()}*", report)
    else:
        report.violation(pool.at("spec", "template", "spec", "requirements"), "leave the type to Karpenter")


@rule(
    StackRule,
    id="gpu-budget",
    severity=Severity.HIGH,
    what="A stack has no more GPUs than were approved, at its largest.",
    why="A range that was meant for one day, or two pull requests that each grow a pool, is seen on the bill.",
    fix=(
        "Lower the most nodes of a pool, or have more approved: option `gpus`. A NodePool that says nothing of types "
        "may have any of them: name its types or families, or limit `nvidia.com/gpu`."
    ),
    link="https://aws.amazon.com/ec2/capacityblocks/pricing/",
    options={"gpus": Option(int, None, "The most GPUs of all machines that the stack makes; no limit when left out.")},
)
def gpu_budget(stack: Stack, report: Report) -> None:
    """Count the GPUs of instances and reservations, of groups and fleets at their largest, of pools at their limit."""
    budget = report.options["gpus"]
    if budget is None:
        return
    counted = dict[str, int]()
    for resource in stack.of(*_SINGLE, *_SETS, NODE_POOL, *_RESERVATIONS):
        with report.reading(resource.urn):
            most = _most(stack, resource)
            if most is None:
                report.violation("spec.limits", "has no limit of nodes or GPUs", resource.urn)
            elif most:
                counted[resource.urn.rpartition("::")[2]] = most
    total = sum(counted.values())
    if total > budget:
        parts = ", ".join(f"{name} {gpus}" for name, gpus in sorted(counted.items()))
        report.violation("gpus", f"{total} at most, and {budget} were approved: {parts}")


def _most(stack: Stack, resource: Resource) -> int | None:
    """The most GPUs that a resource may have; None where nothing ends them."""
    machine = resource.inputs
    if resource.type == NODE_POOL:
        each, _ = pool_gpus(machine)
        limits = machine.at("spec", "limits")
        limit, nodes = limits[_GPU].whole(), limits["nodes"].whole()
        if limit is not None or not each:
            return limit if each else 0
        return None if nodes is None else nodes * each
    if resource.type in _RESERVATIONS:
        # What a block is of only its offer knows, until it is bought.
        for place in ("instanceType", "instanceCount"):
            if resource.properties[place].value is None:
                raise UnreadableError(resource.properties[place], "is not known yet")
        return gpus(resource.properties["instanceType"]) * (resource.properties["instanceCount"].whole() or 0)
    if _paid_for(stack, resource):
        return 0
    path = _SETS.get(resource.type)
    return machine_gpus(stack, resource) * (1 if path is None else machine.at(*path).whole() or 0)


def _paid_for(stack: Stack, group: Resource) -> bool:
    """Whether its machines are those of a reservation of the stack, which are counted there."""
    if group.type not in NODE_GROUPS or not (reservations := stack.of(*_RESERVATIONS)):
        return False
    template = template_of(stack, group)
    return template is not None and any(names(template, RESERVED, each) for each in reservations)


RULES = (instance_types, gpu_budget)
