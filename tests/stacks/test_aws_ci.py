"""What CI may do is enough for a cluster on AWS: every call by which the twin's rows carry what it is made of."""

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

import pytest

from model import document
from model.aws import CLUSTER_TAG, ci_permissions
from twin.aws import sdk
from twin.aws.cloud import operation
from twin.aws.row import Call, Row
from twin.aws.rows import ROWS
from twin.monitor import Resource
from twin.rehearsal import rehearse

GPU = {"key": "nvidia.com/gpu", "effect": "NoSchedule"}
VALUE: dict[str, Any] = {
    "cluster": {
        "name": "atlas",
        "provider": "aws",
        "kubernetes": "1.35",
        "zones": ["us-east-2a", "us-east-2b"],
        "network": {"endpoints": True},
        "access": {"platform": {"principal": "arn:aws:iam::123456789012:role/platform", "policy": "cluster-admin"}},
        "registry": {"cache": ["quay.io"]},
    },
    "pools": {
        "system": {"instance": "m7i.2xlarge", "size": {"min": 2, "max": 4}},
        "train": {"instance": "p5en.48xlarge", "size": 4, "zone": "us-east-2a", "fabric": "efa", "taints": [GPU]},
        "serve": {
            "instance": "g6e.12xlarge",
            "size": {"min": 0, "max": 8},
            "capacity": {"kind": "spot"},
            "provisioner": "karpenter",
            "taints": [GPU],
        },
    },
    "queues": {"research": {"capability": {"gpu": 8}}},
    "tenants": {"research": {"namespaces": ["research"], "queues": ["research"], "quota": {"storage": "1Ti"}}},
    "storage": {
        "shared": {
            "kind": "lustre",
            "size": "4800Gi",
            "throughput": 250,
            "links": [{"path": "/research/sets", "prefix": "sets/"}],
        },
        "archive": {"kind": "s3"},
    },
}
FILES: dict[str, Any] = {**VALUE, "storage": {"shared": {"kind": "efs", "size": "4Ti"}}}
STAND_INS = {
    "logs:ListTagsLogGroup": "logs:ListTagsForResource",
    "logs:TagLogGroup": "logs:TagResource",
    "logs:UntagLogGroup": "logs:UntagResource",
}
"""Calls that the stand-in makes where the official provider makes the newer ones."""
S3 = {
    "HeadBucket": "ListBucket",
    "DeleteBucketEncryption": "PutEncryptionConfiguration",
    "DeleteBucketLifecycle": "PutLifecycleConfiguration",
    "DeleteBucketOwnershipControls": "PutBucketOwnershipControls",
    "DeletePublicAccessBlock": "PutBucketPublicAccessBlock",
    "GetBucketEncryption": "GetEncryptionConfiguration",
    "GetBucketLifecycleConfiguration": "GetLifecycleConfiguration",
    "GetPublicAccessBlock": "GetBucketPublicAccessBlock",
    "ListObjectVersions": "ListBucketVersions",
    "PutBucketEncryption": "PutEncryptionConfiguration",
    "PutBucketLifecycleConfiguration": "PutLifecycleConfiguration",
    "PutPublicAccessBlock": "PutBucketPublicAccessBlock",
}
"""Permissions of calls of S3, where they are called otherwise
(https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html)."""
WITH_DATA = {"s3:DeleteObject"}
"""What a bucket is emptied with, for `data: delete`: CI makes data's places and does not take data away."""


@pytest.fixture(scope="module")
def resources() -> list[Resource]:
    found = [each for value in (VALUE, FILES) for each in rehearse(document.load(value), stack="atlas").resources]
    return [each for each in found if each.type.startswith("aws:")]


def calls(value: Any, service: str = "") -> Iterator[tuple[str, Call]]:
    """The calls of a row, wherever in it they stand, with their services."""
    if isinstance(value, Row):
        service = value.service
    if isinstance(value, Call):
        service = value.service or service
        yield service, value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for each in dataclasses.fields(value):
            yield from calls(getattr(value, each.name), service)
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from calls(each, service)


def actions(row: Row) -> set[str]:
    made = {permission(service, str(operation(service, call.operation).name)) for service, call in calls(row)}
    return {STAND_INS.get(each, each) for each in made} - WITH_DATA


def permission(service: str, called: str) -> str:
    service = {"efs": "elasticfilesystem"}.get(service, service)
    return f"{service}:{S3.get(called, called) if service == 's3' else called}"


def statements() -> list[dict[str, Any]]:
    at = ci_permissions.Place("aws", "123456789012", "us-east-2")
    return [each for found in ci_permissions.policies(at, "states", "key").values() for each in found]


def test_every_call_that_a_cluster_takes_is_allowed(resources: list[Resource]) -> None:
    allowed = {action for each in statements() for action in each["Action"]}
    types = {each.type for each in resources}
    assert len(types) > 25
    missing = {each: sorted(actions(ROWS[each]) - allowed) for each in sorted(types)}
    assert {each: calls for each, calls in missing.items() if calls} == {}


def test_everything_carries_the_tag_without_which_ci_could_not_make_it(resources: list[Resource]) -> None:
    # A rule is made by way of its group, whose tag counts.
    taggable = [
        each for each in resources if "tags" in sdk.resource(each.type).inputs and not each.type.startswith("aws:vpc/")
    ]
    assert len(taggable) > 40
    assert [each.name for each in taggable if CLUSTER_TAG not in each.inputs.get("tags", {})] == []


def test_every_policy_that_is_attached_may_be(resources: list[Resource]) -> None:
    [statement] = [each for each in statements() if each["Action"] == ["iam:AttachRolePolicy"]]
    allowed = {arn.rpartition("/")[2] for arn in statement["Condition"]["ArnEquals"]["iam:PolicyARN"]}
    # Their ARNs are known once the roles are; the names of the resources end in them.
    attached = [each.name for each in resources if each.type == "aws:iam/rolePolicyAttachment:RolePolicyAttachment"]
    assert len(attached) > 5
    assert [name for name in attached if name.rpartition("-")[2] not in allowed] == []


def test_roles_are_called_as_those_that_ci_may_change(resources: list[Resource]) -> None:
    named = [
        each for each in resources if each.type in ("aws:iam/role:Role", "aws:iam/instanceProfile:InstanceProfile")
    ]
    assert len(named) > 5
    for each in named:
        assert each.name.startswith(ci_permissions.ROLES)
        assert "name" not in each.inputs


def test_roles_are_made_for_those_whom_they_may_be_passed_to(resources: list[Resource]) -> None:
    [statement] = [each for each in statements() if each["Action"] == ["iam:PassRole"]]
    receivers = set(statement["Condition"]["StringEquals"]["iam:PassedToService"])
    trusts = [each.inputs["assumeRolePolicy"] for each in resources if each.type == "aws:iam/role:Role"]
    trusted = {
        each["Principal"]["Service"]
        for trust in trusts
        if isinstance(trust, str)
        for each in json.loads(trust)["Statement"]
    }
    assert {"eks.amazonaws.com", "ec2.amazonaws.com"} <= trusted
    assert trusted <= receivers
