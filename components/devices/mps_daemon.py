"""The MPS control daemon, under which containers use a GPU at the same time."""

from collections.abc import Iterable, Mapping

import pulumi
from pulumi_kubernetes.core.v1 import (
    ConfigMap,
    ContainerArgs,
    ResourceRequirementsArgs,
    SecurityContextArgs,
    VolumeMountArgs,
)

from components.component import Component
from components.devices.agent import agent
from components.devices.configuration import volume
from components.devices.plan import CONFIG_MOUNT, MPS_MOUNTS, mps_volumes, variables
from model.devices import Plan
from model.environment import Environment
from model.releases import Upstream

APP = "nvidia-mps-control-daemon"
_PROGRAM = "mps-control-daemon"


@pulumi.type_token("gangline:index:MpsDaemon")
class MpsDaemon(Component):
    """One DaemonSet per MPS pool, with the same file as the pool's device plugin.

    Upstream's chart selects nodes by a label that GPU feature discovery writes once it has seen the configuration: a
    node that was labelled late has a plugin that waits for a daemon. Here the pool selects, as for all agents.

    It is privileged, as upstream's is (https://github.com/NVIDIA/k8s-device-plugin v0.20.0, deployments/helm): it sets
    the compute mode of the GPUs, mounts the shared memory of all clients on the node, and sees the processes of the
    node, by whose ids the driver knows the clients.
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
        image = upstream.images["plugin"]
        privileged = SecurityContextArgs(privileged=True)
        # No limit of memory: the servers of all clients run in this container, and one that is ended ends them all.
        resources = ResourceRequirementsArgs(requests={"cpu": "50m", "memory": "128Mi"})
        prepare = ContainerArgs(
            name="shared-memory",
            image=image,
            image_pull_policy="IfNotPresent",
            command=[_PROGRAM, "mount-shm"],
            security_context=privileged,
            resources=resources,
            # The mount must be there for the containers that come after it, which bind it from the node.
            volume_mounts=[VolumeMountArgs(name="mps-root", mount_path="/mps", mount_propagation="Bidirectional")],
        )
        for plan in plans:
            container = ContainerArgs(
                name=APP,
                image=image,
                image_pull_policy="IfNotPresent",
                command=[_PROGRAM],
                env=variables(plan),
                security_context=privileged,
                resources=resources,
                volume_mounts=[CONFIG_MOUNT, *MPS_MOUNTS],
            )
            for pool in plan.pools:
                agent(
                    f"{name}-{pool}",
                    APP,
                    part=pool,
                    environment=environment,
                    pools=[pool],
                    init=prepare,
                    container=container,
                    volumes=[volume("config", configurations[plan.name]), *mps_volumes()],
                    host_pid=True,
                    opts=pulumi.ResourceOptions(parent=self),
                )
        self.register_outputs({})
