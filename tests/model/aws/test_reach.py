"""How far statements of policies reach."""

from typing import Any

import pytest

from model.aws import conditions, reach
from tests.model.aws.test_permissions import STATEMENTS


@pytest.mark.parametrize("part", STATEMENTS)
def test_what_parts_of_a_cluster_may_do_is_named(part: str) -> None:
    for statement in STATEMENTS[part]:
        assert list(reach.excess(statement)) == [], statement["Sid"]


@pytest.mark.parametrize(
    ("resource", "named"),
    [
        ("arn:aws:s3:::checkpoints", True),
        ("arn:aws:s3:::checkpoints/*", True),
        ("arn:aws:s3:::team-*", True),
        ("arn:*:s3:::checkpoints/*", True),
        ("arn:aws:s3:::*", False),
        ("arn:aws:*:::checkpoints/*", False),
        ("arn:aws:ec2:us-east-2:123456789012:volume/*", False),
        ("arn:aws:ec2:us-east-2:123456789012:volume/vol-1", True),
        ("arn:aws:ec2:us-east-2:123456789012:volume/vol-*", False),
        ("arn:aws:ec2:us-east-2:123456789012:*", False),
        ("arn:aws:logs:us-east-2:123456789012:log-group:*", False),
        ("arn:aws:logs:us-east-2:123456789012:log-group:/aws/eks/*", True),
        ("arn:aws:route53:::hostedzone/*", False),
        ("arn:aws:apigateway:us-east-2::/restapis/*", False),
        ("arn:aws:iam::*:role/ci", True),
        ("*", False),
    ],
)
def test_a_name_comes_before_the_first_wildcard(resource: str, named: bool) -> None:
    assert reach.names_something(resource) is named


@pytest.mark.parametrize(
    ("condition", "things"),
    [
        ({"StringLike": {"aws:RequestTag/team": "*"}}, True),
        ({"Null": {"ec2:ResourceTag/team": "false"}}, True),
        ({"Null": {"ec2:ResourceTag/team": "true"}}, False),
        ({"ForAnyValue:StringEquals": {"aws:TagKeys": ["team"]}}, True),
        # So does a request without tags.
        ({"ForAllValues:StringEquals": {"aws:TagKeys": ["team"]}}, False),
        ({"StringNotEquals": {"aws:ResourceTag/team": "a"}}, False),
        ({"StringEquals": {"iam:AWSServiceName": "fsx.amazonaws.com"}}, True),
        ({"ForAnyValue:StringEquals": {"kms:ResourceAliases": "alias/research"}}, True),
        ({"StringEquals": {"kms:ViaService": "s3.us-east-2.amazonaws.com"}}, True),
        ({"StringEquals": {"aws:RequestedRegion": "us-east-2"}}, False),
    ],
)
def test_which_things_a_condition_means(condition: dict[str, Any], things: bool) -> None:
    assert conditions.names_things(condition) is things


@pytest.mark.parametrize(
    ("condition", "callers"),
    [
        ({"StringEquals": {"aws:PrincipalOrgID": "o-1"}}, True),
        ({"StringEquals": {"aws:principalorgid": ["o-1", "o-2"]}}, True),
        ({"ForAnyValue:StringLike": {"aws:PrincipalOrgPaths": "o-1/r-1/*"}}, True),
        ({"Bool": {"elasticfilesystem:AccessedViaMountTarget": "true"}}, True),
        ({"Bool": {"elasticfilesystem:AccessedViaMountTarget": "false"}}, False),
        # Of any account.
        ({"Bool": {"aws:PrincipalIsAWSService": "true"}}, False),
        ({"StringEquals": {"aws:username": "ci"}}, False),
        ({"IpAddress": {"aws:SourceIp": "192.0.2.7"}}, True),
        ({"IpAddress": {"aws:SourceIp": "0.0.0.0/1"}}, False),
        ({"IpAddress": {"aws:SourceIp": "somewhere"}}, False),
        ({"StringLike": {"aws:PrincipalOrgID": "*"}}, False),
        ({"StringLike": {"aws:PrincipalOrgID": "o-*"}}, False),
        ({"StringLike": {"aws:PrincipalOrgPaths": "o-*/r-*/"}}, False),
        ({"StringLike": {"aws:SourceAccount": "1???????????"}}, False),
        ({"StringEquals": {"aws:SourceAccount": "${aws:PrincipalAccount}"}}, False),
        ({"StringLike": {"aws:userid": "AROAEXAMPLE:*"}}, True),
        ({"StringLike": {"aws:userid": "AROA*"}}, False),
        ({"ArnLike": {"aws:SourceArn": "arn:aws:s3:*:*:checkpoints"}}, True),
        ({"ArnLike": {"aws:SourceArn": "arn:aws:sns:us-east-2:123456789012:*"}}, True),
        ({"ArnLike": {"aws:SourceArn": "arn:aws:sns:*:*:checkpoints"}}, False),
        ({"ArnLike": {"s3:DataAccessPointArn": "arn:aws:s3:*:*:accesspoint/a"}}, False),
        ({"ArnLike": {"aws:PrincipalArn": "arn:aws:iam::????????????:role/ci"}}, False),
        ({"StringEquals": {"aws:PrincipalOrgID": []}}, False),
        ({"Null": {"aws:PrincipalOrgID": "false"}}, False),
        ({"ForAllValues:StringEquals": {"aws:PrincipalOrgID": "o-1"}}, False),
        ({"StringLike": {"aws:PrincipalArn": "arn:aws:iam::123456789012:role/*"}}, True),
        ({"StringLike": {"aws:PrincipalArn": "*:role/ci"}}, False),
        ({}, False),
    ],
)
def test_who_a_condition_lets_in(condition: dict[str, Any], callers: bool) -> None:
    assert conditions.names_callers(condition) is callers
