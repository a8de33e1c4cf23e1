"""Laws about buckets of S3: who reaches them, and what is left of an object that somebody deletes."""

import re
from collections.abc import Iterator

from policies.aws.reading import BUCKETS, listed, naming, parsed, told
from policies.fields import Field
from policies.rules import Level, Option, Report, Resource, Severity, Stack, StackRule, rule

_ACCOUNT = ("aws:s3/accountPublicAccessBlock:AccountPublicAccessBlock",)
_BLOCKS = ("aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",)
_ENCRYPTIONS = (
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
    "aws:s3/bucketServerSideEncryptionConfigurationV2:BucketServerSideEncryptionConfigurationV2",
)
_LIFECYCLES = (
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
    "aws:s3/bucketLifecycleConfigurationV2:BucketLifecycleConfigurationV2",
)
_POLICIES = ("aws:s3/bucketPolicy:BucketPolicy",)
_VERSIONINGS = (
    "aws:s3/bucketVersioning:BucketVersioning",
    "aws:s3/bucketVersioningV2:BucketVersioningV2",
)
_NONCURRENT = ("noncurrentVersionExpiration",)
_UNFINISHED = ("abortIncompleteMultipartUpload", "abortIncompleteMultipartUploadDays")
"""In the rules of a lifecycle; a bucket's own have another word."""
_WITH_ACL = tuple(
    f"aws:s3/{kind[0].lower()}{kind[1:]}:{kind}"
    for kind in ("BucketAcl", "BucketAclV2", "BucketObject", "BucketObjectv2", "ObjectCopy")
)
_PUBLIC = ("public-read", "public-read-write", "authenticated-read")
"""ACLs for everybody; who is authenticated is anybody with an account of AWS
(https://docs.aws.amazon.com/AmazonS3/latest/userguide/acl-overview.html#canned-acl)."""
_CLOSED = ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets")


@rule(
    StackRule,
    id="bucket-tls",
    severity=Severity.HIGH,
    what="A bucket is reached by TLS only.",
    why="S3 also answers plain HTTP: weights and data sets would cross the network for everybody on the way to read.",
    fix=(
        "Add a `BucketPolicy` that denies `s3:*` on the bucket and its objects to everybody where "
        "`aws:SecureTransport` is false (`model.aws.statements.tls_only`)."
    ),
    link="https://docs.aws.amazon.com/AmazonS3/latest/userguide/security-best-practices.html",
)
def bucket_tls(stack: Stack, report: Report) -> None:
    """Look for the denial in the policies of each bucket."""
    for bucket in stack.of(*BUCKETS):
        with report.reading(bucket.urn):
            policies = [bucket.inputs["policy"]]
            policies += [each.inputs["policy"] for each in naming(stack, _POLICIES, "bucket", bucket)]
            name = bucket.inputs["bucket"].value
            objects = re.compile(rf"\*|.*:::({re.escape(name) if isinstance(name, str) else '[^/]*'}|[^/]*\*)/?\*")
            if not any(_denies_plain(each, objects) for policy in policies for each in _statements(policy)):
                report.violation("policy", "no policy of it denies requests without TLS", bucket.urn)


def _statements(policy: Field) -> list[Field]:
    return listed(parsed(policy)["Statement"])


def _denies_plain(statement: Field, objects: re.Pattern[str]) -> bool:
    if statement["Effect"].text() != "Deny" or "s3:*" not in _actions(statement):
        return False
    if "*" not in [each.value for each in _principals(statement["Principal"])]:
        return False
    # Objects are below the bucket, and are what is read.
    if not any(objects.fullmatch(each.text() or "") for each in listed(statement["Resource"])):
        return False
    parts = [
        (test.lower(), key.lower(), values)
        for test, keys in statement["Condition"].members().items()
        for key, values in keys.members().items()
    ]
    # Any further condition would let some plain requests through.
    if [key for _, key, _ in parts] != ["aws:securetransport"] or parts[0][0] not in ("bool", "boolifexists"):
        return False
    values = parts[0][2]
    return [str(each).lower() for each in (values.items() if isinstance(values.value, list) else [values])] == ["false"]


def _actions(statement: Field) -> list[str | None]:
    return ["s3:*" if each.text() == "*" else each.text() for each in listed(statement["Action"])]


def _principals(field: Field) -> list[Field]:
    return listed(field["AWS"]) if isinstance(field.value, dict) else listed(field)


@rule(
    StackRule,
    id="bucket-private",
    severity=Severity.CRITICAL,
    what="Nothing makes a bucket public: no ACL does, and where blocks of public access are set, all four are on.",
    why=(
        "S3 blocks public access to new buckets by itself. Settings that leave one of the blocks out take it away: "
        "then one ACL or one policy, added in a hurry, opens all of the bucket."
    ),
    fix="Set all four to true in the `BucketPublicAccessBlock`; what has to be public goes by way of CloudFront.",
    link="https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html",
)
def bucket_private(stack: Stack, report: Report) -> None:
    """Judge every block that there is, of buckets and of the account, and ACLs; a block that is left out is off."""
    for holder in stack.of(*BUCKETS, *_WITH_ACL):
        with report.reading(holder.urn):
            acl = holder.inputs["acl"]
            if acl.text() in _PUBLIC:
                report.violation(acl, f"{acl} is for everybody", holder.urn)
    for block in stack.of(*_BLOCKS, *_ACCOUNT):
        for name in _CLOSED:
            with report.reading(block.urn):
                if not block.inputs[name].boolean():
                    report.violation(block.inputs[name], "is not true", block.urn)


@rule(
    StackRule,
    id="bucket-blocks",
    severity=Severity.MEDIUM,
    level=Level.ADVISORY,
    what="A stack says itself that its buckets are not public.",
    why=(
        "S3's own default closes a new bucket, and stays only until somebody deletes it in the console: what is "
        "declared is put back by the next update."
    ),
    fix="Add a `BucketPublicAccessBlock` of the bucket, or one `AccountPublicAccessBlock`, in which all four are true.",
    link="https://docs.aws.amazon.com/AmazonS3/latest/userguide/create-bucket-faq.html",
)
def bucket_blocks(stack: Stack, report: Report) -> None:
    """Look for the blocks of each bucket, where the account has none."""
    if stack.of(*_ACCOUNT):
        return
    for bucket in stack.of(*BUCKETS):
        with report.reading(bucket.urn):
            if not naming(stack, _BLOCKS, "bucket", bucket):
                report.violation("bucket", "only S3's default keeps it from becoming public", bucket.urn)


@rule(
    StackRule,
    id="bucket-encryption",
    severity=Severity.MEDIUM,
    level=Level.ADVISORY,
    what="Objects are encrypted under a key of KMS, and a bucket asks for it seldom.",
    why=(
        "Under S3's own key whoever may read the bucket may read the data: there is no second lock, and no log of its "
        "use. Without a bucket key each object is a request to KMS, which refuses them when a thousand nodes write a "
        "checkpoint at once."
    ),
    fix=(
        "Add a `BucketServerSideEncryptionConfiguration` with `sseAlgorithm: aws:kms`, the key, and "
        "`bucketKeyEnabled: true`. Buckets of a load balancer's logs take no key of KMS."
    ),
    link="https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucket-key.html",
)
def bucket_encryption(stack: Stack, report: Report) -> None:
    """Look for the encryption of each bucket, and judge every rule of it, in the bucket's own properties too."""
    for bucket in stack.of(*BUCKETS):
        with report.reading(bucket.urn):
            inline = bucket.inputs["serverSideEncryptionConfiguration"]
            if inline.members():
                _encrypted(inline["rule"], bucket, report)
            elif not naming(stack, _ENCRYPTIONS, "bucket", bucket):
                report.violation("bucket", "its objects are encrypted under S3's own key", bucket.urn)
    for configuration in stack.of(*_ENCRYPTIONS):
        with report.reading(configuration.urn):
            for each in configuration.inputs["rules"].items():
                with report.reading(configuration.urn):
                    _encrypted(each, configuration, report)


def _encrypted(encryption: Field, configuration: Resource, report: Report) -> None:
    default = encryption["applyServerSideEncryptionByDefault"]
    algorithm = default["sseAlgorithm"].text()
    if algorithm not in ("aws:kms", "aws:kms:dsse"):
        report.violation(default["sseAlgorithm"], f"{algorithm or 'nothing'} is no key of KMS", configuration.urn)
    elif algorithm == "aws:kms" and not encryption["bucketKeyEnabled"].boolean():
        report.violation(encryption["bucketKeyEnabled"], "is not true", configuration.urn)


@rule(
    StackRule,
    id="bucket-versions",
    severity=Severity.HIGH,
    what="A bucket keeps what is deleted in it or written over, for a while.",
    why="One wrong `rm` or one job with yesterday's name takes all checkpoints, and nobody gets them back.",
    fix=(
        "Add a `BucketVersioning` with `status: Enabled`. Buckets of what can be made again, such as caches and logs, "
        "go into the option `without`."
    ),
    link="https://docs.aws.amazon.com/AmazonS3/latest/userguide/Versioning.html",
    options={
        "without": Option(
            list, (), "Buckets that need keep no versions, by their names in the stack, such as `*-cache`."
        )
    },
)
def bucket_versions(stack: Stack, report: Report) -> None:
    """Look for the versioning of each bucket, in its own properties too."""
    for bucket in stack.of(*BUCKETS):
        if report.listed("without", bucket.urn.rpartition("::")[2]):
            continue
        with report.reading(bucket.urn):
            inline = bucket.inputs.at("versioning", "enabled")
            if inline.value is not None:
                if not inline.boolean():
                    report.violation(inline, "is not true", bucket.urn)
                continue
            found = _versionings(stack, bucket)
            if not found:
                report.violation("bucket", "it keeps no versions", bucket.urn)
            for status, urn in found:
                if status.text() != "Enabled":
                    report.violation(status, f"is {status}", urn)


def _versionings(stack: Stack, bucket: Resource) -> list[tuple[Field, str]]:
    found = naming(stack, _VERSIONINGS, "bucket", bucket)
    return [(each.inputs.at("versioningConfiguration", "status"), each.urn) for each in found]


@rule(
    StackRule,
    id="bucket-leftovers",
    severity=Severity.LOW,
    level=Level.ADVISORY,
    what="What nobody can see any more ends: old versions, and uploads that were never finished.",
    why=(
        "Versions that were written over and the parts of an upload that a dead job left are in no usual listing, and "
        "cost as objects do, for ever."
    ),
    fix=(
        "Add `noncurrentVersionExpiration` and `abortIncompleteMultipartUpload` to a rule for all objects in the "
        "bucket's `BucketLifecycleConfiguration`."
    ),
    link="https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-lifecycle-mgmt.html",
)
def bucket_leftovers(stack: Stack, report: Report) -> None:
    """Look for what ends old versions of each bucket that keeps them, and unfinished uploads in each lifecycle."""
    for bucket in stack.of(*BUCKETS):
        with report.reading(bucket.urn):
            kept = bucket.inputs.at("versioning", "enabled").boolean() or _versionings(stack, bucket)
            if kept and not any(_ends(rules, _NONCURRENT) for rules in _lifecycles(stack, bucket)):
                report.violation("bucket", "its old versions are kept, and paid for, for ever", bucket.urn)
    for lifecycle in stack.of(*_LIFECYCLES, *BUCKETS):
        with report.reading(lifecycle.urn):
            rules = _rules(lifecycle)
            if rules.items() and not _ends(rules, _UNFINISHED):
                report.violation(rules, "no rule ends uploads that nobody finished", lifecycle.urn)


def _lifecycles(stack: Stack, bucket: Resource) -> list[Field]:
    return [_rules(each) for each in (bucket, *naming(stack, _LIFECYCLES, "bucket", bucket))]


def _rules(lifecycle: Resource) -> Field:
    """The rules of a lifecycle, or those that a bucket has in its own properties."""
    return lifecycle.inputs["lifecycleRules" if lifecycle.type in BUCKETS else "rules"]


def _holds(lifecycle: Field) -> bool:
    return lifecycle["status"].text() == "Enabled" or lifecycle["enabled"].boolean() is True


def _ends(rules: Field, keys: tuple[str, ...]) -> bool:
    return any(_holds(each) and any(each[key].value is not None for key in keys) for each in rules.items())


@rule(
    StackRule,
    id="bucket-lifecycle",
    severity=Severity.MEDIUM,
    what="Objects only go to classes that take them then.",
    why="S3 refuses transitions in a wrong order or too early, halfway through an update.",
    fix="Order the transitions from dear to cheap, 30 days before and after an IA class.",
    link="https://docs.aws.amazon.com/AmazonS3/latest/userguide/lifecycle-transition-general-considerations.html",
)
def bucket_lifecycle(stack: Stack, report: Report) -> None:
    """Judge the transitions of each rule that is on, in the properties of a bucket too."""
    for lifecycle in stack.of(*_LIFECYCLES, *BUCKETS):
        with report.reading(lifecycle.urn):
            for each in _rules(lifecycle).items():
                with report.reading(lifecycle.urn):
                    if _holds(each):
                        for where, message in _transitions(each):
                            report.violation(where, message, lifecycle.urn)


def _transitions(lifecycle: Field) -> Iterator[tuple[Field, str]]:
    steps = list[tuple[Field, Field, int, str]]()
    for each in lifecycle["transitions"].items():
        days, kind = each["days"], each["storageClass"]
        at, name = days.whole(), kind.text()
        if at is None or name is None:
            return  # by date: nothing to compare
        steps.append((days, kind, at, name))
    if not steps:
        return
    # Not at the top: the model behind it would double the time that the pack needs to start.
    from model.aws import archive
    from model.durations import Duration
    from model.storage.archive import S3, Transition

    declared = tuple(
        Transition.model_construct(after=Duration(at * 86_400, f"{at}d"), storage_class=name)
        for _, _, at, name in steps
    )
    for problem in archive.transitions(S3.model_construct(transitions=declared)):
        _, index, key = problem.path[-3:]
        days, kind, *_ = steps[int(index)]
        yield days if key == "after" else kind, told(problem)


RULES = (
    bucket_tls,
    bucket_private,
    bucket_blocks,
    bucket_encryption,
    bucket_versions,
    bucket_lifecycle,
    bucket_leftovers,
)
