"""Failures of moto itself, such as an action that it lacks, told as AWS tells errors: else a client sees HTML."""

import logging
from typing import Any

from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult, BaseResponse
from werkzeug.exceptions import HTTPException

from twin.aws.moto_gaps.patching import wrap

_log = logging.getLogger(__name__)


class MotoFailedError(ServiceException):
    """Something in moto failed."""

    code = "MotoFailure"


def _call_action(inner: Any, self: Any) -> Any:
    try:
        return inner(self)
    except (HTTPException, ServiceException):
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told
        _log.exception("moto failed")
        status, headers, body = self.serialized(ActionResult(MotoFailedError(f"moto: {error!r}")))
        return max(int(status), 500), headers, body


def install() -> None:
    """Put it around all actions."""
    wrap(BaseResponse, "call_action", _call_action)
