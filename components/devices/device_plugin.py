"""The NVIDIA device plugin, which tells each kubelet how many GPUs it has."""

import hashlib

import pulumi
import yaml
from pulumi_kubernetes.apps.v1 import DaemonSet
from pulumi_kubernetes.core.v1 import (
    ConfigMap,
    ConfigMapVolumeSourceArgs,
    ContainerArgs,
    EnvVarArgs,
    ResourceRequirementsArgs,
    VolumeArgs,
    VolumeMountArgs,
)
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.component import Component
from components.devices.agent import NAMESPACE, agent, host_path, restricted
from model import devices
from model.devices import Plan
from model.environment import Environment
from model.releases import Upstream

APP = "nvidia-device-plugin"
_KUBELET = "/var/lib/kubelet/device-plugins"
_CONFIG = "/config"
_FILE = "config.yaml"


@pulumi.type_token("gangline:index:DevicePlugin")
class DevicePlugin(Component):
    """One DaemonSet per sharing plan, each on the pools that have that plan.

    The plugin decides per node, and on an existing cluster nobody may label nodes for it: the pools' own label selects
    the plan. So a plan has no default that a forgotten label could fall back to.
    """

    def __init__(
        self, name: str, *, environment: Environment, upstream: Upstream, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, {"version": upstream.version}, opts)
        plans = devices.plans(environment)
        for plan in plans:
            self._plan(f"{name}-{plan.name}", plan, environment, upstream)
        self.register_outputs({"plans": {plan.name: list(plan.pools) for plan in plans}})

    def _plan(self, name: str, plan: Plan, environment: Environment, upstream: Upstream) -> DaemonSet:
        text = yaml.safe_dump(plan.configuration, sort_keys=False)
        # The plugin reads its file once. A name that changes with the content makes a change roll the DaemonSet.
        config = ConfigMap(
            f"{name}-config",
            metadata=ObjectMetaArgs(
                name=f"{APP}-{plan.name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}", namespace=NAMESPACE
            ),
            immutable=True,
            data={_FILE: text},
            opts=pulumi.ResourceOptions(parent=self),
        )
        container = ContainerArgs(
            name=APP,
            image=upstream.images["plugin"],
            image_pull_policy="IfNotPresent",
            command=["nvidia-device-plugin"],
            env=[
                EnvVarArgs(name="CONFIG_FILE", value=f"{_CONFIG}/{_FILE}"),
                # It asks for no GPU, so the container runtime would hide them all from it.
                EnvVarArgs(name="NVIDIA_VISIBLE_DEVICES", value="all"),
                EnvVarArgs(name="NVIDIA_DRIVER_CAPABILITIES", value="compute,utility"),
            ],
            security_context=restricted(root=True),
            resources=ResourceRequirementsArgs(requests={"cpu": "50m", "memory": "128Mi"}, limits={"memory": "256Mi"}),
            volume_mounts=[
                VolumeMountArgs(name="kubelet", mount_path=_KUBELET),
                VolumeMountArgs(name="config", mount_path=_CONFIG, read_only=True),
            ],
        )
        return agent(
            name,
            f"{APP}-{plan.name}",
            environment=environment,
            pools=plan.pools,
            container=container,
            volumes=[
                host_path("kubelet", _KUBELET, "Directory"),
                VolumeArgs(name="config", config_map=ConfigMapVolumeSourceArgs(name=config.metadata.name)),
            ],
            opts=pulumi.ResourceOptions(parent=self),
        )
