"""The MIG manager, which cuts the GPUs of a node into the instances that the node's label asks for."""

from collections.abc import Iterable, Mapping
from typing import Any

import pulumi
import yaml
from pulumi_kubernetes.core.v1 import (
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

APP = "nvidia-mig-manager"
_RBAC = "rbac.authorization.k8s.io"
_LAYOUTS, _CLIENTS, _HOST = "/mig-parted-config", "/gpu-clients", "/host"

_HOST_CLIENTS = {
    # Services of the node's own that hold GPUs open, where there are any. Source: https://github.com/NVIDIA/gpu-operator
    # v26.7.0, assets/state-mig-manager.
    "version": "v1",
    "systemd-services": [
        "nvsm.service",
        "nvsm-mqtt.service",
        "nvsm-core.service",
        "nvsm-api-gateway.service",
        "nvsm-notifier.service",
        "nv_peer_mem.service",
        "nvidia-dcgm.service",
        "dcgm.service",
        "dcgm-exporter.service",
    ],
}


@pulumi.type_token("gangline:index:MigManager")
class MigManager(Component):
    """One DaemonSet on all pools whose GPUs are cut.

    It is privileged and sees the whole node, as upstream's is (https://github.com/NVIDIA/mig-parted v0.15.0,
    deployments/container): the driver is the node's own, so it runs its program there, after it has stopped the
    services that hold GPUs open, the kubelet among them where GPUs change into or out of MIG mode.

    Upstream's example gives it every right on every object. It needs to read and label nodes, and to list pods, which
    it waits for; other objects it only makes where it writes its own configuration.
    """

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        pools: Iterable[str],
        layouts: Mapping[str, Any],
        upstream: Upstream,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"version": upstream.version}, opts)
        child = pulumi.ResourceOptions(parent=self)
        account, binding = self._rights(name)
        layouts_text, clients_text = (yaml.safe_dump(dict(it), sort_keys=False) for it in (layouts, _HOST_CLIENTS))
        layouts_file = configuration(f"{name}-layouts", f"{APP}-layouts", "config.yaml", layouts_text, child)
        clients_file = configuration(f"{name}-clients", f"{APP}-clients", "clients.yaml", clients_text, child)
        settings = {
            "CONFIG_FILE": f"{_LAYOUTS}/config.yaml",
            "GPU_CLIENTS_FILE": f"{_CLIENTS}/clients.yaml",
            "DEFAULT_GPU_CLIENTS_NAMESPACE": AGENTS,
            "HOST_ROOT_MOUNT": _HOST,
            "WITH_SHUTDOWN_HOST_GPU_CLIENTS": "true",
        }
        agent(
            f"{name}-daemonset",
            APP,
            environment=environment,
            pools=pools,
            container=ContainerArgs(
                name=APP,
                image=upstream.images["manager"],
                image_pull_policy="IfNotPresent",
                command=[APP],
                env=[
                    EnvVarArgs(
                        name="NODE_NAME",
                        value_from=EnvVarSourceArgs(field_ref=ObjectFieldSelectorArgs(field_path="spec.nodeName")),
                    ),
                    *(EnvVarArgs(name=key, value=value) for key, value in settings.items()),
                ],
                security_context=SecurityContextArgs(privileged=True),
                resources=ResourceRequirementsArgs(
                    requests={"cpu": "10m", "memory": "64Mi"}, limits={"memory": "512Mi"}
                ),
                volume_mounts=[
                    VolumeMountArgs(name="layouts", mount_path=_LAYOUTS, read_only=True),
                    VolumeMountArgs(name="clients", mount_path=_CLIENTS, read_only=True),
                    VolumeMountArgs(name="sys", mount_path="/sys"),
                    VolumeMountArgs(name="host", mount_path=_HOST, mount_propagation="HostToContainer"),
                ],
            ),
            volumes=[
                volume("layouts", layouts_file),
                volume("clients", clients_file),
                host_path("sys", "/sys", "Directory"),
                host_path("host", "/", "Directory"),
            ],
            service_account=account.metadata.name,
            host_pid=True,
            host_ipc=True,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[binding]),
        )
        self.register_outputs({})

    def _rights(self, name: str) -> tuple[ServiceAccount, ClusterRoleBinding]:
        child = pulumi.ResourceOptions(parent=self)
        account = ServiceAccount(f"{name}-account", metadata=ObjectMetaArgs(name=APP, namespace=AGENTS), opts=child)
        role = ClusterRole(
            f"{name}-role",
            metadata=ObjectMetaArgs(name=APP),
            rules=[
                PolicyRuleArgs(api_groups=[""], resources=["nodes"], verbs=["get", "list", "patch", "watch"]),
                PolicyRuleArgs(api_groups=[""], resources=["pods"], verbs=["list"]),
            ],
            opts=child,
        )
        binding = ClusterRoleBinding(
            f"{name}-binding",
            metadata=ObjectMetaArgs(name=APP),
            role_ref=RoleRefArgs(api_group=_RBAC, kind="ClusterRole", name=APP),
            subjects=[SubjectArgs(kind="ServiceAccount", name=APP, namespace=AGENTS)],
            opts=pulumi.ResourceOptions(parent=self, depends_on=[role]),
        )
        return account, binding
