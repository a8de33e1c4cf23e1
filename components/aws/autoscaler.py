"""The Cluster Autoscaler: sizes of managed node groups, as pods need them."""

import pulumi
from pulumi_kubernetes.apps.v1 import Deployment, DeploymentSpecArgs, DeploymentStrategyArgs
from pulumi_kubernetes.core.v1 import (
    CapabilitiesArgs,
    ContainerArgs,
    ContainerPortArgs,
    EnvVarArgs,
    HTTPGetActionArgs,
    PodSecurityContextArgs,
    PodSpecArgs,
    PodTemplateSpecArgs,
    ProbeArgs,
    ResourceRequirementsArgs,
    SeccompProfileArgs,
    SecurityContextArgs,
    ServiceAccount,
)
from pulumi_kubernetes.meta.v1 import LabelSelectorArgs, ObjectMetaArgs
from pulumi_kubernetes.rbac.v1 import (
    ClusterRole,
    ClusterRoleBinding,
    PolicyRuleArgs,
    Role,
    RoleBinding,
    RoleRefArgs,
    SubjectArgs,
)

from components.aws.identity import PodRole
from components.component import Component
from components.placement import beside_gpus
from model.aws import permissions, region
from model.environment import Environment
from model.releases import Upstream

APP = "cluster-autoscaler"
NAMESPACE = "kube-system"
_TAG = "k8s.io/cluster-autoscaler"
_RBAC = "rbac.authorization.k8s.io"
_READ = ["get", "list", "watch"]
# By API group what it reads of the cluster to foresee where pods would fit
# (https://github.com/kubernetes/autoscaler, cluster-autoscaler/cloudprovider/aws/examples, and the ClusterRole of its
# chart).
_READS = {
    "": [
        "namespaces",
        "nodes",
        "persistentvolumeclaims",
        "persistentvolumes",
        "pods",
        "replicationcontrollers",
        "services",
    ],
    "apps": ["daemonsets", "replicasets", "statefulsets"],
    "batch": ["jobs"],
    "policy": ["poddisruptionbudgets"],
    "storage.k8s.io": ["csidrivers", "csinodes", "csistoragecapacities", "storageclasses", "volumeattachments"],
}


@pulumi.type_token("gangline:index:Autoscaler")
class Autoscaler(Component):
    """The autoscaler of all managed pools with a range.

    It finds their groups by the tags that EKS gives them, and stays within their ranges. A pool that may have no nodes
    at all is known to it by further tags of its group, which stand beside the pool.
    """

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        cluster: pulumi.Input[str],
        arn: pulumi.Input[str],
        upstream: Upstream,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Make it.

        Args:
            name: Logical name.
            environment: The environment.
            cluster: Name of the cluster, from the cluster itself.
            arn: ARN of the cluster.
            upstream: The release, of the cluster's own minor.
            opts: Options, with an AWS and a Kubernetes provider.
        """
        super().__init__(name, {"version": upstream.version}, opts)
        self._name = name
        self._child = pulumi.ResourceOptions(parent=self)
        role = PodRole(
            f"{name}-identity",
            environment=environment,
            cluster=cluster,
            namespace=NAMESPACE,
            service_account=APP,
            statements=pulumi.Output.from_input(arn).apply(
                lambda known: permissions.autoscaler(permissions.scope(known))
            ),
            opts=self._child,
        )
        account = ServiceAccount(
            f"{name}-account", metadata=ObjectMetaArgs(name=APP, namespace=NAMESPACE), opts=self._child
        )
        after = [role, self._cluster_role(), self._own_role()]
        affinity, tolerations = beside_gpus(environment)
        labels = {"app.kubernetes.io/name": APP}
        Deployment(
            f"{name}-deployment",
            metadata=ObjectMetaArgs(name=APP, namespace=NAMESPACE, labels=labels),
            spec=DeploymentSpecArgs(
                replicas=1,
                # Two at once would only wait for each other's lease.
                strategy=DeploymentStrategyArgs(type="Recreate"),
                selector=LabelSelectorArgs(match_labels=labels),
                template=PodTemplateSpecArgs(
                    metadata=ObjectMetaArgs(labels=labels),
                    spec=PodSpecArgs(
                        service_account_name=account.metadata.name,
                        enable_service_links=False,
                        # Without it no node would come for anything that waits, itself included.
                        priority_class_name="system-cluster-critical",
                        affinity=affinity,
                        tolerations=tolerations,
                        security_context=PodSecurityContextArgs(
                            run_as_non_root=True,
                            run_as_user=65534,
                            seccomp_profile=SeccompProfileArgs(type="RuntimeDefault"),
                        ),
                        containers=[_container(environment, upstream)],
                    ),
                ),
            ),
            opts=pulumi.ResourceOptions(parent=self, depends_on=after),
        )
        self.register_outputs({})

    def _cluster_role(self) -> pulumi.Resource:
        role = ClusterRole(
            f"{self._name}-cluster-role",
            metadata=ObjectMetaArgs(name=APP),
            rules=[
                *(_rule(group, kinds, _READ) for group, kinds in _READS.items()),
                # It taints nodes before it ends them, and evicts their pods.
                _rule("", ["nodes"], ["update"]),
                _rule("", ["pods/eviction"], ["create"]),
                _rule("", ["events"], ["create", "patch"]),
            ],
            opts=self._child,
        )
        return ClusterRoleBinding(
            f"{self._name}-cluster-binding",
            metadata=ObjectMetaArgs(name=APP),
            role_ref=RoleRefArgs(api_group=_RBAC, kind="ClusterRole", name=APP),
            subjects=[SubjectArgs(kind="ServiceAccount", name=APP, namespace=NAMESPACE)],
            opts=pulumi.ResourceOptions(parent=self, depends_on=[role]),
        )

    def _own_role(self) -> pulumi.Resource:
        """Its lease and its status, which are in its own namespace."""
        role = Role(
            f"{self._name}-role",
            metadata=ObjectMetaArgs(name=APP, namespace=NAMESPACE),
            rules=[
                _rule("coordination.k8s.io", ["leases"], ["create"]),
                _rule("coordination.k8s.io", ["leases"], ["get", "update"], [APP]),
                _rule("", ["configmaps"], ["create", "list", "watch"]),
                _rule("", ["configmaps"], ["delete", "get", "update"], [f"{APP}-status"]),
            ],
            opts=self._child,
        )
        return RoleBinding(
            f"{self._name}-binding",
            metadata=ObjectMetaArgs(name=APP, namespace=NAMESPACE),
            role_ref=RoleRefArgs(api_group=_RBAC, kind="Role", name=APP),
            subjects=[SubjectArgs(kind="ServiceAccount", name=APP, namespace=NAMESPACE)],
            opts=pulumi.ResourceOptions(parent=self, depends_on=[role]),
        )


def _container(environment: Environment, upstream: Upstream) -> ContainerArgs:
    return ContainerArgs(
        name=APP,
        image=upstream.images["autoscaler"],
        image_pull_policy="IfNotPresent",
        command=["./cluster-autoscaler"],
        args=[
            "--cloud-provider=aws",
            f"--node-group-auto-discovery=asg:tag={_TAG}/enabled,{_TAG}/{environment.cluster.name}",
            # Of several pools that would do, the one that leaves the fewest GPUs and cores idle.
            "--expander=least-waste",
            f"--namespace={NAMESPACE}",
        ],
        env=[EnvVarArgs(name="AWS_REGION", value=region(environment))],
        ports=[ContainerPortArgs(name="http", container_port=8085)],
        liveness_probe=ProbeArgs(
            http_get=HTTPGetActionArgs(path="/health-check", port="http"), initial_delay_seconds=30
        ),
        # It holds all pods and nodes of the cluster; upstream's 600Mi are for some hundred nodes.
        resources=ResourceRequirementsArgs(requests={"cpu": "100m", "memory": "1Gi"}, limits={"memory": "1Gi"}),
        security_context=SecurityContextArgs(
            allow_privilege_escalation=False,
            read_only_root_filesystem=True,
            capabilities=CapabilitiesArgs(drop=["ALL"]),
        ),
    )


def _rule(group: str, kinds: list[str], verbs: list[str], names: list[str] | None = None) -> PolicyRuleArgs:
    return PolicyRuleArgs(api_groups=[group], resources=kinds, verbs=verbs, resource_names=names)
