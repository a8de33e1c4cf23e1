"""What a pod needs for its GPUs to reach each other: the one value that every workload component puts into its pods."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING

from catalog import reader as catalog

from . import fabric, nodes
from .quantities import MEBIBYTE, Quantity, written

if TYPE_CHECKING:
    from .environment import Environment

NETWORKS = "k8s.v1.cni.cncf.io/networks"
"""The annotation by which Multus attaches networks to a pod (https://github.com/k8snetworkplumbingwg/multus-cni)."""


@dataclass(frozen=True)
class Patch:
    """What is added to the pod of a workload and to its one container that uses GPUs.

    Attributes:
        resources: Resources that the container asks for beside cpu, memory and GPUs; requests equal limits.
        capabilities: Linux capabilities that the container gets.
        user: The user it must run as; None where any will do.
        shared_memory: Size of `/dev/shm`; None where the pod must not have one of its own.
        annotations: Annotations of the pod.
        environment: Variables of the container.
        host_network: Whether the pod is in the network of its node.
    """

    resources: Mapping[str, Quantity] = field(default_factory=dict)
    capabilities: tuple[str, ...] = ()
    user: int | None = None
    shared_memory: Quantity | None = None
    annotations: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    host_network: bool = False


def devices(env: "Environment", pool_name: str, gpus: int) -> int:
    """How many RDMA devices a pod gets by its GPUs: one ticket where NICs are shared, else its share of the node's.

    None without GPUs, and none with shared ones: NCCL refuses two ranks on one GPU.
    """
    pool = env.pools[pool_name]
    offered, whole = fabric.resources(pool), nodes.machine(pool).gpus
    if not offered or gpus == 0 or whole == 0 or pool.sharing != "none":
        return 0
    kind = fabric.of(pool)
    if kind.kind != "efa" and fabric.mode(kind) != "sriov":
        return 1
    ports = fabric.nics(pool)
    return max(1, (ports.count if ports else 0) * min(gpus, whole) // whole)


def resources(env: "Environment", pool_name: str, *, gpus: int, rdma: int | None = None) -> Mapping[str, Decimal]:
    """What a pod asks for of its pool's fabric, in base units."""
    count = devices(env, pool_name, gpus) if rdma is None else rdma
    return MappingProxyType(fabric.asked(env.pools[pool_name], count))


def patch(env: "Environment", pool_name: str, *, gpus: int, memory: Quantity, rdma: int | None = None) -> Patch:
    """What a pod on a pool needs.

    Args:
        env: The environment.
        pool_name: The pool it runs on.
        gpus: GPUs that it asks for.
        memory: Its memory, of which `/dev/shm` may take half, as a tmpfs does by default (tmpfs(5)).
        rdma: RDMA devices, where it is not what follows from its GPUs.
    """
    asked = resources(env, pool_name, gpus=gpus, rdma=rdma)
    amounts = {name: Quantity.parse(written(name, amount)) for name, amount in asked.items()}
    half = Quantity.parse(f"{max(1, int(memory.value / 2 // MEBIBYTE))}Mi")
    if not asked:
        return Patch(shared_memory=half)
    kind = fabric.of(env.pools[pool_name])
    locked = kind.memlock == "unlimited" or kind.kind == "efa"
    return Patch(
        resources=amounts,
        # A non-root process loses the capability when it starts, and then RDMA fails and NCCL falls back to TCP.
        capabilities=() if locked else ("IPC_LOCK",),
        user=None if locked else 0,
        shared_memory=half,
        annotations={NETWORKS: kind.network} if kind.network else {},
        environment=environment(kind),
        host_network=fabric.mode(kind) == "host",
    )


def environment(kind: fabric.Fabric) -> dict[str, str]:
    """Variables of NCCL that follow from a fabric; none where NCCL's own choice is right."""
    found: dict[str, str] = {}
    if net := catalog.fabrics()[kind.kind].net:
        # Without it, a broken fabric is a slow one: NCCL falls back to TCP and says so only when asked.
        found["NCCL_NET"] = net
    if kind.hcas:
        found["NCCL_IB_HCA"] = f"={','.join(kind.hcas)}"
    elif kind.storage_hcas:
        found["NCCL_IB_HCA"] = f"^={','.join(kind.storage_hcas)}"
    if kind.socket_interface:
        found["NCCL_SOCKET_IFNAME"] = f"={kind.socket_interface}"
    if kind.traffic_class is not None:
        found["NCCL_IB_TC"] = str(kind.traffic_class)
    return found
