"""Days, and points in time as the engine hands them on."""

import re
from datetime import date, datetime, time
from typing import Annotated

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

EXAMPLE = "2027-01-31"

_GO = re.compile(r"(?P<day>\d{4}-\d\d-\d\d) (?P<time>\d\d:\d\d:\d\d(?:\.\d+)?) (?P<zone>[+-]\d{4}) \S+")


def moment(text: str) -> datetime:
    """Read a point in time, or a day as its first moment.

    What YAML takes for one, the engine writes as Go does (`2026-12-20 11:30:00 +0000 UTC`; time.Time.String), which
    is no ISO 8601.

    Raises:
        ValueError: It is neither.
    """
    match = _GO.fullmatch(text)
    return datetime.fromisoformat(f"{match['day']}T{match['time']}{match['zone']}" if match else text)


def _day(value: object) -> object:
    if isinstance(value, str):
        try:
            value = moment(value)
        except ValueError:
            value = None
    if isinstance(value, datetime):
        value = value.date() if value.time() == time() else None
    if not isinstance(value, date):
        raise PydanticCustomError(
            "rule", "{reason}", {"reason": "is no day", "allowed": f"year, month and day, such as {EXAMPLE}"}
        )
    return value


Day = Annotated[date, BeforeValidator(_day), Field(json_schema_extra={"type": "string", "format": "date"})]
"""A day, such as `2027-01-31`."""
