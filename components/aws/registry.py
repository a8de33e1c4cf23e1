"""A cache of images in the account's own registry."""

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from components.component import Component
from model.aws import permissions, registry
from model.aws.statements import policy
from model.environment import Environment


@pulumi.type_token("gangline:index:Registry")
class Registry(Component):
    """A rule per registry, and what nodes need to fetch through them."""

    addresses: pulumi.Output[Mapping[str, str]]
    """By name of the registry, what stands for it in images."""

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        arn: pulumi.Input[str],
        roles: Mapping[str, pulumi.Input[str]],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Make it.

        Args:
            name: Logical name.
            environment: The environment.
            arn: ARN of the cluster.
            roles: Names of the roles of nodes, by what makes them.
            opts: Options.
        """
        super().__init__(name, {"registries": list(environment.cluster.registry.cache)}, opts)
        rules = registry.rules(environment)
        for rule in rules:
            aws.ecr.PullThroughCacheRule(
                f"{name}-{rule.upstream.short}",
                ecr_repository_prefix=rule.prefix,
                upstream_registry_url=rule.upstream.url,
                credential_arn=rule.secret,
                opts=pulumi.ResourceOptions(parent=self),
            )
        at = pulumi.Output.from_input(arn).apply(permissions.scope)
        for maker, role in roles.items():
            aws.iam.RolePolicy(
                f"{name}-{maker}-import",
                role=role,
                policy=pulumi.Output.json_dumps(
                    at.apply(lambda scope: policy(permissions.image_import(scope, [rule.prefix for rule in rules])))
                ),
                opts=pulumi.ResourceOptions(parent=self),
            )
        self.addresses = at.apply(lambda scope: {rule.upstream.name: registry.address(scope, rule) for rule in rules})
        self.register_outputs({"addresses": self.addresses})
