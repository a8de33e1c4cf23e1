"""How far a statement of an IAM policy reaches: further than its author can know, or not.

Held to by whoever writes policies in a stack. What this project makes itself is held to more: `model.aws.wildcards`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from . import conditions

_LOOKS = ("describe", "list")
"""Verbs by which somebody learns what there is. Most of these actions take no resource but `*`."""
_READS = (*_LOOKS, "batchget", "get")
_NO_RESOURCES = frozenset(
    {
        "cloudwatch:getmetricdata",
        "cloudwatch:getmetricstatistics",
        "cloudwatch:putmetricdata",
        "ec2:getinstancetypesfrominstancerequirements",
        "ecr:getauthorizationtoken",
        "pricing:getattributevalues",
        "pricing:getproducts",
        "sts:getcalleridentity",
        "tag:getresources",
        "xray:putsegments",
        "xray:puttelemetryrecords",
        "xray:puttracesegments",
    }
)
"""Other actions that take no resource but `*`
(https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html)."""
_OF_ANY: Mapping[str, frozenset[str]] = {
    "ec2:attachvolume": frozenset({"volume"}),
    "ec2:createfleet": frozenset({"capacity-reservation", "image", "snapshot"}),
    "ec2:createtags": frozenset({"network-interface"}),
    "ec2:detachvolume": frozenset({"volume"}),
    "ec2:modifynetworkinterfaceattribute": frozenset({"security-group"}),
    "ec2:runinstances": frozenset({"capacity-reservation", "image", "snapshot"}),
}
"""What drivers and Karpenter do with things whose ids nobody knows before, and which carry no tag of theirs. What they
do it to, an instance or an interface, is limited by another statement (`model.aws.wildcards` has the reasons)."""
_KIND = re.compile(r"autoscalinggroup:\*:autoscalinggroupname/|([a-z-]+)[/:]", re.IGNORECASE)
"""How the last part of an ARN begins before the name. Buckets, queues and topics have nothing but a name."""
_NAMES_ONLY = frozenset({"s3", "sqs", "sns"})
_WITH_IDS = frozenset({"ec2", "elasticfilesystem", "fsx"})
_ANY_ID = re.compile(r"[a-z]+-[*?]+")
"""What ids begin with, such as `vol-`, is no name: all of their kind begin so."""


def excess(statement: Mapping[str, Any], anywhere: Iterable[str] = ()) -> Iterator[tuple[str, str]]:
    """Give what a statement allows without naming it, and what is wrong with that.

    An action that reads may have a wildcard behind its verb. A resource may have one behind a name: all of a bucket,
    all queues of a prefix. Where it has no name, the actions must be of those that only look, or take no resources, or
    a condition must say which things are meant.

    Args:
        statement: One that allows something, as parsed from its JSON.
        anywhere: Patterns of actions that may be allowed on anything, such as `elasticloadbalancing:*`.
    """
    for name in ("NotAction", "NotResource", "NotPrincipal"):
        if name in statement:
            yield name, "allows all but what it names"
    patterns = [each.lower() for each in anywhere]
    actions = [
        action
        for action in _listed(statement.get("Action", ()))
        if not any(fnmatchcase(action.lower(), pattern) for pattern in patterns)
    ]
    for action in actions:
        if _wild(action) and not _verb(action, _READS):
            yield action, "allows actions that nobody named"
    if conditions.names_things(statement.get("Condition", {})):
        return
    named = [each for each in actions if not _wild(each) or _verb(each, _READS)]
    for resource in _listed(statement.get("Resource", ())):
        if not names_something(resource) and (far := [each for each in named if not _anywhere(each, resource)]):
            more = f" and {len(far) - 1} more" if len(far) > 1 else ""
            yield f"{far[0]}{more} on {resource}", "names no resource"


def names_something(resource: str) -> bool:
    """Whether a resource of a policy has a name, or the beginning of one, before its first wildcard.

    Args:
        resource: An ARN, or a pattern of ARNs.
    """
    parts = resource.split(":", 5)
    if len(parts) < 6 or _wild(parts[2]):
        return not _wild(resource)
    last = parts[5].lstrip("/")
    kind = None if parts[2] in _NAMES_ONLY else _KIND.match(last)
    name = last[kind.end() :] if kind else last
    if parts[2] in _WITH_IDS and _ANY_ID.fullmatch(name):
        return False
    return re.match(r"[/:]*[^/:*?]", name) is not None


def _anywhere(action: str, resource: str) -> bool:
    if _verb(action, _LOOKS) or action.lower() in _NO_RESOURCES:
        return True
    kind = resource.split(":", 5)[-1].partition("/")[0]
    return kind in _OF_ANY.get(action.lower(), ())


def _verb(action: str, verbs: tuple[str, ...]) -> bool:
    service, _, name = action.lower().partition(":")
    return not _wild(service) and name.startswith(verbs)


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _wild(text: str) -> bool:
    return "*" in text or "?" in text
