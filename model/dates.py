"""Points in time as the engine hands them on."""

import re
from datetime import datetime

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
