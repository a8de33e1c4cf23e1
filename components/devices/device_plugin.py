"""The NVIDIA device plugin, which tells each kubelet what it has of GPUs."""

from collections.abc import Iterable

import pulumi
import yaml
from pulumi_kubernetes.apps.v1 import DaemonSet
from pulumi_kubernetes.core.v1 import ConfigMap, ContainerArgs, ResourceRequirementsArgs, VolumeMountArgs

from components.component import Component
from components.devices.agent import agent, host_path
from components.devices.configuration import configuration, volume
from components.devices.gpu_clients import PLUGIN
from components.devices.plan import CONFIG_MOUNT, FILE, MPS_MOUNTS, mps_volumes, privileges, variables
from model.devices import Plan
from model.environment import Environment
from model.releases import Upstream

APP = "nvidia-device-plugin"
_KUBELET = "/var/lib/kubelet/device-plugins"


@pulumi.type_token("gangline:index:DevicePlugin")
class DevicePlugin(Component):
    """One DaemonSet per pool, with the file of the pool's sharing plan.

    The plugin decides per node, and on an existing cluster nobody may label nodes for it: the pools' own label selects
    the plan. So there is no default that a forgotten label could fall back to. And a pool that gets another plan keeps
    its DaemonSet: of two plugins on a node, the one that ends removes the socket of the other.

    Attributes:
        configurations: The file of each plan, by the plan's name. The other agents of the plan read the same.
    """

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        plans: Iterable[Plan],
        upstream: Upstream,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"version": upstream.version}, opts)
        self.configurations: dict[str, ConfigMap] = {}
        for plan in plans:
            self.configurations[plan.name] = configuration(
                f"{name}-{plan.name}-config",
                f"{APP}-{plan.name}",
                FILE,
                yaml.safe_dump(plan.configuration, sort_keys=False),
                opts=pulumi.ResourceOptions(parent=self),
            )
            for pool in plan.pools:
                self._pool(f"{name}-{pool}", pool, plan, environment, upstream)
        self.register_outputs({"plans": {plan.name: list(plan.pools) for plan in plans}})

    def _pool(self, name: str, pool: str, plan: Plan, environment: Environment, upstream: Upstream) -> DaemonSet:
        container = ContainerArgs(
            name=APP,
            image=upstream.images["plugin"],
            image_pull_policy="IfNotPresent",
            command=["nvidia-device-plugin"],
            env=variables(plan),
            security_context=privileges(plan),
            resources=ResourceRequirementsArgs(requests={"cpu": "50m", "memory": "128Mi"}, limits={"memory": "256Mi"}),
            volume_mounts=[
                VolumeMountArgs(name="kubelet", mount_path=_KUBELET),
                CONFIG_MOUNT,
                # It advertises nothing before the control daemon has answered.
                *(MPS_MOUNTS if plan.mps else ()),
            ],
        )
        return agent(
            name,
            APP,
            part=pool,
            environment=environment,
            pools=[pool],
            container=container,
            volumes=[
                host_path("kubelet", _KUBELET, "Directory"),
                volume("config", self.configurations[plan.name]),
                *(mps_volumes() if plan.mps else ()),
            ],
            gives_way_as=PLUGIN if plan.layout else None,
            opts=pulumi.ResourceOptions(parent=self),
        )
