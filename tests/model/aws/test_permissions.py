"""What parts of a cluster may do in AWS."""

import json
from typing import Any

import botocore.session
import pytest

from model.aws import karpenter_permissions, permissions, storage_permissions, wildcards
from model.aws.statements import policy

AT = permissions.scope("arn:aws:eks:us-east-2:123456789012:cluster/atlas")
STATEMENTS: dict[str, list[dict[str, Any]]] = {
    "vpc-cni": permissions.vpc_cni(AT, "vpc-1"),
    "ebs-csi": permissions.ebs_csi(AT),
    "autoscaler": permissions.autoscaler(AT),
    "karpenter": karpenter_permissions.controller(
        AT,
        node_role="arn:aws:iam::123456789012:role/nodes",
        queue="arn:aws:sqs:us-east-2:123456789012:atlas",
        subnets=["subnet-1", "subnet-2"],
        security_groups=["sg-1"],
    ),
    "registry": permissions.image_import(AT, ["atlas/quay"]),
    "jobs": storage_permissions.jobs(
        AT,
        bucket="arn:aws:s3:::archive",
        key="arn:aws:kms:us-east-2:123456789012:key/0a1b",
        namespace="research",
    ),
}
OF_DATA = {
    "key": storage_permissions.key_policy(AT),
    "bucket": storage_permissions.bucket_policy(AT, "archive"),
    "files": storage_permissions.files_policy("arn:aws:elasticfilesystem:us-east-2:123456789012:file-system/fs-1"),
}
"""Policies of things, which say who may do something with them."""
# Actions of IAM that are no operation of an API
# (https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html).
ONLY_PERMISSIONS = {
    "iam:PassRole",
    "ecr:BatchImportUpstreamImage",
    "s3:AbortMultipartUpload",
    "s3:ListBucket",
    "s3:ListMultipartUploadParts",
}


def test_a_cluster_s_arn_says_where_it_is() -> None:
    assert permissions.Scope("aws", "us-east-2", "123456789012", "atlas") == AT
    assert AT.arn("ec2", "volume/*") == "arn:aws:ec2:us-east-2:123456789012:volume/*"
    assert AT.arn("ec2", "image/*", owned=False) == "arn:aws:ec2:us-east-2::image/*"
    china = permissions.scope("arn:aws-cn:eks:cn-north-1:123456789012:cluster/atlas")
    assert china.arn("ec2", "volume/*").startswith("arn:aws-cn:ec2:cn-north-1:")


@pytest.mark.parametrize("arn", ["", "atlas", "arn:aws:eks:us-east-2:123456789012:nodegroup/atlas/x/y"])
def test_what_is_no_cluster_has_no_scope(arn: str) -> None:
    with pytest.raises(ValueError, match="is not the ARN of an EKS cluster"):
        permissions.scope(arn)


@pytest.mark.parametrize("part", STATEMENTS)
def test_actions_are_operations_of_aws(part: str) -> None:
    session = botocore.session.get_session()
    for statement in STATEMENTS[part]:
        for action in statement["Action"]:
            service, _, name = action.partition(":")
            known = session.get_service_model(service).operation_names
            assert action in ONLY_PERMISSIONS or name in known, action


@pytest.mark.parametrize("part", STATEMENTS)
def test_a_policy_fits_a_role(part: str) -> None:
    """The inline policies of a role: 10,240 characters in all, white space not counted.

    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
    """
    text = json.dumps(policy(STATEMENTS[part]), separators=(",", ":"))
    assert len(text) < 10_240


@pytest.mark.parametrize("part", STATEMENTS)
def test_every_statement_can_be_named(part: str) -> None:
    sids = [statement["Sid"] for statement in STATEMENTS[part]]
    assert len(sids) == len(set(sids))
    assert all(sid.isalnum() for sid in sids)


@pytest.mark.parametrize("part", STATEMENTS)
def test_every_wildcard_has_its_reason(part: str) -> None:
    assert list(wildcards.unreasoned(policy(STATEMENTS[part]))) == []


@pytest.mark.parametrize("thing", OF_DATA)
def test_every_wildcard_of_a_thing_s_policy_has_its_reason(thing: str) -> None:
    assert list(wildcards.unreasoned(OF_DATA[thing])) == []


@pytest.mark.parametrize("condition", [None, {"StringEquals": {"kms:CallerAccount": "123456789012"}}])
def test_everybody_takes_a_reason_and_a_condition(condition: dict[str, Any] | None) -> None:
    statement = {
        "Sid": "KeyLinks",
        "Effect": "Allow",
        "Principal": {"AWS": "*"},
        "Action": ["kms:Decrypt"],
        "Resource": ["arn:aws:kms:us-east-2:123456789012:key/0a1b"],
    } | ({"Condition": condition} if condition else {})
    faults = {each.fault for each in wildcards.unreasoned(policy([statement]))}
    assert faults == (set() if condition else {"anybody may do it"})
    unknown = {each.fault for each in wildcards.unreasoned(policy([statement | {"Sid": "Other"}]))}
    assert unknown == {"anybody may do it"}


def test_jobs_reach_their_part_of_the_archive_and_delete_nothing() -> None:
    objects, listed, key = STATEMENTS["jobs"]
    assert objects["Resource"] == ["arn:aws:s3:::archive/research/*"]
    assert listed["Resource"] == ["arn:aws:s3:::archive"]
    assert listed["Condition"] == {"StringLike": {"s3:prefix": ["research/*"]}}
    assert key["Condition"] == {"StringEquals": {"kms:ViaService": "s3.us-east-2.amazonaws.com"}}
    allowed = {action for statement in STATEMENTS["jobs"] for action in statement["Action"]}
    assert not any("Delete" in action for action in allowed)


def test_the_key_is_for_the_roles_of_links_and_the_account_alone() -> None:
    account, links = OF_DATA["key"]["Statement"]
    assert account["Principal"] == {"AWS": "arn:aws:iam::123456789012:root"}
    assert "kms:PutKeyPolicy" in account["Action"], "or nobody could ever change the policy again"
    assert links["Condition"]["StringEquals"]["kms:CallerAccount"] == "123456789012"
    assert "/s3.data-source.lustre.fsx.amazonaws.com/" in links["Condition"]["ArnLike"]["aws:PrincipalArn"]


def test_no_reason_is_left_over() -> None:
    every = [statement for statements in STATEMENTS.values() for statement in statements]
    every += [it for made in OF_DATA.values() for it in made["Statement"] if it["Effect"] == "Allow"]
    wild = {it["Sid"] for it in every if "*" in json.dumps([it["Resource"], it.get("Principal")])}
    assert wild == set(wildcards.EXCEPTIONS)
    free = {statement["Sid"] for statement in every if not statement.get("Condition")}
    assert set(wildcards.UNCONDITIONED) <= wild & free


def test_what_changes_something_stays_within_the_account() -> None:
    for statements in STATEMENTS.values():
        for statement in statements:
            for resource in statement["Resource"]:
                # Names of buckets are shared by all accounts.
                if resource != "*" and not any(it in resource for it in ("image/", "snapshot/", ":s3:::")):
                    account = resource.split(":")[4]
                    assert account == "123456789012" or "parameter/aws/service" in resource


def test_only_karpenter_s_own_nodes_get_a_role() -> None:
    passed = [s for s in STATEMENTS["karpenter"] if "iam:PassRole" in s["Action"]]
    assert [s["Resource"] for s in passed] == [["arn:aws:iam::123456789012:role/nodes"]]
    changes = {action for s in STATEMENTS["karpenter"] for action in s["Action"] if action.startswith("iam:")}
    assert changes == {"iam:PassRole", "iam:ListInstanceProfiles"}


def test_a_role_of_pods_is_for_one_account_of_one_cluster() -> None:
    (statement,) = permissions.pod_trust("atlas", "kube-system", "karpenter")["Statement"]
    assert statement["Condition"]["StringEquals"] == {
        "aws:RequestTag/eks-cluster-name": "atlas",
        "aws:RequestTag/kubernetes-namespace": "kube-system",
        "aws:RequestTag/kubernetes-service-account": "karpenter",
    }
    assert statement["Action"] == ["sts:AssumeRole", "sts:TagSession"]


def test_the_queue_is_written_by_events_over_tls_only() -> None:
    queue = "arn:aws:sqs:us-east-2:123456789012:atlas"
    statements = karpenter_permissions.interruption_queue(queue)
    assert list(wildcards.unreasoned(policy(statements))) == []
    allowed = [s for s in statements if s["Effect"] == "Allow"]
    assert [s["Principal"] for s in allowed] == [{"Service": ["events.amazonaws.com", "sqs.amazonaws.com"]}]
    assert any(s["Condition"] == {"Bool": {"aws:SecureTransport": "false"}} for s in statements if s not in allowed)


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ({"Action": "ec2:*", "Resource": "arn:x"}, "no wildcard is allowed in an action"),
        ({"Action": ["s3:Get?bject"], "Resource": ["arn:x"]}, "no wildcard is allowed in an action"),
        ({"Action": "ec2:RunInstances", "Resource": "*"}, "has no reason"),
        ({"Sid": "CniChange", "Action": "ec2:DeleteNetworkInterface", "Resource": "*"}, "without a condition"),
        ({"NotAction": "iam:PassRole", "Resource": "arn:x"}, "allows all but what it names"),
        ({"Action": "sqs:SendMessage", "Resource": "arn:x", "Principal": "*"}, "anybody may do it"),
        ({"Action": "sqs:SendMessage", "Resource": "arn:x", "Principal": {"AWS": ["*"]}}, "anybody may do it"),
    ],
)
def test_a_wildcard_that_has_no_business_there_is_found(statement: dict[str, Any], fault: str) -> None:
    found = list(wildcards.unreasoned({"Statement": [{"Effect": "Allow", **statement}]}))
    assert [fault in each.fault for each in found] == [True]


def test_a_denial_may_be_wide() -> None:
    denied = {"Effect": "Deny", "Action": "*", "Resource": "*", "Principal": "*"}
    assert list(wildcards.unreasoned({"Statement": denied})) == []
