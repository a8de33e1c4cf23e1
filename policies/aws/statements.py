"""IAM policies as rules read them: statements, wherever a resource has them, in one shape."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from policies.aws.reading import listed, parsed
from policies.fields import UNKNOWN, Field
from policies.rules import Report

POLICIES = (
    "aws:iam/policy:Policy",
    "aws:iam/rolePolicy:RolePolicy",
    "aws:iam/groupPolicy:GroupPolicy",
    "aws:iam/userPolicy:UserPolicy",
    "aws:iam/role:Role",
    "aws:ssoadmin/permissionSetInlinePolicy:PermissionSetInlinePolicy",
)
"""What says what somebody may do."""


@dataclass(frozen=True)
class Statement:
    """A statement that allows something.

    Attributes:
        field: Where it is.
        actions: What it allows; with `NotAction` everything.
        resources: On what; with `NotResource` on everything.
        plain: It as the model reads it. A value of a condition that is not known yet is taken for one that names
            something.
    """

    field: Field
    actions: tuple[str, ...]
    resources: tuple[str, ...]
    plain: dict[str, Any]

    def allows(self, actions: Iterable[str]) -> list[str]:
        """Give those of some actions that it allows, wildcards included."""
        return [each for each in actions if any(_matches(pattern, each) for pattern in self.actions)]

    @property
    def condition(self) -> dict[str, Any]:
        """Its condition, plain."""
        return self.plain.get("Condition", {})


def documents(properties: Field) -> list[Field]:
    """Give the policies of a resource that says what somebody may do."""
    return [
        properties["policy"],
        properties["inlinePolicy"],
        *(each["policy"] for each in properties["inlinePolicies"].items()),
    ]


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
    plain: dict[str, Any] = {"Effect": "Allow", "Action": list(actions), "Resource": list(resources)}
    if condition := field["Condition"].members():
        plain["Condition"] = {
            test: {key: _values(values) for key, values in keys.members().items()} for test, keys in condition.items()
        }
    plain |= {name: "*" for name in ("NotAction", "NotResource", "NotPrincipal") if field[name].value is not None}
    return Statement(
        field,
        ("*",) if "NotAction" in plain else actions,
        ("*",) if "NotResource" in plain else resources,
        plain,
    )


def _values(field: Field) -> list[str]:
    values = field.items() if isinstance(field.value, list) else [field]
    return ["unknown" if each.value is UNKNOWN else str(each.value) for each in values]


def _texts(field: Field) -> tuple[str, ...]:
    return tuple(each.text() or "" for each in listed(field))


def _matches(pattern: str, action: str) -> bool:
    parts = [{"*": ".*", "?": "."}.get(part, re.escape(part)) for part in re.split(r"([*?])", pattern)]
    return re.fullmatch("".join(parts), action, re.IGNORECASE) is not None
