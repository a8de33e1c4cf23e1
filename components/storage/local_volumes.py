"""The disks of nodes as volumes: SIG Storage's static provisioner."""

import pulumi
import yaml
from pulumi_kubernetes.core.v1 import (
    CapabilitiesArgs,
    ContainerArgs,
    EnvVarArgs,
    EnvVarSourceArgs,
    ObjectFieldSelectorArgs,
    ResourceRequirementsArgs,
    SecurityContextArgs,
    ServiceAccount,
    VolumeMountArgs,
)
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs
from pulumi_kubernetes.rbac.v1 import ClusterRole, ClusterRoleBinding, PolicyRuleArgs, RoleRefArgs, SubjectArgs

from components.component import Component
from components.devices.agent import agent, host_path
from components.devices.configuration import configuration, volume
from model.environment import Environment
from model.namespaces import AGENTS
from model.releases import Upstream
from model.storage import disks
from model.storage.classes import SCRATCH
from model.storage.scratch import Local

APP = "local-volume-provisioner"
_RBAC = "rbac.authorization.k8s.io"
_CONFIG = "/etc/provisioner/config"
# Of Kubernetes' own making: volumes, claims, classes and events, as a provisioner needs them.
_PROVISIONER = "system:persistent-volume-provisioner"


@pulumi.type_token("gangline:index:LocalVolumes")
class LocalVolumes(Component):
    """On each node with scratch, what makes a volume of every disk, and empties it for the next claim.

    A volume belongs to its node and goes with it.
    """

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        scratch: Local,
        upstream: Upstream,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"version": upstream.version}, opts)
        child = pulumi.ResourceOptions(parent=self)
        account, bindings = self._rights(name)
        # By the node's name alone: a node that is made anew under its name has the same disks.
        settings = {"useNodeNameOnly": "true", "setPVOwnerRef": "true"}
        classes = {SCRATCH: {"hostDir": scratch.path, "mountDir": scratch.path, "volumeMode": "Filesystem"}}
        file = configuration(f"{name}-classes", APP, "storageClassMap", yaml.safe_dump(classes), child, more=settings)
        agent(
            f"{name}-daemonset",
            APP,
            environment=environment,
            pools=disks.pools(environment),
            container=ContainerArgs(
                name=APP,
                image=upstream.images["provisioner"],
                image_pull_policy="IfNotPresent",
                env=[
                    _of_pod("MY_NODE_NAME", "spec.nodeName"),
                    _of_pod("MY_NAMESPACE", "metadata.namespace"),
                ],
                security_context=SecurityContextArgs(
                    allow_privilege_escalation=False,
                    read_only_root_filesystem=True,
                    # It deletes the files of whoever had the disk before.
                    capabilities=CapabilitiesArgs(drop=["ALL"], add=["DAC_OVERRIDE", "FOWNER"]),
                ),
                resources=ResourceRequirementsArgs(
                    requests={"cpu": "10m", "memory": "64Mi"}, limits={"memory": "256Mi"}
                ),
                volume_mounts=[
                    VolumeMountArgs(name="classes", mount_path=_CONFIG, read_only=True),
                    # Disks that are mounted later are seen, too.
                    VolumeMountArgs(name="disks", mount_path=scratch.path, mount_propagation="HostToContainer"),
                ],
            ),
            volumes=[volume("classes", file), host_path("disks", scratch.path, "DirectoryOrCreate")],
            service_account=account.metadata.name,
            opts=pulumi.ResourceOptions(parent=self, depends_on=bindings),
        )
        self.register_outputs({})

    def _rights(self, name: str) -> tuple[ServiceAccount, list[ClusterRoleBinding]]:
        child = pulumi.ResourceOptions(parent=self)
        account = ServiceAccount(f"{name}-account", metadata=ObjectMetaArgs(name=APP, namespace=AGENTS), opts=child)
        nodes = ClusterRole(
            f"{name}-role",
            metadata=ObjectMetaArgs(name=f"{APP}-nodes"),
            rules=[PolicyRuleArgs(api_groups=[""], resources=["nodes"], verbs=["get"])],
            opts=child,
        )
        bindings = [
            ClusterRoleBinding(
                f"{name}-{part}",
                metadata=ObjectMetaArgs(name=f"{APP}-{part}"),
                role_ref=RoleRefArgs(api_group=_RBAC, kind="ClusterRole", name=role),
                subjects=[SubjectArgs(kind="ServiceAccount", name=APP, namespace=AGENTS)],
                opts=pulumi.ResourceOptions(parent=self, depends_on=[nodes]),
            )
            for part, role in (("volumes", _PROVISIONER), ("nodes", f"{APP}-nodes"))
        ]
        return account, bindings


def _of_pod(variable: str, field: str) -> EnvVarArgs:
    source = EnvVarSourceArgs(field_ref=ObjectFieldSelectorArgs(field_path=field))
    return EnvVarArgs(name=variable, value_from=source)
