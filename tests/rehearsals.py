"""Rehearsals of documents, made once for all tests of a process that look at the same."""

from collections import OrderedDict
from typing import Any

from model import document
from twin.rehearsal import Rehearsal, rehearse

_MOST = 16
"""Tests that look at the same mostly follow each other, and each rehearsal holds megabytes."""
_made: OrderedDict[tuple[str, str], Rehearsal] = OrderedDict()


def rehearsal_of(value: dict[str, Any], stack: str) -> Rehearsal:
    """The rehearsal of a document's plain value. It is frozen, so that one is enough."""
    key = repr(value), stack
    if key not in _made:
        _made[key] = rehearse(document.load(value), stack=stack)
        if len(_made) > _MOST:
            _made.popitem(last=False)
    return _made[key]
