"""A team on the cluster."""

from collections.abc import Mapping

import pulumi
from pulumi_kubernetes.core.v1 import Namespace, ResourceQuota, ResourceQuotaSpecArgs
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs
from pulumi_kubernetes.rbac.v1 import RoleBinding, RoleRefArgs, SubjectArgs

from components.component import Component
from model import queue_labels, tenants
from model.environment import Environment
from model.storage import claims
from model.tenants import Tenant as Declared


@pulumi.type_token("gangline:index:Tenant")
class Tenant(Component):
    """The namespaces of a team, with a ceiling on what each may request and the team's groups bound to roles in it."""

    namespaces: dict[str, Namespace]
    """Namespaces by name."""

    def __init__(
        self, name: str, *, environment: Environment, tenant: str, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, {"tenant": tenant}, opts)
        declared = environment.tenants[tenant]
        hard = tenants.hard(declared) | claims.hard(environment, tenant)
        # What is claimed in a namespace goes with it, and the volume's class may delete the data then.
        kept = claims.kept(environment)
        self.namespaces = {}
        for namespace in declared.namespaces:
            made = Namespace(
                f"{name}-{namespace}",
                metadata=ObjectMetaArgs(
                    name=namespace,
                    labels={tenants.LABEL: tenant},
                    annotations=_queues(environment, declared),
                ),
                opts=pulumi.ResourceOptions(parent=self, retain_on_delete=kept),
            )
            self.namespaces[namespace] = made
            inside = pulumi.ResourceOptions(parent=self, depends_on=[made])
            self._quota(f"{name}-{namespace}", namespace, hard, inside)
            self._roles(f"{name}-{namespace}", namespace, declared, inside)
        self.register_outputs({"namespaces": list(self.namespaces)})

    def _quota(self, name: str, namespace: str, hard: Mapping[str, str], opts: pulumi.ResourceOptions) -> None:
        if hard:
            ResourceQuota(
                f"{name}-quota",
                metadata=ObjectMetaArgs(name="tenant", namespace=namespace),
                spec=ResourceQuotaSpecArgs(hard=dict(hard)),
                opts=opts,
            )

    def _roles(self, name: str, namespace: str, declared: Declared, opts: pulumi.ResourceOptions) -> None:
        for role, groups in sorted(declared.groups.items()):
            RoleBinding(
                f"{name}-{role}",
                metadata=ObjectMetaArgs(name=f"tenant-{role}", namespace=namespace),
                role_ref=RoleRefArgs(api_group="rbac.authorization.k8s.io", kind="ClusterRole", name=role),
                subjects=[
                    SubjectArgs(api_group="rbac.authorization.k8s.io", kind="Group", name=group)
                    for group in sorted(groups)
                ],
                opts=opts,
            )


def _queues(environment: Environment, declared: Declared) -> dict[str, str]:
    """Say what workloads may name as their queue, and which is meant where they name none.

    Volcano reads the latter there, and Kueue has a local queue for it.
    """
    said = {tenants.QUEUES: ",".join(tenants.nameable(environment, declared))}
    if declared.default_queue is not None and environment.scheduler.kind == "volcano":
        said[queue_labels.ANNOTATION] = declared.default_queue
    return said
