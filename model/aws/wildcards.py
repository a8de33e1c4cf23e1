"""Wildcards in IAM policies: each one that is there has its reason here, and no other is let through."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_READS = ("BatchGet", "Describe", "Get", "List")
_NO_RESOURCES = "reads that AWS knows no single resources for"
_IDS = "ids are not known before; the condition keeps to what the cluster's own parts made and tagged"
_THE_KEY = (
    "in the policy of a key it stands for that key "
    "(https://docs.aws.amazon.com/kms/latest/developerguide/key-policy-overview.html)"
)
_PUBLIC = "images and their snapshots are Amazon's, under ids that change with each release"

EXCEPTIONS: Mapping[str, str] = {
    "CniRead": _NO_RESOURCES,
    "CniTag": "interfaces that came with an instance have no tag yet by which they could be told apart",
    "CniCreate": _IDS,
    "CniCreateWithin": "the condition keeps to the cluster's own VPC",
    "CniChange": _IDS,
    "CniAttach": _IDS,
    "CniGroups": "an interface of the cluster gets the groups of its node; interfaces are limited by CniChange",
    "EbsRead": _NO_RESOURCES,
    "EbsCreate": _IDS,
    "EbsFrom": _IDS,
    "EbsTag": "the condition keeps to what is made in the same call",
    "EbsChange": _IDS,
    "EbsAttachTo": _IDS,
    "EbsAttach": "volumes that people made and gave to a claim carry no tag; instances are limited by EbsAttachTo",
    "AutoscalerRead": _NO_RESOURCES,
    "AutoscalerReadInstances": _NO_RESOURCES,
    "AutoscalerReadGroups": "names of node groups end in what EKS invents; it is a read within the cluster",
    "AutoscalerSize": _IDS,
    "KarpenterLaunchFrom": f"{_PUBLIC}; a reservation is found by what the pool names",
    "KarpenterLaunchBy": _IDS,
    "KarpenterLaunch": _IDS,
    "KarpenterTagNew": "the condition keeps to what is made in the same call, with the cluster's tags",
    "KarpenterTag": _IDS,
    "KarpenterDelete": _IDS,
    "KarpenterImages": "public parameters that tell which image is the newest; they hold no secret",
    "KarpenterRead": _NO_RESOURCES,
    "KarpenterPrices": _NO_RESOURCES,
    "KarpenterProfiles": _NO_RESOURCES,
    "ImageImport": "repositories get their names from images, below prefixes of the cluster's own",
    "ArchiveObjects": "objects get their names from jobs, below the prefix of their namespace",
    "KeyAccount": _THE_KEY,
    "KeyLinks": f"{_THE_KEY}; AWS makes the role of a link with it, under a name that the conditions keep to",
    "FilesByMountTarget": "whoever reaches its mount targets; their security group lets nobody but nodes there",
}
"""Why a statement may hold wildcards, by its Sid."""

UNCONDITIONED = (
    "CniTag",
    "CniGroups",
    "EbsAttach",
    "ImageImport",
    "KarpenterLaunchFrom",
    "ArchiveObjects",
    "KeyAccount",
)
"""Those of them that change something without a condition, for the reason that stands above."""


@dataclass(frozen=True)
class Wildcard:
    """A wildcard that nobody gave a reason for, or whose reason does not hold.

    Attributes:
        sid: Sid of the statement; empty where it has none.
        text: The action, resource or principal.
        fault: What is wrong.
    """

    sid: str
    text: str
    fault: str


def unreasoned(
    policy: Mapping[str, Any],
    exceptions: Mapping[str, str] = EXCEPTIONS,
    unconditioned: Iterable[str] = UNCONDITIONED,
) -> Iterator[Wildcard]:
    """The wildcards of a policy that have no business there.

    Where something is denied they are welcome. In an allowed action there is none, ever. In a resource each needs an
    exception; and if more is allowed than reading, a condition too, or a mention under `unconditioned`. For everybody
    as the principal both are needed, an exception and a condition.

    Args:
        policy: The policy, as parsed from its JSON.
        exceptions: Reasons by Sid.
        unconditioned: Sids of statements that need no condition.
    """
    free = tuple(unconditioned)
    for statement in _listed(policy["Statement"]):
        if statement["Effect"] == "Allow":
            yield from _who_and_what(statement, exceptions)
            yield from _resources(statement, exceptions, free)


def _who_and_what(statement: Mapping[str, Any], exceptions: Mapping[str, str]) -> Iterator[Wildcard]:
    sid = statement.get("Sid", "")
    for name in ("NotAction", "NotResource", "NotPrincipal"):
        if name in statement:
            yield Wildcard(sid, name, "allows all but what it names")
    reasoned = sid in exceptions and statement.get("Condition")
    if not reasoned and any("*" in each for each in _principals(statement.get("Principal", {}))):
        yield Wildcard(sid, "*", "anybody may do it")
    for action in filter(_wild, _listed(statement.get("Action", ()))):
        yield Wildcard(sid, action, "no wildcard is allowed in an action")


def _resources(
    statement: Mapping[str, Any], exceptions: Mapping[str, str], unconditioned: tuple[str, ...]
) -> Iterator[Wildcard]:
    sid = statement.get("Sid", "")
    actions = _listed(statement.get("Action", ()))
    writes = any(not action.partition(":")[2].startswith(_READS) for action in actions)
    for resource in filter(_wild, _listed(statement.get("Resource", ()))):
        if sid not in exceptions:
            yield Wildcard(sid, resource, "has no reason in model/aws/wildcards.py")
        elif writes and not statement.get("Condition") and sid not in unconditioned:
            yield Wildcard(sid, resource, "changes things without a condition")


def _listed(value: Any) -> list[Any]:
    return [value] if isinstance(value, (str, Mapping)) else list(value)


def _principals(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [each for entry in value.values() for each in _listed(entry)]


def _wild(text: str) -> bool:
    return "*" in text or "?" in text
