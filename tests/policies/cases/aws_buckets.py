"""Buckets and what belongs to them."""

import json
from dataclasses import replace
from typing import Any

from tests.policies.objects import UNKNOWN, Breaks, Passes, Resource, Unknowns, document, platform, referring, secret


def made(**inputs: Any) -> Resource:
    return Resource("aws:s3/bucket:Bucket", {"bucket": "checkpoints", **inputs}, "bucket", protect=True)


BUCKET = made()
WITHOUT = platform(document("aws-training") | {"policies": {"options": {"bucket-versions": {"without": ["buck*"]}}}})
TLS = {
    "Effect": "Deny",
    "Principal": "*",
    "Action": "s3:*",
    "Resource": ["arn:aws:s3:::checkpoints", "arn:aws:s3:::checkpoints/*"],
    "Condition": {"Bool": {"aws:SecureTransport": "false"}},
}


FREE = {"noncurrentVersionExpiration": {"days": 30}, "abortIncompleteMultipartUploadDays": 7}
FINISHED = {"status": "Enabled", "abortIncompleteMultipartUpload": {"daysAfterInitiation": 7}}
ACCOUNT = "aws:s3/accountPublicAccessBlock:AccountPublicAccessBlock"


def setting(kind: str, inputs: dict[str, Any], bucket: Any = "checkpoints") -> Resource:
    made = kind[0].lower() + kind[1:]
    return Resource(f"aws:s3/{made}:{kind}", {"bucket": bucket, **inputs}, "setting")


def policy(*statements: Any, bucket: Any = "checkpoints") -> Resource:
    return setting("BucketPolicy", {"policy": json.dumps({"Statement": list(statements)})}, bucket)


def block(bucket: Any = "checkpoints", **changed: Any) -> Resource:
    names = ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets")
    return setting("BucketPublicAccessBlock", dict.fromkeys(names, True) | changed, bucket)


def encryption(algorithm: Any = "aws:kms", bucket_key: Any = True) -> Resource:
    default = {"sseAlgorithm": algorithm, "kmsMasterKeyId": UNKNOWN}
    rules = [{"applyServerSideEncryptionByDefault": default, "bucketKeyEnabled": bucket_key}]
    return setting("BucketServerSideEncryptionConfiguration", {"rules": rules})


def inline(algorithm: Any = "aws:kms") -> Resource:
    default = {"sseAlgorithm": algorithm, "kmsMasterKeyId": UNKNOWN}
    rule = {"applyServerSideEncryptionByDefault": default, "bucketKeyEnabled": True}
    return made(serverSideEncryptionConfiguration={"rule": rule})


def versions(status: Any = "Enabled") -> Resource:
    return setting("BucketVersioning", {"versioningConfiguration": {"status": status}})


def lifecycle(*rules: Any, **changed: Any) -> Resource:
    usual = {"abortIncompleteMultipartUpload": {"daysAfterInitiation": 7}, "status": "Enabled"}
    usual |= {"noncurrentVersionExpiration": {"noncurrentDays": 30}}
    return setting("BucketLifecycleConfiguration", {"rules": list(rules) or [usual | changed]})


def moves(*steps: tuple[Any, Any]) -> Resource:
    return lifecycle(transitions=[{"days": days, "storageClass": kind} for days, kind in steps])


BREAKS: Breaks = {
    "bucket-tls": [
        (BUCKET, "policy: no policy of it denies requests without TLS"),
        ([policy(TLS, bucket="another"), BUCKET], "policy: no policy"),
        ([policy(TLS | {"Effect": "Allow"}), BUCKET], "policy: no policy"),
        ([policy(TLS | {"Action": "s3:GetObject"}), BUCKET], "policy: no policy"),
        ([policy(TLS | {"Principal": {"AWS": "arn:aws:iam::1:root"}}), BUCKET], "policy: no policy"),
        ([policy(TLS | {"Condition": {"Bool": {"aws:SecureTransport": "true"}}}), BUCKET], "policy: no policy"),
        # Another condition besides: only some of the plain requests are denied.
        (
            [policy(TLS | {"Condition": TLS["Condition"] | {"StringEquals": {"aws:PrincipalOrgID": "o"}}}), BUCKET],
            "policy: no policy",
        ),
        ([policy(), BUCKET], "policy: no policy"),
        # Of the bucket alone, so that its objects are read without TLS.
        ([policy(TLS | {"Resource": "arn:aws:s3:::checkpoints"}), BUCKET], "policy: no policy"),
        ([policy(TLS | {"Resource": "arn:aws:s3:::another/*"}), BUCKET], "policy: no policy"),
        ([policy(TLS | {"Resource": "arn:aws:s3:::checkpoints/research/*"}), BUCKET], "policy: no policy"),
        ([policy(TLS | {"Condition": {"Bool": {"aws:SecureTransport": ["false", "true"]}}}), BUCKET], "policy: no"),
        (made(policy=json.dumps({"Statement": [TLS | {"Effect": "Allow"}]})), "policy: no policy"),
    ],
    "bucket-private": [
        ([BUCKET, block(blockPublicPolicy=False)], "blockPublicPolicy: is not true"),
        ([BUCKET, block(restrictPublicBuckets=None)], "restrictPublicBuckets: is not true"),
        (block(ignorePublicAcls=False), "ignorePublicAcls: is not true"),
        (replace(block(blockPublicAcls=False), type=ACCOUNT), "blockPublicAcls: is not true"),
        (made(acl="public-read"), "acl: public-read is for everybody"),
        (setting("BucketAcl", {"acl": "authenticated-read"}), "acl: authenticated-read is for everybody"),
        (setting("BucketObjectv2", {"acl": "public-read-write"}), "acl: public-read-write is for everybody"),
    ],
    "bucket-blocks": [
        (BUCKET, "bucket: only S3's default keeps it from becoming public"),
        ([block("another"), BUCKET], "bucket: only S3's default"),
    ],
    "bucket-encryption": [
        (BUCKET, "bucket: its objects are encrypted under S3's own key"),
        ([BUCKET, encryption("AES256")], "sseAlgorithm: AES256 is no key of KMS"),
        ([BUCKET, encryption(None)], "sseAlgorithm: nothing is no key"),
        ([BUCKET, encryption(bucket_key=False)], "rules[0].bucketKeyEnabled: is not true"),
        ([BUCKET, encryption(bucket_key=None)], "rules[0].bucketKeyEnabled: is not true"),
        (inline("AES256"), "serverSideEncryptionConfiguration.rule.applyServerSideEncryptionByDefault.sseAlgorithm"),
    ],
    "bucket-versions": [
        (BUCKET, "bucket: it keeps no versions"),
        ([BUCKET, lifecycle(), versions("Suspended")], "versioningConfiguration.status: is Suspended"),
        ([BUCKET, lifecycle(), versions(None)], "versioningConfiguration.status: is None"),
        (made(versioning={"enabled": False}), "versioning.enabled: is not true"),
    ],
    "bucket-leftovers": [
        ([versions(), BUCKET], "bucket: its old versions are kept"),
        ([versions(), lifecycle(noncurrentVersionExpiration=None), BUCKET], "bucket: its old versions"),
        ([versions(), lifecycle(status="Disabled", **FREE), lifecycle(FINISHED), BUCKET], "bucket: its old versions"),
        (made(versioning={"enabled": True}), "bucket: its old versions are kept"),
        (lifecycle(abortIncompleteMultipartUpload=None), "rules: no rule ends uploads"),
        (lifecycle(status="Disabled"), "rules: no rule ends uploads"),
        (made(lifecycleRules=[{"enabled": True}]), "lifecycleRules: no rule ends uploads"),
    ],
    "bucket-lifecycle": [
        (moves((7, "STANDARD_IA")), "rules[0].transitions[0].days: 7d objects are stored 30 days"),
        (moves((30, "GLACIER"), (60, "STANDARD_IA")), "rules[0].transitions[1].storageClass: STANDARD_IA objects"),
        (moves((30, "STANDARD_IA"), (40, "GLACIER_IR")), "rules[0].transitions[1].days: 40d"),
        (moves((30, "COLD")), "rules[0].transitions[0].storageClass: COLD is no class"),
        (
            made(lifecycleRules=[{"enabled": True, "transitions": [{"days": 7, "storageClass": "STANDARD_IA"}]}]),
            "lifecycleRules[0].transitions[0].days: 7d",
        ),
    ],
}

PASSES: Passes = {
    "bucket-tls": [
        [BUCKET, policy({"Effect": "Allow"}, TLS)],
        [BUCKET, policy(TLS | {"Action": ["*"], "Principal": {"AWS": ["*"]}})],
        [BUCKET, policy(TLS | {"Condition": {"Bool": {"aws:SecureTransport": False}}})],
        [BUCKET, policy(TLS | {"Condition": {"BoolIfExists": {"aws:securetransport": ["false"]}}, "Resource": "*"})],
        made(policy=json.dumps({"Statement": TLS})),
        # Its name is not known yet, and the engine says what it will come from.
        [BUCKET, referring(policy(TLS, bucket=UNKNOWN), bucket=BUCKET)],
        policy(),
    ],
    "bucket-private": [
        [BUCKET, block()],
        block(),
        BUCKET,
        replace(block(), type=ACCOUNT),
        setting("BucketAcl", {"acl": "private"}),
    ],
    "bucket-blocks": [[BUCKET, block()], [BUCKET, replace(block(), type=ACCOUNT)], block()],
    "bucket-encryption": [[BUCKET, encryption()], [BUCKET, encryption("aws:kms:dsse", None)], inline()],
    "bucket-versions": [
        [BUCKET, versions()],
        versions("Suspended"),
        made(versioning={"enabled": True}),
        [WITHOUT, BUCKET],
    ],
    "bucket-leftovers": [
        [BUCKET, versions(), lifecycle()],
        BUCKET,
        made(versioning={"enabled": True}, lifecycleRules=[{"enabled": True, **FREE}]),
        lifecycle({"status": "Disabled"}, {"status": "Enabled", "abortIncompleteMultipartUpload": {}}),
    ],
    "bucket-lifecycle": [
        moves((30, "STANDARD_IA"), (90, "GLACIER_IR"), (180, "DEEP_ARCHIVE")),
        moves((1, "GLACIER_IR")),
        lifecycle({"status": "Disabled", "transitions": [{"days": 1, "storageClass": "STANDARD_IA"}]}),
        made(lifecycleRules=[{"enabled": False, "transitions": [{"days": 1, "storageClass": "STANDARD_IA"}]}]),
        lifecycle(transitions=[{"date": "2030-01-01T00:00:00Z", "storageClass": "GLACIER"}]),
    ],
}

UNKNOWNS: Unknowns = {
    "bucket-tls": [
        ([policy(TLS, bucket=UNKNOWN), BUCKET], "bucket"),
        ([setting("BucketPolicy", {"policy": UNKNOWN}), BUCKET], "policy"),
        ([setting("BucketPolicy", {"policy": secret("{")}), BUCKET], "policy"),
    ],
    "bucket-private": [([BUCKET, block(blockPublicAcls=UNKNOWN)], "blockPublicAcls")],
    "bucket-blocks": [([block(UNKNOWN), BUCKET], "bucket")],
    "bucket-encryption": [([BUCKET, encryption(UNKNOWN)], "rules[0].applyServerSideEncryptionByDefault.sseAlgorithm")],
    "bucket-versions": [([lifecycle(), versions(UNKNOWN), BUCKET], "versioningConfiguration.status")],
    "bucket-leftovers": [
        (setting("BucketLifecycleConfiguration", {"rules": UNKNOWN}), "rules"),
        (made(versioning={"enabled": UNKNOWN}), "versioning.enabled"),
    ],
    "bucket-lifecycle": [
        (moves((UNKNOWN, "GLACIER")), "rules[0].transitions[0].days"),
        (setting("BucketLifecycleConfiguration", {"rules": UNKNOWN}), "rules"),
    ],
}
