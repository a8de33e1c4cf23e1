"""Permissions in AWS for pods, by EKS Pod Identity."""

from collections.abc import Sequence

import pulumi
import pulumi_aws as aws

from components.component import Component
from model.aws import permissions, tags
from model.aws.statements import Statement, policy
from model.environment import Environment


@pulumi.type_token("gangline:index:PodRole")
class PodRole(Component):
    """A role for the pods of one service account of one cluster.

    What makes the pods should depend on it: a pod that starts earlier gets no credentials until it starts again.
    """

    role: aws.iam.Role
    """The role."""
    association: aws.eks.PodIdentityAssociation
    """What gives it to the service account."""

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        cluster: pulumi.Input[str],
        namespace: str,
        service_account: str,
        statements: pulumi.Input[Sequence[Statement]],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Make it.

        Args:
            name: Logical name.
            environment: The environment.
            cluster: Name of the cluster, from the cluster itself: so it is there first.
            namespace: Namespace of the service account.
            service_account: The service account, which need not exist yet.
            statements: What its pods may do.
            opts: Options.
        """
        super().__init__(name, {"namespace": namespace, "serviceAccount": service_account}, opts)
        child = pulumi.ResourceOptions(parent=self)
        self.role = aws.iam.Role(
            f"{name}-role",
            description=f"Pods of {namespace}/{service_account} of the cluster {environment.cluster.name}",
            assume_role_policy=pulumi.Output.json_dumps(
                permissions.pod_trust(environment.cluster.name, namespace, service_account)
            ),
            tags=tags(environment, f"{environment.cluster.name}-{service_account}"),
            opts=child,
        )
        allowed = aws.iam.RolePolicy(
            f"{name}-policy",
            role=self.role.name,
            policy=pulumi.Output.json_dumps(pulumi.Output.from_input(statements).apply(policy)),
            opts=child,
        )
        self.association = aws.eks.PodIdentityAssociation(
            f"{name}-association",
            cluster_name=cluster,
            namespace=namespace,
            service_account=service_account,
            role_arn=self.role.arn,
            tags=tags(environment, f"{environment.cluster.name}-{service_account}"),
            # With the role alone, pods would start and be refused.
            opts=pulumi.ResourceOptions(parent=self, depends_on=[allowed]),
        )
        self.register_outputs({"role": self.role.arn})
