"""What a pod needs for its GPUs to reach each other: the one value that every workload component puts into its pods."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING

from catalog import reader as catalog

from . import fabric, nodes
from .gpu_requests import SHARED_MEMORY
from .problems import Problem, Subject, Unanswerable, known
from .quantities import MEBIBYTE, Quantity, written
from .workloads import Workload, judged

if TYPE_CHECKING:
    from .environment import Environment
    from .pools import Pool

OWN_MEMORY = "/var/shared-memory"
"""Where processes share memory in a container that shares its GPU by MPS: its /dev/shm is that of the MPS server."""
ROOT = 0
AS_ROOT = ("DAC_OVERRIDE", "IPC_LOCK")
"""What root needs to lock memory, and to work in an image that was made for another user.

A process that is not root loses capabilities when it starts. It may then lock 8 MiB only, no memory can be registered
for RDMA, and NCCL falls back to TCP (https://github.com/NVIDIA/nvidia-container-toolkit/issues/2037). Without
DAC_OVERRIDE root may not even enter /home/ray, where Ray is installed (https://github.com/ray-project/ray,
docker/base-deps/Dockerfile)."""
POD_INTERFACE = "eth0"
"""The interface of a pod's own network, whatever else it is attached to
(https://github.com/k8snetworkplumbingwg/multus-cni, docs/quickstart.md)."""
NETWORKS = "k8s.v1.cni.cncf.io/networks"
"""The annotation by which Multus attaches networks to a pod (https://github.com/k8snetworkplumbingwg/multus-cni)."""


@dataclass(frozen=True)
class Patch:
    """What is added to the pod of a workload and to its one container that uses GPUs.

    Attributes:
        resources: Resources that the container asks for beside cpu, memory and GPUs; requests equal limits.
        capabilities: Linux capabilities that the container gets.
        user: The user it must run as; None where any will do.
        shared_memory: Size of the memory that its processes share.
        shared_memory_at: Where that is mounted: `/dev/shm`, or elsewhere where the MPS server's stands there.
        annotations: Annotations of the pod.
        environment: Variables of the container.
        host_network: Whether the pod is in the network of its node.
    """

    resources: Mapping[str, Quantity] = field(default_factory=dict)
    capabilities: tuple[str, ...] = ()
    user: int | None = None
    shared_memory: Quantity | None = None
    shared_memory_at: str = SHARED_MEMORY
    annotations: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    host_network: bool = False


def devices(env: "Environment", pool_name: str, gpus: int) -> int:
    """How many RDMA devices a pod gets by its GPUs: one ticket where NICs are shared, else its share of the NICs.

    None without GPUs, and none with shared ones: NCCL refuses two ranks on one GPU.
    """
    pool = env.pools[pool_name]
    kind, whole = fabric.of(pool), nodes.machine(pool).gpus
    if fabric.resource(kind) is None or gpus == 0 or whole == 0 or pool.sharing != "none":
        return 0
    if not fabric.own_devices(kind):
        return 1
    if (ports := fabric.nics(pool)) is None:
        raise Unanswerable
    return max(1, ports.count * min(gpus, whole) // whole)


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
        memory: Its memory, of which its processes may share half, as a tmpfs has it by default (tmpfs(5)).
        rdma: RDMA devices, where it is not what follows from its GPUs.
    """
    asked = resources(env, pool_name, gpus=gpus, rdma=rdma)
    amounts = {name: Quantity.parse(written(name, amount)) for name, amount in asked.items()}
    half = Quantity.parse(written("memory", max(Decimal(1), memory.value / 2 // MEBIBYTE) * MEBIBYTE))
    place = OWN_MEMORY if gpus and _mps(env.pools[pool_name]) else SHARED_MEMORY
    if not asked:
        return Patch(shared_memory=half, shared_memory_at=place)
    kind = fabric.of(env.pools[pool_name])
    unlimited = kind.memlock == "unlimited"
    attached = networks(kind, int(asked[fabric.resource(kind) or ""]))
    return Patch(
        resources=amounts,
        capabilities=() if unlimited else AS_ROOT,
        user=None if unlimited else ROOT,
        shared_memory=half,
        shared_memory_at=place,
        annotations={NETWORKS: ",".join(attached)} if attached else {},
        environment=environment(kind),
        host_network=fabric.mode(kind) == "host",
    )


def _mps(pool: "Pool") -> bool:
    return pool.plan is not None and pool.plan.mps is not None


def networks(kind: fabric.Fabric, count: int) -> tuple[str, ...]:
    """The networks that a pod with that many RDMA devices is attached to: one for each virtual function, or all."""
    return known(kind.networks) * (count if fabric.own_devices(kind) else 1)


def environment(kind: fabric.Fabric) -> dict[str, str]:
    """Variables of NCCL that follow from a fabric; none where NCCL's own choice is right."""
    found: dict[str, str] = {}
    if net := catalog.fabrics()[kind.kind].net:
        # Without it a broken fabric is a slow one: NCCL falls back to TCP and says so only when asked.
        found["NCCL_NET"] = net
    if hcas := [known(name) for name in known(kind.hcas)]:
        found["NCCL_IB_HCA"] = f"={','.join(hcas)}"
    elif others := [known(name) for name in known(kind.storage_hcas)]:
        found["NCCL_IB_HCA"] = f"^={','.join(others)}"
    if interface := known(kind.socket_interface):
        found["NCCL_SOCKET_IFNAME"] = f"={interface}"
    elif known(kind.networks):
        # Of several interfaces NCCL would take one of a rail, over which other nodes may not be reached.
        found["NCCL_SOCKET_IFNAME"] = f"={POD_INTERFACE}"
    if (traffic_class := known(kind.traffic_class)) is not None:
        found["NCCL_IB_TC"] = str(traffic_class)
    return found


def limits(env: "Environment") -> Iterator[Problem]:
    """Workloads that ask for more of a fabric than it has, or for something that it does not mean."""
    yield from judged(env, _rdma)


def _rdma(it: Subject[Workload]) -> Iterator[Problem]:
    rdma, name, at = known(it.value.workers.rdma), known(it.value.pool), (*it.at, "workers", "rdma")
    if rdma is None or name not in it.env.pools:
        return
    pool = it.env.pools[name]
    kind, offered = fabric.of(pool), fabric.resources(pool)
    if rdma < 0:
        yield Problem(at, rdma, "must not be negative", "0 or more")
    elif rdma > 0 and not offered:
        message = f"pool {name} has no RDMA: its fabric is tcp"
        yield Problem(at, rdma, message, "0", "leave it out", spoils=(at, (*it.at, "pool")))
    elif offered and rdma > (has := max(offered.values())):
        message = f"a worker asks for {rdma} of {fabric.resource(kind)}, a node of pool {name} offers {has}"
        yield Problem(at, rdma, message, f"at most {has}" if fabric.own_devices(kind) else "0, 1")
    elif rdma > 1 and not fabric.own_devices(kind):
        message = "where NICs are shared, one is a ticket to all NICs of the node, and more give no more bandwidth"
        yield Problem(at, rdma, message, "0, 1", "leave it out", severity="warning")
