"""The bucket of Pulumi's states, and its settings."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from cli.refusals import RefusedError
from model.aws.statements import policy, tls_only

from .account import Account, absent, code
from .changes import MAKE, Change

DAYS = 90
"""Days for which older versions of states are kept. Pulumi writes a state anew with each resource."""
_PUBLIC = ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets")


def changes(account: Account, name: str, key: str | None) -> Iterator[Change]:
    """What has to be done so that the bucket is there, and only for whom it is meant.

    Args:
        account: The account.
        name: Name of the bucket.
        key: ARN of the key that encrypts it; None before it is made.

    Raises:
        RefusedError: The bucket is somebody else's.
    """
    there = _is_there(account, name)
    if not there:
        # us-east-1 is the one region that must not be named.
        elsewhere = {"CreateBucketConfiguration": {"LocationConstraint": account.region}}
        place = {} if account.region == "us-east-1" else elsewhere
        yield Change(MAKE, lambda: account.client("s3").create_bucket(Bucket=name, **place))
    for setting in _settings(account, name, key):
        found = setting.read() if there else None
        wanted = setting.wanted(found)
        if found != wanted:
            yield Change(setting.text, lambda setting=setting, wanted=wanted: setting.put(wanted))


def _is_there(account: Account, name: str) -> bool:
    try:
        account.client("s3").head_bucket(Bucket=name, ExpectedBucketOwner=account.identity)
    except ClientError as error:
        if code(error) in ("404", "NoSuchBucket"):
            return False
        raise RefusedError(
            f"bucket {name}: it belongs to somebody else, or may not be read ({code(error)})\n  fix: another --name"
        ) from None
    return True


@dataclass(frozen=True)
class _Setting:
    """One setting of the bucket.

    Attributes:
        text: What it is for.
        read: Gives what it is; None when it was never set.
        wanted: Gives what it should be, from what it is.
        put: Sets it.
    """

    text: str
    read: Callable[[], Any]
    wanted: Callable[[Any], Any]
    put: Callable[[Any], object]


def _settings(account: Account, name: str, key: str | None) -> Iterator[_Setting]:
    s3 = account.client("s3")
    place = {"Bucket": name, "ExpectedBucketOwner": account.identity}

    def read(operation: str, member: str, missing: str) -> Any:
        answer = absent(getattr(s3, f"get_{operation}"), missing, **place)
        return answer and answer.get(member)

    def put(operation: str, **parameters: Any) -> object:
        return getattr(s3, f"put_{operation}")(**place, **parameters)

    yield _Setting(
        "keep older versions of states",
        lambda: read("bucket_versioning", "Status", ""),
        lambda _: "Enabled",
        lambda value: put("bucket_versioning", VersioningConfiguration={"Status": value}),
    )
    yield _Setting(
        "encrypt it with the key",
        lambda: _encryption(
            read(
                "bucket_encryption",
                "ServerSideEncryptionConfiguration",
                "ServerSideEncryptionConfigurationNotFoundError",
            )
        ),
        lambda _: {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key},
        lambda value: put(
            "bucket_encryption",
            ServerSideEncryptionConfiguration={
                "Rules": [{"ApplyServerSideEncryptionByDefault": value, "BucketKeyEnabled": True}]
            },
        ),
    )
    yield _Setting(
        "close it to the public",
        lambda: read("public_access_block", "PublicAccessBlockConfiguration", "NoSuchPublicAccessBlockConfiguration"),
        lambda _: dict.fromkeys(_PUBLIC, True),
        lambda value: put("public_access_block", PublicAccessBlockConfiguration=value),
    )
    yield _Setting(
        "no access lists",
        lambda: read("bucket_ownership_controls", "OwnershipControls", "OwnershipControlsNotFoundError"),
        lambda _: {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]},
        lambda value: put("bucket_ownership_controls", OwnershipControls=value),
    )
    yield _Setting(
        "refuse connections without TLS",
        lambda: _statements(read("bucket_policy", "Policy", "NoSuchBucketPolicy")),
        lambda found: _merged(found, [tls_only(account.partition, name)], "Sid"),
        lambda value: put("bucket_policy", Policy=json.dumps(policy(value))),
    )
    yield _Setting(
        f"keep older versions for {DAYS} days",
        lambda: read("bucket_lifecycle_configuration", "Rules", "NoSuchLifecycleConfiguration"),
        lambda found: _merged(found, [_expiry()], "ID"),
        lambda value: put("bucket_lifecycle_configuration", LifecycleConfiguration={"Rules": value}),
    )


def _encryption(told: Mapping[str, Any] | None) -> Any:
    """How objects are encrypted; a bucket without a key of its own would ask KMS for each object."""
    rules = told["Rules"] if told else ()
    return next((each["ApplyServerSideEncryptionByDefault"] for each in rules if each.get("BucketKeyEnabled")), None)


def _statements(policy: str | None) -> list[Any] | None:
    return json.loads(policy)["Statement"] if policy else None


def _expiry() -> dict[str, Any]:
    return {
        "ID": "older-versions",
        "Status": "Enabled",
        "Filter": {"Prefix": ""},
        "NoncurrentVersionExpiration": {"NoncurrentDays": DAYS},
        "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7},
    }


def _merged(there: Sequence[Mapping[str, Any]] | None, ours: Sequence[Mapping[str, Any]], key: str) -> list[Any]:
    """Put ours in place of those of the same name. A team's own stay as they are."""
    wanted = {each[key]: each for each in ours}
    kept = [wanted.pop(each.get(key, ""), each) for each in there or ()]
    return [*kept, *wanted.values()]
