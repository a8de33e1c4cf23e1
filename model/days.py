"""Days as values of a document."""

from datetime import date, datetime, time
from typing import Annotated

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from .dates import day

EXAMPLES = "year, month and day, such as 2027-01-31"


def _read(written: object) -> object:
    if isinstance(written, str):
        try:
            return day(written)
        except ValueError:
            written = None
    if isinstance(written, datetime):
        written = written.date() if written.time() == time() else None
    if not isinstance(written, date):
        raise PydanticCustomError("rule", "{reason}", {"reason": "is no day", "allowed": EXAMPLES})
    return written


Day = Annotated[date, BeforeValidator(_read), Field(json_schema_extra={"type": "string", "format": "date"})]
"""A day, such as `2027-01-31`."""
