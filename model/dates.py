"""Days, and points in time as the engine hands them on."""

import re
from datetime import date, datetime, time

_GO = re.compile(r"(?P<day>\d{4}-\d\d-\d\d) (?P<time>\d\d:\d\d:\d\d(?:\.\d+)?) (?P<zone>[+-]\d{4}) \S+")
_DAY = re.compile(r"\d{4}-\d\d-\d\d(?!\d)")


def moment(text: str) -> datetime:
    """Read a point in time, or a day as its first moment.

    What YAML takes for one, the engine writes as Go does (`2026-12-20 11:30:00 +0000 UTC`; time.Time.String), which
    is no ISO 8601.

    Raises:
        ValueError: It is neither.
    """
    match = _GO.fullmatch(text)
    return datetime.fromisoformat(f"{match['day']}T{match['time']}{match['zone']}" if match else text)


def day(text: str) -> date:
    """Read a day: year, month and day, or its first moment in UTC.

    Raises:
        ValueError: It is none.
    """
    if not _DAY.match(text):
        raise ValueError(f"{text!r} is no day")
    at = moment(text)
    if at.time() != time() or at.utcoffset():
        raise ValueError(f"{text!r} is a point in time")
    return at.date()
