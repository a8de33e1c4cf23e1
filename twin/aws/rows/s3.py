"""Rows of buckets. What the SDK has as resources of their own is not carried within the bucket."""

# ruff: noqa: ARG005 (functions of rows all take the same)

from collections.abc import Mapping
from typing import Any

from twin.aws.row import Call, Read, Row, Tags, Update
from twin.aws.rows.common import words

_BUCKET = {"Bucket": "$bucket"}


def _where(context: Mapping[str, Any]) -> dict[str, str] | None:
    # us-east-1 is where buckets are without being told: it is the one region that may not be told.
    return None if context["region"] == "us-east-1" else {"LocationConstraint": context["region"]}


def _empty(operation: str) -> Call:
    """What is deleted with a bucket that may be deleted with all that it holds."""
    return Call(
        "delete_object",
        {
            "Bucket": "$id",
            "Key": lambda context: context["each"]["Key"],
            "VersionId": lambda context: context["each"].get("VersionId"),
        },
        when=lambda context: bool(context.get("forceDestroy")),
        each=Read("list_object_versions", {"Bucket": "$id"}, result=operation),
    )


def _part(
    name: str, member: str, properties: tuple[str, ...], *, read: str = "@", delete: Call | None = None, **more: Any
) -> Row:
    """A part of a bucket: put as a whole, got as a whole."""
    update = Update(f"put_{name}", _BUCKET, properties=properties, whole=True)
    return Row(
        service="s3",
        create=Call(f"put_{name}", _BUCKET),
        id="{bucket}",
        reads=(Read(f"get_{name}", {"Bucket": "$id"}, result=read),),
        delete=(delete or Call(f"delete_{name}", {"Bucket": "$id"}),),
        updates=(update,),
        replaced=words("bucket"),
        alone=True,
        inside=member,
        **more,
    )


def _kept() -> Any:
    return lambda actual, context: context["bucket"]


ROWS: Mapping[str, Row] = {
    "aws:s3/bucket:Bucket": Row(
        service="s3",
        create=Call("create_bucket", {"CreateBucketConfiguration": _where}),
        id="{bucket}",
        reads=(
            Read("head_bucket", {"Bucket": "$id"}),
            Read("get_bucket_tagging", {"Bucket": "$id"}, result="TagSet", into="Tags", ignore=words("NoSuchTagSet")),
        ),
        delete=(_empty("Versions"), _empty("DeleteMarkers"), Call("delete_bucket", {"Bucket": "$id"})),
        replaced=words("bucket"),
        tags=Tags(
            add=Call(
                "put_bucket_tagging",
                {"Bucket": "$id", "Tagging": lambda context: {"TagSet": context.get("alltags") or context["tags"]}},
            ),
            remove=Call("put_bucket_tagging", {"Bucket": "$id", "Tagging": {"TagSet": "$tags"}}),
            create="",
        ),
        outputs={
            "bucket": lambda actual, context: context["id"],
            "arn": lambda actual, context: f"arn:aws:s3:::{context['id']}",
            "bucketRegion": lambda actual, context: context["region"],
            "bucketDomainName": lambda actual, context: f"{context['id']}.s3.amazonaws.com",
            "bucketRegionalDomainName": lambda actual, context: f"{context['id']}.s3.{context['region']}.amazonaws.com",
        },
        echo=words("forceDestroy"),
        defaults={"forceDestroy": False},
        autoname="bucket",
        gone=words("404 NoSuchBucket"),
    ),
    "aws:s3/bucketVersioning:BucketVersioning": _part(
        "bucket_versioning",
        "",
        ("versioningConfiguration",),
        read="Status && {versioningConfiguration: @}",
        delete=Call("put_bucket_versioning", {"Bucket": "$id", "VersioningConfiguration": {"Status": "Suspended"}}),
        outputs={"bucket": _kept()},
        gone=words("NoSuchBucket"),
    ),
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": _part(
        "bucket_encryption",
        "ServerSideEncryptionConfiguration",
        ("rules",),
        read="ServerSideEncryptionConfiguration",
        renames={"rules.applyServerSideEncryptionByDefault.kmsMasterKeyId": "KMSMasterKeyID"},
        outputs={"bucket": _kept()},
        gone=words("NoSuchBucket ServerSideEncryptionConfigurationNotFoundError"),
    ),
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration": Row(
        service="s3",
        create=Call("put_bucket_lifecycle_configuration", _BUCKET),
        id="{bucket}",
        reads=(Read("get_bucket_lifecycle_configuration", {"Bucket": "$id"}),),
        delete=(Call("delete_bucket_lifecycle", {"Bucket": "$id"}),),
        updates=(Update("put_bucket_lifecycle_configuration", _BUCKET, properties=("rules",), whole=True),),
        replaced=words("bucket"),
        alone=True,
        inside="LifecycleConfiguration",
        renames={
            "rules.id": "ID",
            "rules.noncurrentVersionTransitions": "NoncurrentVersionTransitions",
        },
        outputs={"bucket": _kept()},
        gone=words("NoSuchBucket NoSuchLifecycleConfiguration"),
    ),
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": Row(
        service="s3",
        create=Call("put_public_access_block", _BUCKET),
        id="{bucket}",
        reads=(Read("get_public_access_block", {"Bucket": "$id"}, result="PublicAccessBlockConfiguration"),),
        delete=(Call("delete_public_access_block", {"Bucket": "$id"}),),
        updates=(
            Update(
                "put_public_access_block",
                _BUCKET,
                properties=("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets"),
                whole=True,
            ),
        ),
        replaced=words("bucket"),
        alone=True,
        inside="PublicAccessBlockConfiguration",
        outputs={"bucket": _kept()},
        gone=words("NoSuchBucket NoSuchPublicAccessBlockConfiguration"),
    ),
    "aws:s3/bucketPolicy:BucketPolicy": _part(
        "bucket_policy",
        "",
        ("policy",),
        outputs={"bucket": _kept()},
        gone=words("NoSuchBucket NoSuchBucketPolicy"),
    ),
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls": _part(
        "bucket_ownership_controls",
        "OwnershipControls",
        ("rule",),
        read="OwnershipControls",
        renames={"rule": "Rules"},
        outputs={"bucket": _kept(), "rule": "Rules"},
        gone=words("NoSuchBucket OwnershipControlsNotFoundError"),
    ),
}
