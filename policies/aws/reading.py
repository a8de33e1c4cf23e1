"""What rules about AWS read in more than one place: resources that belong together, texts that hold JSON, flags."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from model import networks
from policies.fields import UNKNOWN, Field, UnreadableError
from policies.rules import Resource, Stack

if TYPE_CHECKING:
    from model.problems import Problem

BUCKETS = ("aws:s3/bucket:Bucket", "aws:s3/bucketV2:BucketV2")
LAUNCH_TEMPLATES = ("aws:ec2/launchTemplate:LaunchTemplate",)
NODE_GROUPS = ("aws:eks/nodeGroup:NodeGroup",)
NODE_POOL = "kubernetes:karpenter.sh/v1:NodePool"
NODE_CLASS = "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass"
STORAGE_CLASS = "kubernetes:storage.k8s.io/v1:StorageClass"
_NAMES = ("id", "arn", "bucket", "name")
"""Properties by which other resources name one."""


def names(resource: Resource, place: str, target: Resource) -> bool:
    """Say whether a resource names another one in a property, by what the engine knows or by what is written there.

    Args:
        resource: The one that names.
        place: Its property, with a dot before each part of it, such as `launchTemplate.id`.
        target: The one that may be named.

    Raises:
        UnreadableError: The property is not known yet, and neither is what it will come from.
    """
    sources = resource.references.get(place.partition(".")[0], ())
    if target.urn in sources:
        return True
    written = resource.inputs.at(*place.split("."))
    if written.value is UNKNOWN and not sources:
        raise UnreadableError(written, "is not known yet")
    return isinstance(written.value, str) and any(written.value == target.properties[name].value for name in _NAMES)


def naming(stack: Stack, types: Iterable[str], place: str, target: Resource) -> list[Resource]:
    """Give the resources of some types that name another one in a property.

    Raises:
        UnreadableError: None does, as far as is known, and one may.
    """
    found, doubt = list[Resource](), list[UnreadableError]()
    for each in stack.of(*types):
        try:
            if names(each, place, target):
                found.append(each)
        except UnreadableError as error:
            doubt.append(error)
    if doubt and not found:
        raise doubt[0]
    return found


def named(stack: Stack, resource: Resource, places: Iterable[str], types: Iterable[str]) -> Resource | None:
    """Give the resource of some types that another one names in one of some properties; None where none is.

    Raises:
        UnreadableError: It is not known which.
    """
    places = tuple(places)
    targets = stack.of(*types)
    return next((each for each in targets if any(names(resource, place, each) for place in places)), None)


def template_of(stack: Stack, group: Resource) -> Resource | None:
    """Give the launch template of a node group, where it is made in the stack."""
    return named(stack, group, ("launchTemplate.id", "launchTemplate.name"), LAUNCH_TEMPLATES)


def kept(stack: Stack) -> bool:
    """Say whether the document wants what holds data or work to outlive a `destroy`; so does a stack without one.

    Raises:
        UnreadableError: It is not known.
    """
    return stack.document is None or stack.document["data"].text() != "delete"


def parsed(field: Field) -> Field:
    """Open a text that holds JSON; a map is taken as it is. What is missing stays missing.

    Raises:
        UnreadableError: It is not known, or no JSON.
    """
    if not isinstance(field.value, str):
        field.members()
        return field
    text = field.text() or ""
    try:
        return Field.of(json.loads(text), field.path, field.secret)
    except (ValueError, RecursionError):
        raise UnreadableError(field, "holds no JSON") from None


def listed(field: Field) -> list[Field]:
    """Give the items of what is one text or map, or a list of them; none where it is missing."""
    if field.value is None:
        return []
    return [field] if isinstance(field.value, (str, dict)) else field.items()


def flag(field: Field) -> bool | None:
    """Read true or false, which some properties of AWS's provider have as text."""
    if isinstance(field.value, str) and field.value in ("true", "false"):
        return field.value == "true"
    return field.boolean()


def wide(field: Field) -> bool:
    """Say whether a network is the whole internet, or a large part of it; none is not.

    Raises:
        UnreadableError: It is not known, or no network.
    """
    text = field.text()
    try:
        return text is not None and networks.wide(text)
    except ValueError:
        raise UnreadableError(field, "holds no network") from None


def told(problem: "Problem") -> str:
    """Give what the model says of a value, with what it allows."""
    allowed = f" (allowed: {problem.allowed})" if problem.allowed else ""
    return f"{problem.value} {problem.message}{allowed}"
