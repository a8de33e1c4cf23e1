"""What CI may do: enough for what stacks make, and limited to it."""

import json
from typing import Any

import pytest

from model.aws import CLUSTER_TAG, ci, ci_permissions
from model.aws.ci_permissions import Place

AT = Place("aws", "111122223333", "us-east-2")
KEY = "arn:aws:kms:us-east-2:111122223333:key/0a1b2c3d-0000-1111-2222-333344445555"
POLICIES = ci_permissions.policies(AT, "states", KEY)
STATEMENTS = [statement for statements in POLICIES.values() for statement in statements]


def allowed(action: str) -> list[dict[str, Any]]:
    """The statements that allow it, but for AWS's own roles of links, whose policies AWS sets on the role's behalf."""
    return [statement for statement in STATEMENTS if action in statement["Action"] and statement["Sid"] != "LinkRoles"]


@pytest.mark.parametrize("topic", POLICIES)
def test_each_policy_is_as_small_as_iam_wants_it(topic: str) -> None:
    # https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html, with the longest names that there are.
    at = Place("aws-us-gov", "111122223333", "us-gov-west-1")
    statements = ci_permissions.policies(at, "b" * 63, KEY)[topic]
    assert len(json.dumps({"Version": "2012-10-17", "Statement": statements}, separators=(",", ":"))) <= 6144


def test_every_exception_is_of_a_statement() -> None:
    sids = [statement["Sid"] for statement in STATEMENTS]
    assert len(sids) == len(set(sids))
    assert set(ci_permissions.EXCEPTIONS) <= set(sids)
    assert set(ci_permissions.UNCONDITIONED) <= set(ci_permissions.EXCEPTIONS)


@pytest.mark.parametrize(
    "action", ["ec2:CreateVpc", "eks:CreateCluster", "iam:CreateRole", "kms:CreateKey", "sqs:CreateQueue"]
)
def test_nothing_is_made_without_the_tag_of_a_cluster(action: str) -> None:
    [statement] = allowed(action)
    assert statement["Condition"] == {"Null": {f"aws:RequestTag/{CLUSTER_TAG}": "false"}}


@pytest.mark.parametrize("kind", ["subnet", "security-group", "route-table", "natgateway", "vpc-endpoint"])
def test_what_is_made_in_a_network_wants_the_tag_itself(kind: str) -> None:
    """EC2 asks for both: an action on what is made without a condition would let anything be made."""
    create = {
        "subnet": "CreateSubnet",
        "security-group": "CreateSecurityGroup",
        "route-table": "CreateRouteTable",
        "natgateway": "CreateNatGateway",
        "vpc-endpoint": "CreateVpcEndpoint",
    }[kind]
    arn = f"arn:aws:ec2:us-east-2:111122223333:{kind}/*"
    assert [each["Sid"] for each in allowed(f"ec2:{create}") if arn in each["Resource"]] == ["Make"]


@pytest.mark.parametrize(
    "action",
    [
        "ec2:DeleteVpc",
        "eks:DeleteCluster",
        "iam:PutRolePolicy",
        "iam:UpdateAssumeRolePolicy",
        "kms:ScheduleKeyDeletion",
    ],
)
def test_only_what_has_the_tag_is_changed(action: str) -> None:
    [statement] = allowed(action)
    assert statement["Condition"] == {"Null": {f"aws:ResourceTag/{CLUSTER_TAG}": "false"}}


def test_the_role_reads_and_writes_states_below_one_name_only() -> None:
    [statement] = allowed("s3:PutObject")
    assert statement["Resource"] == ["arn:aws:s3:::states/.pulumi/*"]
    [statement] = allowed("kms:Decrypt")
    assert statement["Resource"] == [KEY]


@pytest.mark.parametrize("action", ["iam:TagRole", "iam:PutRolePolicy", "iam:PassRole", "iam:UpdateAssumeRolePolicy"])
def test_roles_of_others_are_out_of_reach(action: str) -> None:
    """Whoever may tag a role as it is made may tag any role: the tag alone bounds nothing."""
    for statement in allowed(action):
        assert all("/platform-" in resource for resource in statement["Resource"])


def test_the_key_of_states_cannot_become_a_cluster_s() -> None:
    denied = [each for each in STATEMENTS if each["Effect"] == "Deny"]
    assert [(each["Action"], each["Resource"]) for each in denied] == [(["kms:TagResource"], [KEY])]


def test_data_is_made_and_not_read() -> None:
    """What stacks store is nobody's business in CI: it makes buckets and never looks into them."""
    [statement] = [each for each in STATEMENTS if each["Sid"] == "Archives"]
    assert statement["Resource"] == ["arn:aws:s3:::platform-archive-*"]
    assert not {"s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:DeleteObjectVersion"} & set(statement["Action"])
    for action in ("fsx:CreateFileSystem", "elasticfilesystem:CreateFileSystem"):
        [statement] = allowed(action)
        assert statement["Condition"] == {"Null": {f"aws:RequestTag/{CLUSTER_TAG}": "false"}}
    for action in ("fsx:DeleteFileSystem", "elasticfilesystem:DeleteFileSystem"):
        [statement] = allowed(action)
        assert statement["Condition"] == {"Null": {f"aws:ResourceTag/{CLUSTER_TAG}": "false"}}


def test_one_branch_may_take_the_role_and_no_pull_request() -> None:
    [statement] = ci.trust("arn:provider", "acme/clusters", "main")["Statement"]
    wanted = statement["Condition"]["StringEquals"]
    assert wanted[f"{ci.ISSUER}:sub"] == "repo:acme/clusters:ref:refs/heads/main"
    assert wanted[f"{ci.ISSUER}:aud"] == "sts.amazonaws.com"
    assert "*" not in json.dumps(statement)
