"""A way to wait for a change of EKS, so that who follows its node groups need not ask again and again.

Nothing of AWS is like it; it lies beside moto's own address, `/moto-api`.
"""

# ruff: noqa: ARG001 (handlers have the form that moto wants)

import json
import secrets
import threading
from typing import Any

from moto.eks.responses import EKSResponse
from moto.moto_api._internal.urls import url_paths

from twin.aws.moto_gaps.patching import wrap
from twin.aws.names import CHANGES

LIMIT = 10.0  # seconds; no answer takes longer

_changed = threading.Condition()
_word = [secrets.token_hex(8)]  # another one each time, so that a cloud that lost its memory is not taken for this one


def _dispatch(inner: Any, self: Any, request: Any, *arguments: Any) -> Any:
    try:
        return inner(self, request, *arguments)
    finally:
        if request.method != "GET":
            with _changed:
                _word[0] = secrets.token_hex(8)
                _changed.notify_all()


def _changes(request: Any, full_url: str, headers: Any) -> tuple[int, dict[str, str], str]:
    """Answer with a word for how EKS is now, as soon as that is not `known`, or after `seconds`."""
    known, seconds = request.args.get("known"), min(float(request.args.get("seconds", "0")), LIMIT)
    with _changed:
        _changed.wait_for(lambda: _word[0] != known, seconds)
        return 200, {"Content-Type": "application/json"}, json.dumps(_word[0])


def install() -> None:
    """Put it beside moto's own address."""
    wrap(EKSResponse, "_dispatch", _dispatch)
    url_paths[f"{{0}}{CHANGES}"] = _changes
