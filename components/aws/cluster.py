"""The control plane: EKS, who may enter, and what keeps its secrets."""

import json

import pulumi
import pulumi_aws as aws

from components.aws.network import Network
from components.component import Component
from model.aws import permanent, region, tags
from model.aws.partitions import partition
from model.aws.shape import Access
from model.aws.statements import policy
from model.environment import Environment

LOG_DAYS = 90
_LOGS = ["audit", "authenticator"]
_POLICIES = {
    "cluster-admin": "AmazonEKSClusterAdminPolicy",
    "admin": "AmazonEKSAdminPolicy",
    "edit": "AmazonEKSEditPolicy",
    "view": "AmazonEKSViewPolicy",
}
"""EKS's own access policies (https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html)."""
_NODE_POLICIES = ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly")
"""What a node needs. The CNI and drivers have roles of their own
(https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html)."""


def trust(service: str, *actions: str) -> str:
    """Give the trust policy by which a service of AWS takes on a role.

    Args:
        service: Such as `ec2.amazonaws.com`.
        actions: What it does; `sts:AssumeRole` when left out.
    """
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": list(actions) or ["sts:AssumeRole"],
    }
    return json.dumps(policy([statement]))


@pulumi.type_token("gangline:index:Cluster")
class Cluster(Component):
    """A control plane whose API only knows IAM, and whose secrets are kept under a key of its own.

    Attributes:
        name: The cluster's name, once it is there.
        arn: Its ARN.
        endpoint: Address of its API.
        authority: Certificate of its authority, in base64.
        security_group_id: The security group that EKS made for it and its nodes.
        node_role: The role of nodes of managed groups.
        kubeconfig: How it is reached, as JSON; secret.
    """

    def __init__(self, name: str, *, environment: Environment, network: Network, opts: pulumi.ResourceOptions) -> None:
        """Args: name: logical name; environment: the document; network: its network; opts: with the AWS provider."""
        declared = environment.cluster
        super().__init__(name, {"cluster": declared.model_dump(mode="json", by_alias=True, exclude_unset=True)}, opts)
        self._name = name
        self._environment = environment
        self._called = declared.name
        keep = permanent(environment)
        key = self._key(keep)
        logs = aws.cloudwatch.LogGroup(
            f"{name}-logs",
            # EKS would make it itself, and keep it for ever.
            name=f"/aws/eks/{declared.name}/cluster",
            retention_in_days=LOG_DAYS,
            tags=tags(environment, f"{declared.name}-logs"),
            opts=pulumi.ResourceOptions(parent=self),
        )
        role, attached = self.role("role", "eks.amazonaws.com", ("AmazonEKSClusterPolicy",))
        cluster = aws.eks.Cluster(
            f"{name}-eks",
            name=declared.name,
            version=declared.kubernetes,
            role_arn=role.arn,
            access_config=aws.eks.ClusterAccessConfigArgs(
                authentication_mode="API",
                # Whoever makes the cluster must get in, to make the rest.
                bootstrap_cluster_creator_admin_permissions=True,
            ),
            # Add-ons are made by name and version.
            bootstrap_self_managed_addons=False,
            vpc_config=aws.eks.ClusterVpcConfigArgs(
                subnet_ids=[network.private[zone] for zone in declared.zones],
                endpoint_private_access=True,
                endpoint_public_access=bool(declared.public_access_cidrs),
                public_access_cidrs=list(declared.public_access_cidrs) or None,
            ),
            encryption_config=aws.eks.ClusterEncryptionConfigArgs(
                provider=aws.eks.ClusterEncryptionConfigProviderArgs(key_arn=key.arn), resources=["secrets"]
            ),
            enabled_cluster_log_types=_LOGS,
            # Without it AWS takes a cluster to the next version at the end of support, under running jobs.
            upgrade_policy=aws.eks.ClusterUpgradePolicyArgs(support_type="EXTENDED"),
            deletion_protection=keep,
            tags=tags(environment, declared.name),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[*attached, logs], protect=keep),
        )
        self.name = cluster.name
        self.arn = cluster.arn
        self.endpoint = cluster.endpoint
        self.authority = cluster.certificate_authority.apply(lambda found: str(found.data))
        self.security_group_id = cluster.vpc_config.apply(lambda found: str(found.cluster_security_group_id))
        self.kubeconfig = self._kubeconfig()
        for who, access in declared.access.items():
            self._enter(who, access)
        self.node_role, _ = self.role("node-role", partition(region(environment)).instances, _NODE_POLICIES)
        self.register_outputs({"name": self.name, "arn": self.arn, "endpoint": self.endpoint})

    def role(
        self, what: str, service: str, policies: tuple[str, ...]
    ) -> tuple[aws.iam.Role, list[aws.iam.RolePolicyAttachment]]:
        """Make a role that a service of AWS takes on, with policies of AWS's own."""
        role = aws.iam.Role(
            f"{self._name}-{what}",
            assume_role_policy=trust(service),
            tags=tags(self._environment, f"{self._called}-{what}"),
            opts=pulumi.ResourceOptions(parent=self),
        )
        attached = [
            aws.iam.RolePolicyAttachment(
                f"{self._name}-{what}-{policy}",
                role=role.name,
                policy_arn=partition(region(self._environment)).policy(policy),
                opts=pulumi.ResourceOptions(parent=self),
            )
            for policy in policies
        ]
        return role, attached

    def _key(self, keep: bool) -> aws.kms.Key:
        key = aws.kms.Key(
            f"{self._name}-key",
            description=f"Secrets of the cluster {self._called}",
            enable_key_rotation=True,
            deletion_window_in_days=30 if keep else 7,
            tags=tags(self._environment, f"{self._called}-secrets"),
            opts=pulumi.ResourceOptions(parent=self, protect=keep),
        )
        aws.kms.Alias(
            f"{self._name}-key-alias",
            name=f"alias/{self._called}-secrets",
            target_key_id=key.key_id,
            opts=pulumi.ResourceOptions(parent=self),
        )
        return key

    def _enter(self, who: str, access: Access) -> None:
        entry = aws.eks.AccessEntry(
            f"{self._name}-access-{who}",
            cluster_name=self.name,
            principal_arn=access.principal,
            kubernetes_groups=list(access.groups),
            type="STANDARD",
            tags=tags(self._environment, f"{self._called}-{who}"),
            opts=pulumi.ResourceOptions(parent=self),
        )
        if access.policy is not None:
            aws.eks.AccessPolicyAssociation(
                f"{self._name}-access-{who}-policy",
                cluster_name=self.name,
                principal_arn=entry.principal_arn,
                policy_arn=partition(region(self._environment)).access(_POLICIES[access.policy]),
                access_scope=aws.eks.AccessPolicyAssociationAccessScopeArgs(type="cluster"),
                opts=pulumi.ResourceOptions(parent=self),
            )

    def _kubeconfig(self) -> pulumi.Output[str]:
        """Give the way to the cluster: tokens are asked for at each connection and never kept."""
        called, place = self._called, region(self._environment)
        arguments = ["--region", place, "eks", "get-token", "--cluster-name", called, "--output", "json"]
        user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "aws", "args": arguments}}
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": called,
            "clusters": [
                {
                    "name": called,
                    "cluster": {"server": self.endpoint, "certificate-authority-data": self.authority},
                }
            ],
            "contexts": [{"name": called, "context": {"cluster": called, "user": called}}],
            "users": [{"name": called, "user": user}],
        }
        return pulumi.Output.secret(pulumi.Output.json_dumps(document))
