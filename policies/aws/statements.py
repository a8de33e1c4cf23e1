"""IAM policies as rules read them: statements, wherever a resource has them, in one shape."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from policies.aws.reading import listed, parsed
from policies.fields import Field
from policies.rules import Report

POLICIES = (
    "aws:iam/policy:Policy",
    "aws:iam/rolePolicy:RolePolicy",
    "aws:iam/groupPolicy:GroupPolicy",
    "aws:iam/userPolicy:UserPolicy",
    "aws:iam/role:Role",
)
"""What says what somebody may do."""


@dataclass(frozen=True)
class Statement:
    """A statement that allows something.

    Attributes:
        field: Where it is.
        actions: What it allows; with `NotAction` everything.
        resources: On what; with `NotResource` on everything.
        keys: The keys of its conditions, in lower case, as IAM compares them.
        plain: It as `model.aws.wildcards` reads it.
    """

    field: Field
    actions: tuple[str, ...]
    resources: tuple[str, ...]
    keys: frozenset[str]
    plain: dict[str, Any]

    def allows(self, actions: Iterable[str]) -> list[str]:
        """Give those of some actions that it allows, wildcards included."""
        return [each for each in actions if any(_matches(pattern, each) for pattern in self.actions)]

    @property
    def anywhere(self) -> bool:
        """Whether a resource of it is a wildcard from end to end, or all of a service."""
        return any(re.fullmatch(r"\*|arn:[^:]*:[^:]*:[^:]*:[^:]*:([^/:]*[/:])?\*+", each) for each in self.resources)


def documents(properties: Field) -> list[Field]:
    """Give the policies of a resource that says what somebody may do."""
    return [properties["policy"], *(each["policy"] for each in properties["inlinePolicies"].items())]


def allowed(policy: Field, report: Report) -> Iterator[Statement]:
    """Give the statements of a policy that allow something; one that cannot be read is noted."""
    with report.reading():
        for field in listed(parsed(policy)["Statement"]):
            statement = None
            with report.reading():
                if field["Effect"].text() == "Allow":
                    statement = _statement(field)
            if statement is not None:
                yield statement


def _statement(field: Field) -> Statement:
    actions, resources = _texts(field["Action"]), _texts(field["Resource"])
    conditions = field["Condition"].members()
    keys = [key.lower() for each in conditions.values() for key in each.members()]
    plain: dict[str, Any] = {
        "Sid": field["Sid"].text() or "",
        "Effect": "Allow",
        "Action": list(actions),
        "Resource": list(resources),
    }
    plain |= {"Condition": dict.fromkeys(keys)} if keys else {}
    plain |= {name: "*" for name in ("NotAction", "NotResource", "NotPrincipal") if field[name].value is not None}
    return Statement(
        field,
        ("*",) if "NotAction" in plain else actions,
        ("*",) if "NotResource" in plain else resources,
        frozenset(keys),
        plain,
    )


def _texts(field: Field) -> tuple[str, ...]:
    return tuple(each.text() or "" for each in listed(field))


def _matches(pattern: str, action: str) -> bool:
    parts = [{"*": ".*", "?": "."}.get(part, re.escape(part)) for part in re.split(r"([*?])", pattern)]
    return re.fullmatch("".join(parts), action, re.IGNORECASE) is not None
