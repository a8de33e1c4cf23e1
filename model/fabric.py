"""The fabric of a pool: what connects its nodes, and what follows from it for nodes and pods."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from catalog import reader as catalog

from .base import Declared, Listed, Mapped, Plain, PlainOrMapped, one_of
from .derived import derived
from .problems import Unanswerable, known, lost, readable
from .quantities import MEBIBYTE, Quantity

if TYPE_CHECKING:
    from .environment import Environment
    from .pools import Pool


def _spelt_out(value: object) -> object:
    """The short name is too far from the long one to be taken for a slip of the pen."""
    if value == "ib":
        allowed = ", ".join(catalog.fabrics())
        context = {"reason": "is not one of the allowed values", "allowed": allowed, "fix": "infiniband"}
        raise PydanticCustomError("rule", "{reason}", context)
    return value


Kind = Annotated[Literal["efa", "infiniband", "roce", "tcp"], BeforeValidator(_spelt_out)]
Mode = Literal["shared", "sriov", "host"]

EFA = "vpc.amazonaws.com/efa"
"""The resource of EFA devices (https://github.com/aws/eks-charts, stable/aws-efa-k8s-device-plugin)."""
EFA_NIC = "efa"
SLOTS = 63
"""Pods of a node that may have RDMA at once, unless said otherwise: more than 8 GPUs have use for, and as many as
RoCE has room for per port (https://github.com/Mellanox/k8s-rdma-shared-dev-plugin/issues/44)."""
PREFIX = "rdma"
"""What the names of RDMA resources begin with."""
HUGE_PAGES = "hugepages-2Mi"
_HUGE_PAGE = 2 * MEBIBYTE
_EFA_PAGES = 5128
"""Huge pages that the EFA installer reserves on a node
(https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html)."""
_EFA_POD_PAGES = 2560
"""Huge pages (5120Mi) for a pod with all EFA devices of a node (same page)."""


class Nics(Declared):
    """The NICs of a machine that belong to the compute fabric."""

    model: Annotated[str, one_of(catalog.nics)]
    """A NIC of the catalogue, such as `connectx-7`."""
    count: int
    """Ports, 1 to 64. Each is a device of its own."""


class Fabric(Declared):
    """A fabric with its options."""

    kind: Kind
    """efa, infiniband, roce or tcp."""
    mode: Mode | None = None
    """How pods get at the NICs: `shared` (all RDMA pods of a node use the same NICs), `sriov` (each gets virtual
    functions of its own) or, on RoCE, `host` (as shared, in the network of the node). `shared` when left out."""
    slots: int | None = None
    """Pods of a node that may have RDMA at once, with `shared`. A ticket, not a share of bandwidth."""
    virtual_functions: int | None = None
    """Virtual functions per NIC, with `sriov`."""
    interfaces: Listed[str] = ()
    """Network interfaces of the NICs, such as `ibp24s0`, where model and link type would also find NICs of storage."""
    hcas: Listed[str] = ()
    """HCAs that NCCL uses, by exact name: `mlx5_0` or with a port `mlx5_0:1`. All that a pod has when left out."""
    storage_hcas: Listed[str] = ()
    """HCAs that NCCL leaves to storage, by exact name. Instead of `hcas`."""
    networks: Listed[str] = ()
    """Networks that pods are attached to, as `namespace/name` or `name` (NetworkAttachmentDefinitions of Multus): with
    `shared` one per NIC, with `sriov` the one that all virtual functions get. RoCE needs them, InfiniBand does not."""
    socket_interface: str | None = None
    """Interface, by exact name, over which NCCL's ranks find each other. Needed with `host`."""
    traffic_class: int | None = None
    """Traffic class of RoCE packets, 0 to 255, as the switches' QoS wants it."""
    memlock: Literal["unlimited"] | None = None
    """`unlimited`: the nodes' container runtime lets pods lock any amount of memory (containerd's unit has
    LimitMEMLOCK=infinity)."""


FabricChoice = Annotated[Annotated[Kind, Plain] | Annotated[Fabric, Mapped], PlainOrMapped]
"""A fabric by its name, or with options."""


@dataclass(frozen=True)
class Ports:
    """NICs of a machine: their model and the number of ports."""

    model: catalog.Nic
    count: int


def of(pool: "Pool") -> Fabric:
    """The fabric of a pool, options and all.

    Raises:
        Unanswerable: It could not be read.
    """
    choice: Any = known(pool.fabric)
    return choice if isinstance(choice, Fabric) else Fabric(kind=choice)


def mode(fabric: Fabric) -> Mode | None:
    """How pods get at the NICs: the declared way or the usual one; None where there is one way only."""
    usual = catalog.fabrics()[fabric.kind].modes
    chosen: Any = known(fabric.mode) or (usual[0] if usual else None)
    return chosen


@derived
def in_network_of_node(env: "Environment") -> tuple[str, ...]:
    """Names of the pools whose pods use the fabric from the network of their node."""
    return tuple(name for name, pool in readable(env.pools) if mode(of(pool)) == "host")


def nics(pool: "Pool") -> Ports | None:
    """The NICs of the compute fabric that a pool's machines have; None where neither catalogue nor document has any.

    Raises:
        Unanswerable: The pool does not say what its machines are.
    """
    declared: Nics | None = None
    if pool.shape is not None:
        declared = known(pool.shape.nics)
    elif pool.host is not None:
        declared = known(pool.host.nics)
    if declared is not None:
        model = None if lost(declared.model) else catalog.nics().get(declared.model)
        if model is None:
            raise Unanswerable
        return Ports(model, known(declared.count))
    if pool.instance is not None:
        if (instance := catalog.instances().get(pool.instance)) is None:
            raise Unanswerable
        return Ports(catalog.nics()[EFA_NIC], instance.efa) if instance.efa else None
    if pool.server is None:
        return None
    if (server := catalog.servers().get(pool.server)) is None:
        raise Unanswerable
    return Ports(catalog.nics()[server.nics.model], server.nics.count) if server.nics else None


def own_devices(fabric: Fabric) -> bool:
    """Whether a pod gets devices of its own, and not a ticket to what all pods of a node use."""
    return fabric.kind == "efa" or mode(fabric) == "sriov"


def resource(fabric: Fabric) -> str | None:
    """The resource that pods ask for to get at the fabric; None where every pod has it.

    The RDMA plugins allow letters, digits and underscores in names; `rdma` is their usual prefix
    (https://github.com/Mellanox/k8s-rdma-shared-dev-plugin, pkg/resources/resources_manager.go).
    """
    if fabric.kind == "tcp":
        return None
    if fabric.kind == "efa":
        return EFA
    return f"{PREFIX}/{rdma_name(fabric)}"


def rdma_name(fabric: Fabric) -> str:
    """The name of an RDMA resource without its prefix: `shared_ib`, `shared_roce`, `host_roce`, `ib`, `roce`."""
    name = "ib" if fabric.kind == "infiniband" else "roce"
    return name if mode(fabric) == "sriov" else f"{mode(fabric)}_{name}"


def resources(pool: "Pool") -> Mapping[str, int]:
    """What a node of a pool offers for the fabric: resource and number; empty with plain TCP.

    Shared NICs are offered as slots, however many there are: a count of pods, not of devices.
    """
    fabric = of(pool)
    name = resource(fabric)
    if name is None:
        return MappingProxyType({})
    if not own_devices(fabric):
        return MappingProxyType({name: slots(fabric)})
    return MappingProxyType({name: devices(pool)})


def devices(pool: "Pool") -> int:
    """How many devices the nodes of a pool have for pods: EFA devices, or virtual functions."""
    fabric, ports = of(pool), nics(pool)
    if ports is None:
        raise Unanswerable
    return ports.count * (1 if fabric.kind == "efa" else virtual_functions(fabric))


def slots(fabric: Fabric) -> int:
    """Pods of a node that may have RDMA at once, where NICs are shared.

    One in the network of the node: two would want the same ports.
    """
    if mode(fabric) == "host":
        return 1
    declared = known(fabric.slots)
    return SLOTS if declared is None else declared


def virtual_functions(fabric: Fabric) -> int:
    """Virtual functions per NIC; one unless said otherwise, so that a pod's devices are on as many NICs."""
    declared = known(fabric.virtual_functions)
    return 1 if declared is None else declared


def huge_pages(pool: "Pool") -> Quantity | None:
    """Memory that a node sets aside in huge pages for its fabric; None where it does not."""
    return Quantity.parse(f"{_EFA_PAGES * 2}Mi") if of(pool).kind == "efa" else None


def asked(pool: "Pool", count: int) -> dict[str, Decimal]:
    """What a pod with that many RDMA devices (or a ticket) asks for in all, in base units."""
    name = resource(of(pool))
    if name is None or count == 0:
        return {}
    amounts = {name: Decimal(count)}
    if huge_pages(pool) is not None:
        amounts[HUGE_PAGES] = -(-_EFA_POD_PAGES * count // devices(pool)) * _HUGE_PAGE
    return amounts


def node_labels(pool: "Pool") -> dict[str, str]:
    """What node feature discovery writes on nodes with such NICs, when its labels have the vendor only.

    The network operator selects its nodes by it (https://github.com/Mellanox/network-operator, `nvidia-nics-rules`).
    """
    ports = nics(pool)
    return {f"feature.node.kubernetes.io/pci-{ports.model.vendor}.present": "true"} if ports else {}
