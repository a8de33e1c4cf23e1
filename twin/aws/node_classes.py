"""What Karpenter would say of an EC2NodeClass, where no Karpenter runs.

The twin does not run Karpenter's controller, and pools of Karpenter begin without nodes. But an `up` waits until each
EC2NodeClass is ready, which means that Karpenter found at AWS what it names: that is asked of the cloud here.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import botocore.exceptions
import httpx2
from lightkube import Client
from lightkube.generic_resource import create_global_resource
from lightkube.types import PatchType

from twin.aws.cloud import Cloud, CloudError

_KIND = create_global_resource("karpenter.k8s.aws", "v1", "EC2NodeClass", "ec2nodeclasses")


def judge(client: Client, cloud: Cloud) -> list[str]:
    """Write into each EC2NodeClass whether it is ready, unless that stands there already; give the names of those.

    Raises:
        CloudError: The cloud does not answer.
        httpx2.HTTPStatusError: The API server refused it. That there is no such kind is no error.
    """
    written: list[str] = []
    try:
        found = list(client.list(_KIND))
    except httpx2.HTTPStatusError as error:
        # Before the definition is there, the answer is no object of the API, and so no ApiError.
        if error.response.status_code == httpx2.codes.NOT_FOUND:
            return []
        raise
    for each in found:
        condition = _condition(cloud, each.get("spec") or {}, each["metadata"].get("generation", 0))
        said = [old for old in (each.get("status") or {}).get("conditions", []) if old["type"] == "Ready"]
        if _same(said, condition):
            continue
        name = each["metadata"]["name"]
        status = {"status": {"conditions": [condition]}}
        client.patch(_KIND.Status, name, status, patch_type=PatchType.MERGE)
        written.append(name)
    return written


def missing(cloud: Cloud, spec: Mapping[str, Any]) -> list[str]:
    """What a class names and the cloud does not have.

    Raises:
        CloudError: It does not answer.
    """
    asked = {
        "subnet": ("ec2", "describe_subnets", "SubnetIds", _ids(spec, "subnetSelectorTerms")),
        "security group": ("ec2", "describe_security_groups", "GroupIds", _ids(spec, "securityGroupSelectorTerms")),
        "reservation": (
            "ec2",
            "describe_capacity_reservations",
            "CapacityReservationIds",
            _ids(spec, "capacityReservationSelectorTerms"),
        ),
    }
    gone = [
        f"{kind} {each}"
        for kind, (service, call, parameter, ids) in asked.items()
        for each in ids
        if not _there(cloud, service, call, {parameter: [each]})
    ]
    profile = spec.get("instanceProfile", "")
    if not _there(cloud, "iam", "get_instance_profile", {"InstanceProfileName": profile}):
        gone.append(f"instance profile {profile}")
    return gone


def _ids(spec: Mapping[str, Any], key: str) -> list[str]:
    return [term["id"] for term in spec.get(key) or () if "id" in term]


def _there(cloud: Cloud, service: str, call: str, parameters: Mapping[str, Any]) -> bool:
    try:
        getattr(cloud.client(service), call)(**parameters)
    except botocore.exceptions.ClientError:
        return False
    except botocore.exceptions.BotoCoreError as error:
        raise CloudError(f"{call}: {error}") from error
    return True


def _condition(cloud: Cloud, spec: Mapping[str, Any], generation: int) -> dict[str, Any]:
    gone = missing(cloud, spec)
    return {
        "type": "Ready",
        "status": "False" if gone else "True",
        "reason": "NotFound" if gone else "Ready",
        "message": f"there is no {', no '.join(gone)}" if gone else "",
        "observedGeneration": generation,
        "lastTransitionTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def _same(said: list[Mapping[str, Any]], condition: Mapping[str, Any]) -> bool:
    return any(
        all(old.get(key) == condition[key] for key in ("status", "message", "observedGeneration")) for old in said
    )
