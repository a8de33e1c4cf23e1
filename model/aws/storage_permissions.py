"""Who may do what with the data of a cluster on AWS: policies of keys, buckets, file systems and the roles of jobs."""

from typing import Any

from .partitions import partition
from .permissions import Scope
from .statements import Statement, allow, policy, tls_only

_ADMINISTER = """CancelKeyDeletion CreateAlias CreateGrant Decrypt DeleteAlias DescribeKey DisableKey DisableKeyRotation
EnableKey EnableKeyRotation Encrypt GenerateDataKey GenerateDataKeyWithoutPlaintext GetKeyPolicy GetKeyRotationStatus
ListGrants ListKeyPolicies ListKeyRotations ListResourceTags PutKeyPolicy ReEncryptFrom ReEncryptTo RevokeGrant
RotateKeyOnDemand ScheduleKeyDeletion TagResource UntagResource UpdateAlias UpdateKeyDescription"""
_CRYPT = """Decrypt DescribeKey Encrypt GenerateDataKey GenerateDataKeyWithoutPlaintext ReEncryptFrom ReEncryptTo"""
_LINKS = "role/aws-service-role/s3.data-source.lustre.fsx.amazonaws.com/AWSServiceRoleForFSxS3Access_fs-*"


def jobs(at: Scope, *, bucket: str, key: str, namespace: str) -> list[Statement]:
    """What jobs of a namespace may do with the archive: read and add objects below their namespace's name.

    Nothing is deleted there but by the bucket's own rules.

    Args:
        at: Where.
        bucket: ARN of the bucket.
        key: ARN of its key.
        namespace: The namespace.
    """
    listed = {"StringLike": {"s3:prefix": [f"{namespace}/*"]}}
    return [
        allow(
            "ArchiveObjects",
            "s3",
            "AbortMultipartUpload GetObject ListMultipartUploadParts PutObject",
            [f"{bucket}/{namespace}/*"],
        ),
        allow("ArchiveList", "s3", "ListBucket", [bucket], listed),
        allow("ArchiveKey", "kms", "Decrypt GenerateDataKey", [key], {"StringEquals": {"kms:ViaService": _s3(at)}}),
    ]


def key_policy(at: Scope) -> dict[str, Any]:
    """The policy of a key whose bucket a Lustre file system is linked with.

    The account decides by its IAM policies, as with keys that have no policy of their own; and the role by which FSx
    reads and writes the bucket gets what it needs here, since nothing else gives it that. AWS makes the role with the
    first link, so that it cannot be named before.

    Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/s3-server-side-encryption-support.html.

    Args:
        at: Where.
    """
    account = f"arn:{at.partition}:iam::{at.account}"
    linked = {
        "StringEquals": {"kms:CallerAccount": at.account, "kms:ViaService": _s3(at)},
        "ArnLike": {"aws:PrincipalArn": f"{account}:{_LINKS}"},
    }
    return policy(
        [
            {"Principal": {"AWS": f"{account}:root"}, **allow("KeyAccount", "kms", _ADMINISTER, ["*"])},
            {"Principal": {"AWS": "*"}, **allow("KeyLinks", "kms", _CRYPT, ["*"], linked)},
        ]
    )


def bucket_policy(at: Scope, bucket: str) -> dict[str, Any]:
    """The policy of the archive's bucket: nothing without TLS.

    Args:
        at: Where.
        bucket: Its name.
    """
    return policy([tls_only(at.partition, bucket)])


def files_policy(system: str) -> dict[str, Any]:
    """The policy of an EFS: whoever reaches its mount targets, by TLS only.

    Source: https://docs.aws.amazon.com/efs/latest/ug/access-control-block-public-access.html, and the policies of
    .../iam-access-control-nfs-efs.html.

    Args:
        system: ARN of the file system.
    """
    mounted = {"Bool": {"elasticfilesystem:AccessedViaMountTarget": "true"}}
    actions = "ClientMount ClientRootAccess ClientWrite"
    return policy(
        [
            {
                "Principal": {"AWS": "*"},
                **allow("FilesByMountTarget", "elasticfilesystem", actions, [system], mounted),
            },
            {
                "Sid": "TlsOnly",
                "Effect": "Deny",
                "Principal": {"AWS": "*"},
                "Action": "*",
                "Resource": [system],
                "Condition": {"Bool": {"aws:SecureTransport": "false"}},
            },
        ]
    )


def _s3(at: Scope) -> str:
    return f"s3.{at.region}.{partition(at.region).domain}"
