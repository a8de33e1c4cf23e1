"""The archive on AWS: a bucket, and the rights that jobs have to it."""

from collections.abc import Iterable

import pulumi
import pulumi_aws as aws

from components.aws.identity import PodRole
from components.component import Component
from components.storage.source import Bucket
from model import names
from model.aws import archive, permanent, region, storage, storage_permissions, tags
from model.aws.permissions import Scope
from model.environment import Environment
from model.storage.names import JOBS

NONCURRENT_DAYS = 30
"""Days for which an object can be had back that was deleted or written over."""
UNFINISHED_DAYS = 7
"""Days after which the parts of an upload that nobody finished are deleted: until then they cost as objects do."""
_LONGEST = 34
"""Characters of a namespace in the name of its role: `platform-archive-NAMESPACE-role-` and seven random ones are 64,
the most that IAM takes."""


@pulumi.type_token("gangline:index:Archive")
class Archive(Component):
    """A bucket that only TLS reaches, that nothing makes public, and whose objects get cheaper as the document says.

    Attributes:
        name: Its name, once it is encrypted and closed.
        bucket: How it is reached.
    """

    name: pulumi.Output[str]
    bucket: Bucket

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        scope: pulumi.Output[Scope],
        key: aws.kms.Key,
        cluster: pulumi.Input[str],
        namespaces: Iterable[str],
        opts: pulumi.ResourceOptions,
    ) -> None:
        """Make it.

        Args:
            name: Logical name.
            environment: The document.
            scope: Where it is.
            key: What its objects are encrypted under.
            cluster: Name of the cluster, from the cluster itself.
            namespaces: The namespaces whose jobs have a part of it.
            opts: Options, with the AWS provider.
        """
        declared = storage.archive(environment)
        super().__init__(name, {"bucket": declared.bucket if declared else None}, opts)
        self._name = name
        self._environment = environment
        self._scope = scope
        keep = permanent(environment)
        made = aws.s3.Bucket(
            f"{name}-bucket",
            bucket=declared.bucket if declared else None,
            # With all versions: a bucket that holds any is not deleted.
            force_destroy=not keep,
            tags=tags(environment, f"{environment.cluster.name}-archive"),
            opts=pulumi.ResourceOptions(parent=self, protect=keep),
        )
        settings = [*self._closed(made), self._encrypted(made, key), self._lifecycle(made)]
        self.name = pulumi.Output.all(made.bucket, *[each.id for each in settings]).apply(lambda known: str(known[0]))
        self._jobs(made, key, cluster, namespaces)
        self.bucket = Bucket(
            self.name,
            {
                "type": "s3",
                "provider": "AWS",
                "env_auth": "true",
                "region": region(environment),
                # Jobs may not make buckets, so that rclone must not try.
                "no_check_bucket": "true",
            },
        )
        self.register_outputs({"name": self.name})

    def _inside(self, *depends_on: pulumi.Resource) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self, depends_on=list(depends_on))

    def _closed(self, made: aws.s3.Bucket) -> list[pulumi.CustomResource]:
        name = self._name
        private = aws.s3.BucketPublicAccessBlock(
            f"{name}-private",
            bucket=made.bucket,
            block_public_acls=True,
            block_public_policy=True,
            ignore_public_acls=True,
            restrict_public_buckets=True,
            opts=self._inside(),
        )
        owned = aws.s3.BucketOwnershipControls(
            f"{name}-owned",
            bucket=made.bucket,
            rule=aws.s3.BucketOwnershipControlsRuleArgs(object_ownership="BucketOwnerEnforced"),
            opts=self._inside(),
        )
        policy = pulumi.Output.all(self._scope, made.bucket).apply(
            lambda known: storage_permissions.bucket_policy(known[0], known[1])
        )
        tls = aws.s3.BucketPolicy(
            f"{name}-tls",
            bucket=made.bucket,
            policy=pulumi.Output.json_dumps(policy),
            # S3 refuses to change two of these settings of a bucket at the same time.
            opts=self._inside(private),
        )
        return [private, owned, tls]

    def _encrypted(self, made: aws.s3.Bucket, key: aws.kms.Key) -> pulumi.CustomResource:
        default = aws.s3.BucketServerSideEncryptionConfigurationRuleApplyServerSideEncryptionByDefaultArgs
        return aws.s3.BucketServerSideEncryptionConfiguration(
            f"{self._name}-encryption",
            bucket=made.bucket,
            rules=[
                aws.s3.BucketServerSideEncryptionConfigurationRuleArgs(
                    apply_server_side_encryption_by_default=default(sse_algorithm="aws:kms", kms_master_key_id=key.arn),
                    # Thousands of nodes write at once, and requests to KMS are limited.
                    bucket_key_enabled=True,
                )
            ],
            opts=self._inside(),
        )

    def _lifecycle(self, made: aws.s3.Bucket) -> pulumi.CustomResource:
        versions = aws.s3.BucketVersioning(
            f"{self._name}-versions",
            bucket=made.bucket,
            versioning_configuration=aws.s3.BucketVersioningVersioningConfigurationArgs(status="Enabled"),
            opts=self._inside(),
        )
        rule, noncurrent, unfinished = (
            aws.s3.BucketLifecycleConfigurationRuleArgs,
            aws.s3.BucketLifecycleConfigurationRuleNoncurrentVersionExpirationArgs,
            aws.s3.BucketLifecycleConfigurationRuleAbortIncompleteMultipartUploadArgs,
        )
        return aws.s3.BucketLifecycleConfiguration(
            f"{self._name}-lifecycle",
            bucket=made.bucket,
            rules=[
                rule(
                    id="archive",
                    status="Enabled",
                    filter=aws.s3.BucketLifecycleConfigurationRuleFilterArgs(prefix=""),
                    transitions=[
                        aws.s3.BucketLifecycleConfigurationRuleTransitionArgs(days=days, storage_class=kind)
                        for days, kind in archive.lifecycle(self._environment)
                    ],
                    noncurrent_version_expiration=noncurrent(noncurrent_days=NONCURRENT_DAYS),
                    abort_incomplete_multipart_upload=unfinished(days_after_initiation=UNFINISHED_DAYS),
                )
            ],
            # What a rule does to versions goes by whether there are any.
            opts=self._inside(versions),
        )

    def _jobs(
        self, made: aws.s3.Bucket, key: aws.kms.Key, cluster: pulumi.Input[str], namespaces: Iterable[str]
    ) -> None:
        for namespace in namespaces:
            PodRole(
                f"{self._name}-{names.fit(namespace, _LONGEST)}",
                environment=self._environment,
                cluster=cluster,
                namespace=namespace,
                service_account=JOBS,
                statements=pulumi.Output.all(self._scope, made.arn, key.arn).apply(
                    lambda known, it=namespace: storage_permissions.jobs(
                        known[0], bucket=known[1], key=known[2], namespace=it
                    )
                ),
                opts=self._inside(),
            )
