"""When an exemption from a rule counts, and for what. Knows neither the document's shapes nor the pack's rules."""

from datetime import date
from fnmatch import fnmatchcase

STACK = "pulumi:pulumi:Stack"
"""Type of the resource that stands for a whole stack."""


def subject(urn: str) -> str:
    """What the pattern of an exemption is held against: `<type>::<name>` of a resource.

    In a URN the type follows those of all parents, each with a `$` behind it (pulumi, sdk/go/common/resource/urn).
    """
    *_, types, name = urn.rsplit("::", 2)
    return f"{types.rpartition('$')[2]}::{name}"


def covers(pattern: str, urn: str) -> bool:
    """Whether a pattern (`*`, `?`, `[…]`, in which upper and lower case differ) means a resource."""
    return fnmatchcase(subject(urn), pattern)


def over(expires: date, today: date) -> bool:
    """Whether an exemption has ended: it counts through the day that it names, in UTC."""
    return today > expires
