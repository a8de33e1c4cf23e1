"""GPU feature discovery: node labels that say which GPUs a node has, and how they are shared."""

from collections.abc import Iterable, Mapping

import pulumi
from pulumi_kubernetes.core.v1 import ConfigMap, ContainerArgs, ResourceRequirementsArgs, VolumeMountArgs

from components.component import Component
from components.devices.agent import administering, agent, host_path
from components.devices.configuration import volume
from components.devices.gpu_clients import FEATURE_DISCOVERY
from components.devices.node_features import FEATURES
from components.devices.plan import CONFIG_MOUNT, variables
from model.devices import Plan
from model.environment import Environment
from model.releases import Upstream

APP = "gpu-feature-discovery"


@pulumi.type_token("gangline:index:FeatureDiscovery")
class FeatureDiscovery(Component):
    """One DaemonSet per pool whose GPUs are shared, with the same file as the pool's device plugin.

    It writes what it finds into a folder of the node, from which node feature discovery takes it. It could write to
    the API server itself, but with a token that may put labels on every node; so it has none.
    """

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        plans: Iterable[Plan],
        configurations: Mapping[str, ConfigMap],
        upstream: Upstream,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"version": upstream.version}, opts)
        for plan in plans:
            container = ContainerArgs(
                name=APP,
                image=upstream.images["plugin"],
                image_pull_policy="IfNotPresent",
                command=[APP],
                env=variables(plan, USE_NODE_FEATURE_API="false"),
                # It reads the whole configuration space of the GPUs, to tell virtual from physical ones, and gives up
                # where the kernel shows it the first 64 bytes only. Upstream's privileged container is not needed for
                # that: drivers/pci/pci-sysfs.c asks for CAP_SYS_ADMIN.
                security_context=administering(),
                resources=ResourceRequirementsArgs(
                    requests={"cpu": "10m", "memory": "64Mi"}, limits={"memory": "256Mi"}
                ),
                volume_mounts=[
                    CONFIG_MOUNT,
                    VolumeMountArgs(name="features", mount_path=FEATURES),
                    VolumeMountArgs(name="sys", mount_path="/sys", read_only=True),
                ],
            )
            volumes = [
                volume("config", configurations[plan.name]),
                host_path("features", FEATURES, "DirectoryOrCreate"),
                host_path("sys", "/sys", "Directory"),
            ]
            for pool in plan.pools:
                agent(
                    f"{name}-{pool}",
                    APP,
                    part=pool,
                    environment=environment,
                    pools=[pool],
                    container=container,
                    volumes=volumes,
                    gives_way_as=FEATURE_DISCOVERY if plan.layout else None,
                    opts=pulumi.ResourceOptions(parent=self),
                )
        self.register_outputs({})
