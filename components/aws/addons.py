"""Add-ons of EKS."""

from collections.abc import Iterable

import pulumi
import pulumi_aws as aws

from components.aws.identity import PodRole
from components.component import Component
from model.aws import permissions, tags
from model.aws.addons import Addon
from model.environment import Environment

_NAMESPACE = "kube-system"


@pulumi.type_token("gangline:index:Addons")
class Addons(Component):
    """A wave of add-ons at exact versions, each with the permissions that it needs and no more.

    There are two: what nodes need to become ready, and what needs ready nodes.
    """

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        wave: Iterable[Addon],
        cluster: pulumi.Input[str],
        arn: pulumi.Input[str],
        vpc: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Make them.

        Args:
            name: Logical name.
            environment: The environment.
            wave: `model.aws.addons.before_nodes` or `after_nodes`.
            cluster: Name of the cluster, from the cluster itself.
            arn: ARN of the cluster.
            vpc: Id of its VPC.
            opts: Options.
        """
        super().__init__(name, {"cluster": environment.cluster.name}, opts)
        for addon in wave:
            needs: list[pulumi.Resource] = []
            if addon.account is not None:
                role = PodRole(
                    f"{name}-{addon.name}",
                    environment=environment,
                    cluster=cluster,
                    namespace=_NAMESPACE,
                    service_account=addon.account,
                    statements=pulumi.Output.all(arn, vpc).apply(
                        lambda known, it=addon.name: permissions.addon(permissions.scope(known[0]), it, known[1])
                    ),
                    opts=pulumi.ResourceOptions(parent=self),
                )
                needs.append(role)
            aws.eks.Addon(
                f"{name}-{addon.name}-addon",
                cluster_name=cluster,
                addon_name=addon.name,
                addon_version=addon.version,
                configuration_values=addon.configuration,
                # What somebody changed by hand is put right, as with everything else here.
                resolve_conflicts_on_create="OVERWRITE",
                resolve_conflicts_on_update="OVERWRITE",
                tags=tags(environment, f"{environment.cluster.name}-{addon.name}"),
                opts=pulumi.ResourceOptions(parent=self, depends_on=needs),
            )
        self.register_outputs({})
