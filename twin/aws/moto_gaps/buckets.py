"""Policies of buckets, whose conditions moto does not read.

A statement that refuses connections without TLS would refuse everything. What has a condition is left out instead: the
twin's cloud is reached on loopback, and knows nobody by name.
"""

import json
from typing import Any

from moto.iam.access_control import IAMPolicy, PermissionResult
from moto.s3.models import FakeBucket

from twin.aws.moto_gaps.patching import wrap


def _get_permission(inner: Any, self: Any, action: str, resource: str) -> Any:
    if self.policy is None:
        return inner(self, action, resource)
    policy = json.loads(self.policy)
    listed = policy["Statement"] if isinstance(policy["Statement"], list) else [policy["Statement"]]
    kept = [statement for statement in listed if "Condition" not in statement]
    if not kept:
        return PermissionResult.NEUTRAL
    return IAMPolicy(json.dumps({**policy, "Statement": kept})).is_action_permitted(action, resource)


def install() -> None:
    """Put it into moto."""
    wrap(FakeBucket, "get_permission", _get_permission)
