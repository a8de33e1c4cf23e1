"""Lengths of time as documents write them: `30s`, `15m`, `2h`, `30d`."""

import re
from dataclasses import dataclass
from functools import total_ordering
from itertools import pairwise
from typing import Any, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import PydanticCustomError, core_schema

_UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_GRAMMAR = re.compile(r"([1-9][0-9]{0,6})([smhd])")
EXAMPLES = "a length of time such as 30s, 15m, 2h or 30d"


@total_ordering
@dataclass(frozen=True, eq=False)
class Duration:
    """A length of time: whole seconds, and the text that was written. Two are equal when their seconds are."""

    seconds: int
    text: str

    @classmethod
    def parse(cls, written: str) -> Self:
        """Read one.

        Raises:
            ValueError: The text is none.
        """
        match = _GRAMMAR.fullmatch(written)
        if match is None:
            raise ValueError(f"{written!r} is not {EXAMPLES}")
        return cls(int(match[1]) * _UNITS[match[2]], written)

    @property
    def days(self) -> int:
        """Whole days."""
        return self.seconds // _UNITS["d"]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Duration) and self.seconds == other.seconds

    def __lt__(self, other: "Duration") -> bool:
        return self.seconds < other.seconds

    def __hash__(self) -> int:
        return hash(self.seconds)

    def __str__(self) -> str:
        return self.text

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(
            _read, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"type": "string", "pattern": f"^{_GRAMMAR.pattern}$", "description": f"{EXAMPLES.capitalize()}."}


def _read(written: Any) -> Duration:
    if isinstance(written, Duration):
        return written
    if isinstance(written, str) and _GRAMMAR.fullmatch(written):
        return Duration.parse(written)
    text = str(written).strip().lower().replace(" ", "")
    plain = re.sub(r"(?<=[0-9])(sec|min|hour|day)[a-z]*$", lambda unit: unit[1][0], text)
    context = {
        "reason": "is no length of time",
        "allowed": EXAMPLES,
        "fix": plain if _GRAMMAR.fullmatch(plain) else None,
    }
    raise PydanticCustomError("rule", "{reason}", context)


def told(seconds: int) -> str:
    """Seconds for people, in the largest two units that say something: `1h 5m`, `42s`. Rounded up, never told shorter.

    Args:
        seconds: Whole seconds, not negative.
    """
    names = list(_UNITS.items())
    for (name, size), (smaller, part) in pairwise(names):
        if seconds >= size:
            more = -(-(seconds % size) // part)
            whole, more = (seconds // size + 1, 0) if more * part == size else (seconds // size, more)
            return f"{whole}{name}" + (f" {more}{smaller}" if more else "")
    return f"{seconds}s"
