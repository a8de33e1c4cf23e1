"""Service quotas of EC2, of which moto knows none.

https://docs.aws.amazon.com/servicequotas/2019-06-24/apireference/API_GetServiceQuota.html. A new account at AWS has 0
vCPUs of P and G instances; this one was granted what it asked for.
"""

# ruff: noqa: D103 (actions have the names and the form that moto wants; the API describes them)

from typing import Any

from moto.core.responses import ActionResult
from moto.servicequotas.exceptions import NoSuchResource
from moto.servicequotas.models import ServiceQuotasBackend
from moto.servicequotas.responses import ServiceQuotasResponse

from model.aws.quotas import QUOTAS
from twin.aws.moto_gaps.patching import add, body, wrap

GRANTED = 100_000  # vCPUs: more than a trial asks for
_EC2 = {quota.code: quota.name for quota in QUOTAS}


def granted(backend: Any) -> dict[str, int]:
    """Give a region's quotas of EC2 by code, in vCPUs."""
    return backend.__dict__.setdefault("ec2_quotas", dict.fromkeys(_EC2, GRANTED))


def _quota(backend: Any, code: str) -> dict[str, Any]:
    if code not in _EC2:
        raise NoSuchResource
    return {
        "ServiceCode": "ec2",
        "ServiceName": "Amazon Elastic Compute Cloud (Amazon EC2)",
        "QuotaArn": f"arn:aws:servicequotas:{backend.region_name}:{backend.account_id}:ec2/{code}",
        "QuotaCode": code,
        "QuotaName": _EC2[code],
        "Value": float(granted(backend)[code]),
        "Unit": "None",
        "Adjustable": True,
        "GlobalQuota": False,
    }


def _get_service_quota(inner: Any, self: Any, service_code: str, quota_code: str) -> Any:
    return _quota(self, quota_code) if service_code == "ec2" else inner(self, service_code, quota_code)


def request_service_quota_increase(self: Any) -> ActionResult:
    asked = body(self)
    quota = _quota(self.backend, asked["QuotaCode"])
    granted(self.backend)[asked["QuotaCode"]] = int(asked["DesiredValue"])
    return ActionResult(
        {"RequestedQuota": {**quota, "Id": "1", "Status": "APPROVED", "DesiredValue": asked["DesiredValue"]}}
    )


def install() -> None:
    """Add them to moto."""
    wrap(ServiceQuotasBackend, "get_service_quota", _get_service_quota)
    add(ServiceQuotasResponse, request_service_quota_increase)
