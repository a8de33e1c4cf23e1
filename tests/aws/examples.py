"""What an example of a resource type is; the examples themselves are in `examples_*.py`, as the rows are."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from place import Place
from provider_client import Made

Inputs = Callable[[Place], dict[str, Any]]


@dataclass(frozen=True)
class Example:
    """A resource type in use.

    Attributes:
        inputs: The inputs, all that the row carries between them and the changes.
        change: What becomes of some of them in place; None takes one away.
        replace: What becomes of some of them, so that the resource is replaced.
        replaced: Names of the properties that replace it then, if not all of those of `replace`.
        drift: Changes the resource behind the provider's back.
        drifted: Names of the inputs that this changes.
        mortal: Whether deleting it makes it go away.
    """

    inputs: Inputs
    change: Inputs | None = None
    replace: Inputs | None = None
    replaced: frozenset[str] = frozenset()
    drift: Callable[[Place, Made], object] | None = None
    drifted: frozenset[str] = frozenset()
    mortal: bool = True


def policy(action: str, resource: str = "*", principal: str | None = None) -> str:
    """Give a policy of one statement."""
    statement: dict[str, Any] = {"Effect": "Allow", "Action": action, "Resource": resource}
    if principal:
        statement["Principal"] = {"Service": principal}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def names(text: str) -> frozenset[str]:
    """Give the words of a text."""
    return frozenset(text.split())
