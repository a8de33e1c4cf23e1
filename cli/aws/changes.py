"""What has to be done in an account."""

from collections.abc import Callable
from dataclasses import dataclass

MAKE = "make it"


@dataclass(frozen=True)
class Change:
    """One thing to be done.

    Attributes:
        text: What it is, for a person.
        do: Does it.
    """

    text: str
    do: Callable[[], object]
