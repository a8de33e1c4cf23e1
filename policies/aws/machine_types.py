"""What rules read of the instance types that a resource may make machines of."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from policies.aws.reading import LAUNCH_TEMPLATES, names
from policies.fields import Field, UnreadableError
from policies.rules import Resource, Stack

BLOCK = "aws:ec2/capacityBlockReservation:CapacityBlockReservation"
RESERVATION = "aws:ec2/capacityReservation:CapacityReservation"
RESERVED = "capacityReservationSpecification.capacityReservationTarget.capacityReservationId"
"""Where a launch template names a reservation."""
_BY_TEMPLATE = (
    # Where resources name launch templates; the engine knows by property what they come from.
    "launchTemplate.id",
    "launchTemplate.name",
    "mixedInstancesPolicy",
    "launchTemplateConfigs",
    "launchConfiguration",
)
_TEMPLATES = (*LAUNCH_TEMPLATES, "aws:ec2/launchConfiguration:LaunchConfiguration")
_NAMED = frozenset({"instanceType", "instanceTypes"})
_ANY = "instanceRequirements"
_OTHERS = frozenset({"labels", "tags", "tagSpecifications"})
"""Maps in which people name things as they like."""


def requirements(pool: Field) -> list[tuple[Field, str | None, Field]]:
    """Give the requirements of a NodePool: each, what it says of instance types, and its values."""
    # Not at the top: the pack starts without what few stacks need.
    from model.aws.karpenter_types import Requirement

    found = pool.at("spec", "template", "spec", "requirements").items()
    return [(each, Requirement(each["key"].text() or "", "", ()).aspect, each["values"]) for each in found]


def pool_gpus(pool: Field) -> tuple[int, bool]:
    """Give the most GPUs of a node of a NodePool, and whether its requirements say anything of instance types.

    Raises:
        UnreadableError: It is not known, or the catalogue does not know the type.
    """
    # Not at the top: the pack starts without what few stacks need.
    from model.aws.karpenter_types import Requirement, fitting

    found = list[Requirement]()
    for each, aspect, values in requirements(pool):
        if aspect is None:
            continue
        operator = each["operator"].text() or ""
        if operator == "In" and aspect in ("type", "family"):
            for value in values.items():
                _known(value)
        texts = tuple(value.text() or "" for value in values.items())
        found.append(Requirement(each["key"].text() or "", operator, texts))
    return max((each.gpus for each in fitting(found)), default=0), bool(found)


def machine_gpus(stack: Stack, resource: Resource) -> int:
    """Give the most GPUs of a machine of a resource: by the types that it names, else by its launch templates.

    Raises:
        UnreadableError: It is not known, the catalogue does not know the type, or a template is made elsewhere.
    """
    own = list(_types(resource.inputs))
    if any(each.value is not None for each in own):
        return max(map(gpus, own))
    templates = [
        template
        for template in stack.of(*_TEMPLATES)
        if any(names(resource, place, template) for place in _BY_TEMPLATE if _given(resource.inputs, place))
    ]
    elsewhere = next((place for place in _BY_TEMPLATE if _given(resource.inputs, place)), None)
    if not templates and elsewhere:
        raise UnreadableError(resource.inputs[elsewhere.partition(".")[0]], "is made elsewhere, of an unknown type")
    return max((gpus(each) for template in templates for each in _types(template.inputs)), default=0)


def _given(inputs: Field, place: str) -> bool:
    first, _, rest = place.partition(".")
    return inputs[first].value is not None and (not rest or inputs.at(first, rest).value is not None)


def _types(field: Field) -> Iterator[Field]:
    """The fields that name types, however deep, and those that leave the choice to AWS."""
    if isinstance(field.value, list):
        for item in field.items():
            yield from _types(item)
    elif isinstance(field.value, dict):
        for key, member in field.members().items():
            if key == _ANY:
                yield member
            elif key in _NAMED:
                yield from member.items() if isinstance(member.value, list) else [member]
            elif key not in _OTHERS:
                yield from _types(member)


def gpus(kind: Field) -> int:
    """Give the GPUs of an instance type, or the most of those that requirements leave to AWS.

    Raises:
        UnreadableError: It is not known, or the catalogue does not know the type.
    """
    # Not at the top: the pack starts without what few stacks need.
    from catalog import reader as catalog

    if isinstance(kind.value, dict):
        return _chosen(kind)
    _known(kind)
    known = catalog.instances().get(kind.text() or "")
    return known.gpus if known else 0


def _chosen(requirement: Field) -> int:
    """Among all types that meet what is written AWS takes which it likes, those with GPUs included."""
    # Not at the top: the pack starts without what few stacks need.
    from catalog import reader as catalog

    patterns = [each.text() or "" for each in requirement["allowedInstanceTypes"].items()]
    limit = requirement.at("acceleratorCount", "max").whole()
    found = [
        each.gpus
        for each in catalog.instances().values()
        if not patterns or any(fnmatchcase(each.name, pattern) for pattern in patterns)
    ]
    most = max(found, default=0)
    return most if limit is None else min(limit, most)


def _known(kind: Field) -> None:
    """Refuse a type, or a family of types, with GPUs that the catalogue does not know."""
    # Not at the top: the pack starts without what few stacks need.
    from catalog import reader as catalog

    name = kind.text() or ""
    known = name in catalog.instances() or any(each.startswith(f"{name}.") for each in catalog.instances())
    if name[:1] in ("g", "p") and not known:
        raise UnreadableError(kind, f"is {kind}, whose GPUs the catalogue does not know")
