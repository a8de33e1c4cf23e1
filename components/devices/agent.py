"""What all node agents of ours have in common."""

from collections.abc import Iterable, Mapping

import pulumi
from pulumi_kubernetes.apps.v1 import (
    DaemonSet,
    DaemonSetSpecArgs,
    DaemonSetUpdateStrategyArgs,
    RollingUpdateDaemonSetArgs,
)
from pulumi_kubernetes.core.v1 import (
    CapabilitiesArgs,
    ContainerArgs,
    HostPathVolumeSourceArgs,
    PodSpecArgs,
    PodTemplateSpecArgs,
    SecurityContextArgs,
    VolumeArgs,
)
from pulumi_kubernetes.meta.v1 import LabelSelectorArgs, ObjectMetaArgs

from components.devices.gpu_clients import PAUSED, GpuClient
from components.placement import on_pools, tolerations
from model.environment import Environment
from model.namespaces import AGENTS

# Node agents come before any workload: a node whose agent was evicted advertises no GPU.
PRIORITY = "system-node-critical"


def agent(
    name: str,
    app: str,
    *,
    environment: Environment,
    pools: Iterable[str],
    part: str | None = None,
    container: ContainerArgs,
    volumes: list[VolumeArgs],
    init: ContainerArgs | None = None,
    service_account: pulumi.Input[str] | None = None,
    labels: Mapping[str, str] | None = None,
    gives_way_as: GpuClient | None = None,
    host_pid: bool | None = None,
    host_ipc: bool | None = None,
    host_network: bool | None = None,
    opts: pulumi.ResourceOptions | None = None,
) -> DaemonSet:
    """Make the DaemonSet of a node agent: on the nodes of these pools, whatever their taints, and on no others.

    Args:
        name: Logical name.
        app: What the agent is called.
        environment: The environment, for the taints.
        pools: Pools that it must reach.
        part: What sets it apart from other DaemonSets of the same agent: its pool. A DaemonSet that is named by what
            may change on a pool would be replaced by another one, and both would be on a node for a while.
        container: The agent.
        volumes: Its volumes.
        init: What must have run on the node before it.
        service_account: Its account; none for an agent that does not talk to the API server, which then gets no token.
        labels: More labels of the DaemonSet and its pods.
        gives_way_as: What the MIG manager knows it as, where GPUs are cut and it holds them open.
        host_pid: Whether it sees the processes of the node.
        host_ipc: Whether it shares memory with the processes of the node.
        host_network: Whether it is in the network of the node.
        opts: Options.
    """
    selector = {"app.kubernetes.io/name": app} | ({"app.kubernetes.io/instance": part} if part else {})
    labels = {**(labels or {}), **selector}
    pools = list(pools)
    return DaemonSet(
        name,
        metadata=ObjectMetaArgs(name=f"{app}-{part}" if part else app, namespace=AGENTS, labels=labels),
        spec=DaemonSetSpecArgs(
            selector=LabelSelectorArgs(match_labels=selector),
            update_strategy=DaemonSetUpdateStrategyArgs(
                type="RollingUpdate",
                # One node at a time would take hours on a large cluster; running workloads keep their devices.
                rolling_update=RollingUpdateDaemonSetArgs(max_unavailable="10%"),
            ),
            template=PodTemplateSpecArgs(
                metadata=ObjectMetaArgs(labels={**labels, **({"app": gives_way_as.app} if gives_way_as else {})}),
                spec=PodSpecArgs(
                    priority_class_name=PRIORITY,
                    service_account_name=service_account,
                    automount_service_account_token=service_account is not None,
                    host_pid=host_pid,
                    host_ipc=host_ipc,
                    host_network=host_network,
                    affinity=on_pools(pools, unless={gives_way_as.deploy: PAUSED} if gives_way_as else None),
                    tolerations=tolerations(environment, pools),
                    init_containers=[init] if init else None,
                    containers=[container],
                    volumes=volumes,
                ),
            ),
        ),
        opts=opts,
    )


def restricted(*, root: bool) -> SecurityContextArgs:
    """Give the least privilege that node agents run with.

    Args:
        root: Whether it must be root, as an agent that makes a socket in the kubelet's folder does.
    """
    return SecurityContextArgs(
        allow_privilege_escalation=False,
        read_only_root_filesystem=True,
        capabilities=CapabilitiesArgs(drop=["ALL"]),
        run_as_non_root=None if root else True,
    )


def administering() -> SecurityContextArgs:
    """Give root with the one capability that the driver asks for where an agent looks into MIG instances or PCI space.

    Kubernetes counts CAP_SYS_ADMIN as escalation, so that is not forbidden
    (https://kubernetes.io/docs/tasks/configure-pod-container/security-context/).
    """
    return SecurityContextArgs(
        read_only_root_filesystem=True, capabilities=CapabilitiesArgs(drop=["ALL"], add=["SYS_ADMIN"])
    )


def host_path(name: str, path: str, kind: str | None = None) -> VolumeArgs:
    """Give a volume for a path of the node."""
    return VolumeArgs(name=name, host_path=HostPathVolumeSourceArgs(path=path, type=kind))
