"""The key under which the data of a cluster is encrypted on AWS."""

import pulumi
import pulumi_aws as aws

from model.aws import lustre_links, permanent, storage_permissions, tags
from model.aws.permissions import Scope
from model.environment import Environment


def data_key(
    name: str, environment: Environment, scope: pulumi.Output[Scope], opts: pulumi.ResourceOptions
) -> aws.kms.Key:
    """Make it. Without it nothing of the data can be read, so that it is kept as long as the data.

    Args:
        name: Logical name.
        environment: The document.
        scope: Where it is.
        opts: Options, with the AWS provider.
    """
    called, keep = environment.cluster.name, permanent(environment)
    linked = pulumi.Output.json_dumps(scope.apply(storage_permissions.key_policy))
    key = aws.kms.Key(
        name,
        description=f"Data of the cluster {called}",
        enable_key_rotation=True,
        deletion_window_in_days=30 if keep else 7,
        policy=linked if lustre_links.linked(environment) else None,
        tags=tags(environment, f"{called}-data"),
        opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(protect=keep)),
    )
    aws.kms.Alias(f"{name}-alias", name=f"alias/{called}-data", target_key_id=key.key_id, opts=opts)
    return key
