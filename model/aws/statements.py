"""Statements of IAM policies, as all policies here are made of them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Statement = dict[str, Any]

VERSION = "2012-10-17"
"""Version of the language of policies (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_version.html)."""


def policy(statements: Iterable[Statement]) -> dict[str, Any]:
    """The policy of some statements."""
    return {"Version": VERSION, "Statement": list(statements)}


def allow(
    sid: str, service: str, actions: str, resources: Sequence[str], condition: Mapping[str, Any] | None = None
) -> Statement:
    """A statement that allows something.

    Args:
        sid: Its Sid.
        service: Such as `ec2`.
        actions: Words: the actions of the service.
        resources: ARNs.
        condition: Its conditions.
    """
    statement: Statement = {
        "Sid": sid,
        "Effect": "Allow",
        "Action": [f"{service}:{action}" for action in actions.split()],
        "Resource": list(resources),
    }
    return statement | ({"Condition": dict(condition)} if condition else {})


def read(sid: str, service: str, actions: str, condition: Mapping[str, Any] | None = None) -> Statement:
    """Reads that AWS knows no single resources for."""
    return allow(sid, service, actions, ["*"], condition)


def tls_only(partition: str, bucket: str) -> Statement:
    """The statement of a bucket's policy by which it is reached by TLS only.

    Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/security-best-practices.html.
    """
    arn = f"arn:{partition}:s3:::{bucket}"
    return {
        "Sid": "TlsOnly",
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": [arn, f"{arn}/*"],
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }
