"""What the provider made, kept where it was made: so that what a killed run left behind can be told from the rest.

It lives and ends with the cloud's memory. Nothing of AWS is like it; it lies beside moto's own address, `/moto-api`.
"""

# ruff: noqa: ARG001 (handlers have the form that moto wants)

import json
from typing import Any

from moto.moto_api._internal.urls import url_paths

from twin.aws.names import JOURNAL

_made: dict[tuple[str, str], dict[str, Any]] = {}


def _journal(request: Any, full_url: str, headers: Any) -> tuple[int, dict[str, str], str]:
    """Answer GET with all entries, in the order of their making; POST adds one and DELETE takes one away."""
    if request.method != "GET":
        entry = json.loads(request.data)
        _made.pop((entry["urn"], entry["id"]), None)
        if request.method == "POST":
            _made[entry["urn"], entry["id"]] = entry
    return 200, {"Content-Type": "application/json"}, json.dumps(list(_made.values()))


def install() -> None:
    """Put it beside moto's own address."""
    url_paths[f"{{0}}{JOURNAL}"] = _journal
