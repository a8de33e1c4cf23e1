"""Conditions of IAM policies: which of them narrow a statement, and which only look as if they did.

How tests are compared:
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from model import networks

_BINDING = re.compile(r"(foranyvalue:)?(string(equals|equalsignorecase|like)|arn(equals|like)|ipaddress|bool|null)")
"""Tests that fail where the request has no such key. `...IfExists`, `...Not...` and `ForAllValues` hold then."""
_CALLERS = frozenset(
    {
        "aws:principalaccount",
        "aws:principalarn",
        "aws:principalorgid",
        "aws:principalorgpaths",
        "aws:sourceaccount",
        "aws:sourcearn",
        "aws:sourceip",
        "aws:sourceorgid",
        "aws:sourceorgpaths",
        "aws:sourceowner",
        "aws:sourcevpc",
        "aws:sourcevpce",
        "aws:userid",
        "elasticfilesystem:accessedviamounttarget",
        "elasticfilesystem:accesspointarn",
        "kms:calleraccount",
        "s3:dataaccesspointaccount",
        "s3:dataaccesspointarn",
    }
)
"""Keys that say who calls, or from where: those by which S3 tells a policy that is public, and their like. Names of
users and private addresses are none: every account gives its own
(https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html)."""
_OPEN = re.compile(r"[*?]|\$\{|^$")
"""What a value has that many others meet: a wildcard, or a variable that the caller fills."""
_THINGS = re.compile(
    r"[a-z0-9-]+:((resource|request)tag|(existing|request)objecttag)/.+|aws:tagkeys|dynamodb:leadingkeys"
    r"|ec2:(createaction|vpc)|iam:awsservicename|kms:(encryptioncontext:.+|requestalias|resourcealiases|viaservice)"
)
"""Keys that say which things are meant: by a tag or an alias, by the call that makes them, by the service that a role
is for or that a key is used through."""


def binding(condition: Mapping[str, Any]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Give the test, the key and the values of each part that a request without the key does not meet, in lower case.

    Args:
        condition: As parsed from the JSON of a policy.
    """
    for test, keys in condition.items():
        name = test.lower()
        if _BINDING.fullmatch(name):
            for key, values in keys.items():
                texts = values if isinstance(values, (list, tuple)) else (values,)
                yield name.rpartition(":")[2], key.lower(), tuple(str(each).lower() for each in texts)


def names_callers(condition: Mapping[str, Any]) -> bool:
    """Whether a condition says who may call or from where, so that `*` as the principal is not everybody.

    A value that is as wide as having none, such as `0.0.0.0/0`, says nothing.

    Args:
        condition: As parsed from the JSON of a policy.
    """
    return any(
        key in _CALLERS and test != "null" and bool(values) and all(_named(test, key, each) for each in values)
        for test, key, values in binding(condition)
    )


def names_things(condition: Mapping[str, Any]) -> bool:
    """Whether a condition says which things are meant, so that `*` as the resource is not all of them.

    Args:
        condition: As parsed from the JSON of a policy.
    """
    return any(
        # That a tag is there narrows as well; that it is missing does not.
        _THINGS.fullmatch(key) and bool(values) and "true" not in (values if test == "null" else ())
        for test, key, values in binding(condition)
    )


def _named(test: str, key: str, value: str) -> bool:
    if test == "bool":
        return value == "true"
    if test == "ipaddress":
        try:
            return not networks.wide(value)
        except ValueError:
            return False
    if value.startswith("arn:"):
        return _named_arn(value)
    # Behind the id of an organization or of a role anything may stand: it is within what they are.
    separator = {"aws:principalorgpaths": "/", "aws:userid": ":"}.get(key)
    return not _OPEN.search(value.partition(separator)[0] if separator else value)


def _named_arn(arn: str) -> bool:
    """Whether an ARN names an account, for in its own anybody calls things as he likes; or a bucket, which is one."""
    parts = arn.split(":", 5)
    if len(parts) < 6:
        return False
    _, _, service, _, account, name = parts
    if service == "s3" and not re.search(r"[/:]", name):
        return not _OPEN.search(name)
    return bool(account) and not _OPEN.search(account)
