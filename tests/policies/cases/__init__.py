"""For every rule what breaks it, what keeps it, and what keeps it from judging: a module for each of `policies`."""

import importlib
import pkgutil
from typing import Any

from tests.policies.objects import Breaks, Passes, Unknowns

TOPICS = tuple(module.name for module in pkgutil.iter_modules(__path__))


def _all(table: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for topic in TOPICS:
        of_topic = getattr(importlib.import_module(f"{__name__}.{topic}"), table)
        assert not found.keys() & of_topic.keys(), f"{topic}: {found.keys() & of_topic.keys()} have a module already"
        found |= of_topic
    return found


BREAKS: Breaks = _all("BREAKS")
PASSES: Passes = _all("PASSES")
UNKNOWNS: Unknowns = _all("UNKNOWNS")
