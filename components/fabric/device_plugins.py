"""The device plugins that tell each kubelet which RDMA devices its node has."""

from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.core.v1 import (
    CapabilitiesArgs,
    ContainerArgs,
    ResourceRequirementsArgs,
    SecurityContextArgs,
    VolumeArgs,
    VolumeMountArgs,
)

from components.component import Component
from components.devices.agent import agent, host_path
from components.devices.configuration import configuration, volume
from model import fabric_changes, rdma
from model.environment import Environment
from model.rdma import Plan, Plugin
from model.releases import upstream

_FILE = "config.json"
_KUBELET = "/var/lib/kubelet"


@dataclass(frozen=True)
class _Program:
    """A device plugin's program.

    Attributes:
        product: Its release in the catalogue, which is also what it is called on the cluster.
        command: What is run; None for what the image says.
        configuration: The folder in which it looks for its file; None where it has none.
        folders: Folders of the node that it needs, by their kind.
        capabilities: What it must be allowed beside being root.
    """

    product: str
    command: list[str] | None
    configuration: str | None
    folders: dict[str, str]
    capabilities: tuple[str, ...] = ()


# Sockets are made in one of the two, whichever the kubelet watches.
_SOCKETS = {f"{_KUBELET}/device-plugins": "Directory", f"{_KUBELET}/plugins_registry": "Directory"}

# Upstream's manifests run the first two as privileged containers. What they do with it: reading /sys in the network
# namespace of the node, making a socket, and bringing network interfaces up, which takes one capability.
_PROGRAMS: dict[Plugin, _Program] = {
    # https://github.com/Mellanox/k8s-rdma-shared-dev-plugin v1.5.3: deployment/k8s/base/daemonset.yaml,
    # pkg/resources/resources_manager.go (InitServers: LinkSetUp)
    "rdma-shared": _Program(
        "rdma-shared-device-plugin",
        ["/bin/k8s-rdma-shared-dp"],
        "/k8s-rdma-shared-dev-plugin",
        _SOCKETS,
        ("NET_ADMIN",),
    ),
    # https://github.com/k8snetworkplumbingwg/sriov-network-device-plugin v3.11.0: deployments/sriovdp-daemonset.yaml
    "sriov": _Program(
        "sriov-device-plugin",
        ["/usr/bin/sriovdp", "--logtostderr"],
        "/etc/pcidp",
        # Where it leaves for Multus which virtual function is which.
        {**_SOCKETS, "/var/run/k8s.cni.cncf.io/devinfo/dp": "DirectoryOrCreate"},
        ("NET_ADMIN",),
    ),
    # https://github.com/aws/eks-charts, stable/aws-efa-k8s-device-plugin: templates/daemonset.yaml
    "efa": _Program(
        "efa-device-plugin", None, None, {f"{_KUBELET}/device-plugins": "Directory", "/dev/infiniband": "Directory"}
    ),
}


@pulumi.type_token("gangline:index:FabricDevicePlugins")
class FabricDevicePlugins(Component):
    """One DaemonSet per pool with RDMA (one for all with EFA, which has no options).

    Each node is in one pool, so no NIC is advertised twice. Its input `drainToChange` is what the hardware of the nodes
    must be set to: a preview that changes it asks for nodes that were emptied first.
    """

    def __init__(self, name: str, *, environment: Environment, opts: pulumi.ResourceOptions | None = None) -> None:
        plans = rdma.plans(environment)
        super().__init__(name, {"drainToChange": fabric_changes.set_in_hardware(environment)}, opts)
        for plan in plans:
            self._plan(f"{name}-{plan.plugin}-{plan.name}", plan, environment)
        self.register_outputs({"plans": {plan.name: list(plan.pools) for plan in plans}})

    def _plan(self, name: str, plan: Plan, environment: Environment) -> None:
        program = _PROGRAMS[plan.plugin]
        folders = {f"folder-{index}": path for index, path in enumerate(program.folders, start=1)}
        mounts = [VolumeMountArgs(name=key, mount_path=path) for key, path in folders.items()]
        volumes = [host_path(key, path, program.folders[path]) for key, path in folders.items()]
        if program.configuration:
            mounts.append(VolumeMountArgs(name="config", mount_path=program.configuration, read_only=True))
            volumes.append(self._configuration(name, program, plan))
        agent(
            name,
            program.product,
            part=None if plan.plugin == "efa" else plan.name,
            environment=environment,
            pools=plan.pools,
            container=ContainerArgs(
                name=program.product,
                image=upstream(environment, program.product).images["plugin"],
                image_pull_policy="IfNotPresent",
                command=program.command,
                security_context=SecurityContextArgs(
                    allow_privilege_escalation=False,
                    read_only_root_filesystem=True,
                    capabilities=CapabilitiesArgs(drop=["ALL"], add=list(program.capabilities) or None),
                ),
                resources=ResourceRequirementsArgs(
                    requests={"cpu": "50m", "memory": "64Mi"}, limits={"memory": "256Mi"}
                ),
                volume_mounts=mounts,
            ),
            volumes=volumes,
            # Network interfaces of the node are seen in the node's own network only.
            host_network=True,
            opts=pulumi.ResourceOptions(parent=self),
        )

    def _configuration(self, name: str, program: _Program, plan: Plan) -> VolumeArgs:
        config = configuration(
            f"{name}-config",
            f"{program.product}-{plan.name}",
            _FILE,
            rdma.text(plan.configuration),
            opts=pulumi.ResourceOptions(parent=self),
        )
        return volume("config", config)
