"""Days as values of a document."""

from datetime import date, datetime, time
from typing import Annotated

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from .dates import moment

_EXAMPLE = "2027-01-31"


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
            "rule", "{reason}", {"reason": "is no day", "allowed": f"year, month and day, such as {_EXAMPLE}"}
        )
    return value


Day = Annotated[date, BeforeValidator(_day), Field(json_schema_extra={"type": "string", "format": "date"})]
"""A day, such as `2027-01-31`."""
