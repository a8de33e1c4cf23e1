"""Laws about buckets of S3: who reaches them, and what is left of an object that somebody deletes."""

from collections.abc import Iterator

from policies.aws.reading import BUCKETS, listed, naming, parsed, told
from policies.fields import Field
from policies.rules import Report, Resource, ResourceRule, Severity, Stack, StackRule, rule

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
            if not any(_denies_plain(statement) for policy in policies for statement in _statements(policy)):
                report.violation("policy", "no policy of it denies requests without TLS", bucket.urn)


def _statements(policy: Field) -> list[Field]:
    return listed(parsed(policy)["Statement"])


def _denies_plain(statement: Field) -> bool:
    if statement["Effect"].text() != "Deny" or "s3:*" not in _actions(statement):
        return False
    if "*" not in [each.value for each in _principals(statement["Principal"])]:
        return False
    conditions = statement["Condition"].members()
    # Any further condition would let some plain requests through.
    if list(conditions) != ["Bool"] or list(conditions["Bool"].members()) != ["aws:SecureTransport"]:
        return False
    return str(conditions["Bool"]["aws:SecureTransport"]).lower() == "false"


def _actions(statement: Field) -> list[str | None]:
    return ["s3:*" if each.text() == "*" else each.text() for each in listed(statement["Action"])]


def _principals(field: Field) -> list[Field]:
    return listed(field["AWS"]) if isinstance(field.value, dict) else listed(field)


@rule(
    StackRule,
    id="bucket-private",
    severity=Severity.CRITICAL,
    what="Nothing makes a bucket public: all four blocks of public access are on.",
    why=(
        "A bucket is private until somebody adds an ACL or a policy, by hand and in a hurry. With the blocks on, S3 "
        "refuses that, and ignores what was there before."
    ),
    fix="Add a `BucketPublicAccessBlock` of the bucket in which all four are true.",
    link="https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html",
)
def bucket_private(stack: Stack, report: Report) -> None:
    """Look for the blocks of each bucket, and judge every block that there is."""
    for bucket in stack.of(*BUCKETS):
        with report.reading(bucket.urn):
            if not naming(stack, _BLOCKS, "bucket", bucket):
                report.violation("bucket", "nothing blocks public access to it", bucket.urn)
    for block in stack.of(*_BLOCKS):
        for name in _CLOSED:
            with report.reading(block.urn):
                if not block.inputs[name].boolean():
                    report.violation(block.inputs[name], "is not true", block.urn)


@rule(
    StackRule,
    id="bucket-encryption",
    severity=Severity.MEDIUM,
    what="Objects are encrypted under a key of KMS, and a bucket asks for it seldom.",
    why=(
        "Under S3's own key whoever may read the bucket may read the data: there is no second lock, and no log of its "
        "use. Without a bucket key each object is a request to KMS, which refuses them when a thousand nodes write a "
        "checkpoint at once."
    ),
    fix=(
        "Add a `BucketServerSideEncryptionConfiguration` with `sseAlgorithm: aws:kms`, the key, and "
        "`bucketKeyEnabled: true`."
    ),
    link="https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucket-key.html",
)
def bucket_encryption(stack: Stack, report: Report) -> None:
    """Look for the encryption of each bucket, and judge every rule of it."""
    for bucket in stack.of(*BUCKETS):
        with report.reading(bucket.urn):
            if not naming(stack, _ENCRYPTIONS, "bucket", bucket):
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
        "Add a `BucketVersioning` with `status: Enabled`, and a lifecycle rule that ends noncurrent versions after "
        "some days, so that they do not cost for ever."
    ),
    link="https://docs.aws.amazon.com/AmazonS3/latest/userguide/Versioning.html",
)
def bucket_versions(stack: Stack, report: Report) -> None:
    """Look for the versioning of each bucket, and for what ends old versions."""
    for bucket in stack.of(*BUCKETS):
        with report.reading(bucket.urn):
            found = naming(stack, _VERSIONINGS, "bucket", bucket)
            states = [(each, each.inputs.at("versioningConfiguration", "status")) for each in found]
            if not states:
                report.violation("bucket", "it keeps no versions", bucket.urn)
            for each, status in states:
                if status.text() != "Enabled":
                    report.violation(status, f"is {status}", each.urn)
    for bucket in stack.of(*BUCKETS):
        with report.reading(bucket.urn):
            versioned = naming(stack, _VERSIONINGS, "bucket", bucket)
            if versioned and not any(_ends_versions(each) for each in naming(stack, _LIFECYCLES, "bucket", bucket)):
                report.violation("bucket", "its old versions are kept, and paid for, for ever", bucket.urn)


def _ends_versions(lifecycle: Resource) -> bool:
    return any(
        each["noncurrentVersionExpiration"].value is not None
        for each in lifecycle.inputs["rules"].items()
        if each["status"].text() == "Enabled"
    )


@rule(
    ResourceRule,
    types=_LIFECYCLES,
    id="bucket-lifecycle",
    severity=Severity.LOW,
    what="Objects only go to classes that take them then, and what was never finished is deleted.",
    why=(
        "S3 refuses transitions in a wrong order or too early, halfway through an update. The parts of an upload that "
        "a dead job left are in no listing, and cost as objects do, for ever."
    ),
    fix=(
        "Order the transitions from dear to cheap, 30 days before and after an IA class, and add "
        "`abortIncompleteMultipartUpload` to a rule for all objects."
    ),
    link="https://docs.aws.amazon.com/AmazonS3/latest/userguide/lifecycle-transition-general-considerations.html",
)
def bucket_lifecycle(lifecycle: Field, report: Report) -> None:
    """Judge the transitions of each rule, and whether one of them ends unfinished uploads."""
    ends = False
    complete = False
    with report.reading():
        for each in lifecycle["rules"].items():
            if each["status"].text() != "Enabled":
                continue
            ends = ends or each["abortIncompleteMultipartUpload"].value is not None
            with report.reading():
                for where, message in _transitions(each):
                    report.violation(where, message)
        complete = True
    if complete and not ends:
        report.violation("rules", "no rule ends uploads that nobody finished")


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


RULES = (bucket_tls, bucket_private, bucket_encryption, bucket_versions, bucket_lifecycle)
