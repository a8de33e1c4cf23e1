"""What an environment sets about the policy pack: levels and options of its rules, and exemptions from them.

The rules themselves are not known here. The pack tells which names it does not know.
"""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from . import exemptions, names
from .base import Declared, Listed
from .days import Day
from .problems import NOTHING, Path, Problem, answered, lost

if TYPE_CHECKING:
    from .environment import Environment

_USUAL = "deny"
NEAR = timedelta(days=14)
"""How long before an exemption ends a preview says so."""


class Exemption(Declared):
    """A rule that may be broken in one place for a time, and who answers for it."""

    rule: str
    """Id of the rule (docs/reference/policies.md)."""
    resource: str
    """Pattern of the resources, held against `<type>::<name>` as at the end of a URN, such as
    `kubernetes:apps/v1:Deployment::debug-*`. What concerns a whole stack is at
    `pulumi:pulumi:Stack::<project>-<stack>`."""
    reason: str
    """Why it is right here."""
    owner: str
    """Who answers for it."""
    expires: Day
    """The last day on which it counts (UTC)."""


class Policies(Declared):
    """How the rules of the policy pack are held here."""

    levels: dict[str, Literal["mandatory", "advisory", "disabled"]] = Field(default_factory=dict)
    """By rule: whether it stops an update, is only shown, or is not asked."""
    options: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """By rule: values of its options (docs/reference/policies.md)."""
    exemptions: Listed[Exemption] = ()
    """Rules that may be broken in one place for a time."""
    system_namespaces: Listed[str] = ()
    """Namespaces of the platform beside Kubernetes' own (`kube-…`) and those of this project: agents of nodes, storage,
    networks and monitoring live there. Rules about what workloads may do to nodes leave them alone."""
    admission: Literal["deny", "warn", "none"] = _USUAL
    """What the API server does in the namespaces of teams with workloads that break a law of docs/guides/admission.md,
    whoever submits them: it refuses them, makes them with a warning, or does not look."""


_EXEMPTIONS = ("policies", "exemptions")


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with exemptions and namespaces by themselves."""
    seen: dict[tuple[str, str], int] = {}
    for index, exemption in _readable(env):
        at = (*_EXEMPTIONS, index)
        for key in ("rule", "reason", "owner"):
            yield from answered(_said, (*at, key), getattr(exemption, key))
        yield from answered(_pattern, (*at, "resource"), exemption.resource)
        yield from answered(_once, index, exemption, seen)
    for index, name in enumerate(env.policies.system_namespaces):
        if not lost(name):
            yield from _namespace(("policies", "systemNamespaces", index), name)


def passing(env: "Environment", now: datetime) -> Iterator[Problem]:
    """Exemptions that have ended or soon will. The pack says so too, and stops."""
    for index, exemption in _readable(env):
        yield from answered(_passing, (*_EXEMPTIONS, index, "expires"), exemption, now)


def settings(env: "Environment") -> Iterator[tuple[str, str]]:
    """What the document sets about the rules, for people: what it is about, and its value."""
    it = env.policies
    yield from ((f"level of {rule}", level) for rule, level in it.levels.items())
    for rule, values in it.options.items():
        yield from ((f"{name} of {rule}", json.dumps(value)) for name, value in values.items())
    for each in it.exemptions:
        yield f"exemption from {each.rule} at {each.resource}", f"{each.owner} until {each.expires}: {each.reason}"
    yield from ((f"namespace {name}", "the platform's") for name in it.system_namespaces)
    if it.admission != _USUAL:
        yield "laws at the API server", it.admission


def _readable(env: "Environment") -> Iterator[tuple[int, Exemption]]:
    return ((index, it) for index, it in enumerate(env.policies.exemptions) if not lost(it))


def _namespace(at: Path, name: str) -> Iterator[Problem]:
    if fault := names.DNS_LABEL.fault(name):
        yield Problem(at, name, fault, names.DNS_LABEL.allowed, spoils=NOTHING)
    elif name == "default":
        message = "is where everything goes that names no namespace"
        yield Problem(at, name, message, "a namespace of the platform's own", spoils=NOTHING)


def _said(at: Path, text: str) -> Iterator[Problem]:
    if not text.strip():
        yield Problem(at, text, "says nothing", spoils=NOTHING)


def _pattern(at: Path, pattern: str) -> Iterator[Problem]:
    if "::" not in pattern:
        message = "is no resource: its type and its name are needed"
        fix = f"'*::{pattern}'" if pattern.strip("*?") else None
        yield Problem(at, pattern, message, "<type>::<name>, with * for any text", fix, spoils=NOTHING)
    elif not pattern.replace("::", "").strip("*?"):
        message = "is every resource: then the rule holds nowhere"
        fix = "name the resources, or set the rule's level"
        yield Problem(at, pattern, message, fix=fix, severity="warning", spoils=NOTHING)


def _once(index: int, exemption: Exemption, seen: dict[tuple[str, str], int]) -> Iterator[Problem]:
    first = seen.setdefault((exemption.rule, exemption.resource), index)
    if first != index:
        said = f"{exemption.rule} for {exemption.resource}"
        message = f"is there already, at exemptions[{first}]: which of the two counts is unclear"
        yield Problem((*_EXEMPTIONS, index), said, message, fix="keep one of them", spoils=NOTHING)


def _passing(at: Path, exemption: Exemption, now: datetime) -> Iterator[Problem]:
    expires, today = exemption.expires, now.date()
    what = f"the exemption of {exemption.resource} from {exemption.rule}"
    if exemptions.over(expires, today):
        message = f"{what} is over, and the policy pack stops an update until it is taken out or decided anew"
    elif expires - today <= NEAR:
        message = f"{what} ends soon: after {expires} the policy pack stops updates"
    else:
        return
    fix = f"mend it or decide anew with {exemption.owner}"
    yield Problem(at, str(expires), message, fix=fix, severity="warning")
