"""The Ray operator."""

import pulumi
from pulumi_kubernetes.apps.v1 import Deployment, DeploymentSpecArgs, DeploymentStrategyArgs
from pulumi_kubernetes.core.v1 import (
    CapabilitiesArgs,
    ContainerArgs,
    ContainerPortArgs,
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

from components.charts import installed
from components.component import Component
from components.namespaces import namespace
from components.placement import beside_gpus
from components.sources import SourceError, Sources, documents
from model.chart_values import BATCH_SCHEDULERS
from model.environment import Environment
from model.namespaces import RAY
from model.releases import Upstream

APP = "kuberay-operator"
_RBAC = "rbac.authorization.k8s.io"
# 500 MB hold about 500 Ray pods (the operator's own manager.yaml), and 100m of a core starves it well before that.
_RESOURCES = ResourceRequirementsArgs(requests={"cpu": "500m", "memory": "1Gi"}, limits={"memory": "1Gi"})
_ROLE = "rbac/role.yaml"


@pulumi.type_token("gangline:index:RayOperator")
class RayOperator(Component):
    """KubeRay's operator, told of the batch scheduler.

    From its chart, or from the manifests of its repository (the folder `ray-operator/config`), whichever the source
    is. Without `--batch-scheduler` the queue label of a Ray cluster would do nothing; Kueue needs none, as it holds
    back the cluster itself. The kinds PodGroup and RayCluster must exist before: make it depend on the definitions and
    on the scheduler.
    """

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        upstream: Upstream,
        sources: Sources,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"version": upstream.version}, opts)
        own = namespace(f"{name}-namespace", RAY, "baseline", pulumi.ResourceOptions(parent=self))
        self._environment = environment
        self._inside = pulumi.ResourceOptions(parent=self, depends_on=[own])
        folder = sources.folder(upstream)
        published = upstream.source.startswith(("https://", "oci://"))
        if published if folder is None else (folder / "Chart.yaml").is_file():
            self._release(name, upstream, sources)
        else:
            self._manifests(name, upstream, sources)
        self.register_outputs({})

    def _release(self, name: str, upstream: Upstream, sources: Sources) -> None:
        affinity, tolerations = beside_gpus(self._environment)
        repository, _, tag = upstream.images["operator"].rpartition(":")
        installed(
            f"{name}-release",
            APP,
            namespace=RAY,
            upstream=upstream,
            sources=sources,
            values={
                "image": {"repository": repository, "tag": tag},
                "batchScheduler": {"name": BATCH_SCHEDULERS[self._environment.scheduler.kind]},
                "resources": _RESOURCES,
                "tolerations": tolerations,
                **({"affinity": affinity} if affinity else {}),
            },
            opts=self._inside,
        )

    def _manifests(self, name: str, upstream: Upstream, sources: Sources) -> None:
        account = ServiceAccount(f"{name}-account", metadata=ObjectMetaArgs(name=APP, namespace=RAY), opts=self._inside)
        subject = SubjectArgs(kind="ServiceAccount", name=APP, namespace=RAY)
        role = ClusterRole(
            f"{name}-role", metadata=ObjectMetaArgs(name=APP), rules=_rules(upstream, sources), opts=self._inside
        )
        binding = ClusterRoleBinding(
            f"{name}-binding",
            metadata=ObjectMetaArgs(name=APP),
            role_ref=RoleRefArgs(api_group=_RBAC, kind="ClusterRole", name=APP),
            subjects=[subject],
            opts=pulumi.ResourceOptions(parent=self, depends_on=[role]),
        )
        election = f"{APP}-leader-election"
        lease = Role(
            f"{name}-election-role",
            metadata=ObjectMetaArgs(name=election, namespace=RAY),
            rules=[
                PolicyRuleArgs(
                    api_groups=["coordination.k8s.io"], resources=["leases"], verbs=["create", "get", "list", "update"]
                ),
                PolicyRuleArgs(api_groups=[""], resources=["events"], verbs=["create"]),
            ],
            opts=self._inside,
        )
        election_binding = RoleBinding(
            f"{name}-election-binding",
            metadata=ObjectMetaArgs(name=election, namespace=RAY),
            role_ref=RoleRefArgs(api_group=_RBAC, kind="Role", name=election),
            subjects=[subject],
            opts=pulumi.ResourceOptions(parent=self, depends_on=[lease]),
        )
        self._deployment(
            name,
            upstream,
            account,
            pulumi.ResourceOptions(parent=self, depends_on=[binding, election_binding]),
        )

    def _deployment(self, name: str, upstream: Upstream, account: ServiceAccount, opts: pulumi.ResourceOptions) -> None:
        affinity, tolerations = beside_gpus(self._environment)
        labels = {"app.kubernetes.io/name": APP}
        batch = BATCH_SCHEDULERS[self._environment.scheduler.kind]
        alive = ProbeArgs(
            http_get=HTTPGetActionArgs(path="/metrics", port="http"), initial_delay_seconds=10, failure_threshold=5
        )
        Deployment(
            f"{name}-deployment",
            metadata=ObjectMetaArgs(name=APP, namespace=RAY, labels=labels),
            spec=DeploymentSpecArgs(
                replicas=1,
                strategy=DeploymentStrategyArgs(type="Recreate"),
                selector=LabelSelectorArgs(match_labels=labels),
                template=PodTemplateSpecArgs(
                    metadata=ObjectMetaArgs(labels=labels),
                    spec=PodSpecArgs(
                        service_account_name=account.metadata.name,
                        security_context=PodSecurityContextArgs(
                            run_as_non_root=True, seccomp_profile=SeccompProfileArgs(type="RuntimeDefault")
                        ),
                        affinity=affinity,
                        tolerations=tolerations,
                        containers=[
                            ContainerArgs(
                                name=APP,
                                image=upstream.images["operator"],
                                image_pull_policy="IfNotPresent",
                                command=["/manager"],
                                args=[f"--batch-scheduler={batch}"] if batch else [],
                                ports=[ContainerPortArgs(name="http", container_port=8080)],
                                liveness_probe=alive,
                                readiness_probe=alive,
                                security_context=SecurityContextArgs(
                                    allow_privilege_escalation=False,
                                    read_only_root_filesystem=True,
                                    capabilities=CapabilitiesArgs(drop=["ALL"]),
                                ),
                                resources=_RESOURCES,
                            )
                        ],
                    ),
                ),
            ),
            opts=opts,
        )


def _rules(upstream: Upstream, sources: Sources) -> list[PolicyRuleArgs]:
    """Give the operator's permissions: its own manifest's, which change with its version, and Volcano's groups.

    The manifest leaves out PodGroups, which the chart adds when a batch scheduler is chosen; so does this.
    """
    groups = PolicyRuleArgs(
        api_groups=["scheduling.volcano.sh"],
        resources=["podgroups"],
        verbs=["create", "delete", "get", "list", "update", "watch"],
    )
    folder = sources.folder(upstream)
    if folder is None:
        return [groups]
    file = folder / _ROLE
    if not file.is_file():
        raise SourceError(
            f"{upstream.product}: {upstream.source} is neither a chart (Chart.yaml) "
            f"nor the operator's manifests ({_ROLE})"
        )
    own = [
        PolicyRuleArgs(
            api_groups=rule["apiGroups"],
            resources=rule["resources"],
            resource_names=rule.get("resourceNames"),
            verbs=rule["verbs"],
        )
        for role in documents(file)
        if role["kind"] == "ClusterRole"
        for rule in role["rules"]
    ]
    return [*own, groups]
