"""A managed pool as EKS is asked for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from catalog import reader as catalog
from model import fabric, images, nodes
from model.derived import derived
from model.pools import Pool, Taint
from model.problems import known
from model.quantities import MEBIBYTE

from . import autoscaled, subnets
from .interfaces import Interface, layout
from .user_data import user_data

if TYPE_CHECKING:
    from model.environment import Environment

ROOT_VOLUME = 100
"""Gi of a node's root volume: images of training are 10 to 30 Gi each, and nodes without NVMe unpack them there."""
_EFFECTS = {"NoSchedule": "NO_SCHEDULE", "NoExecute": "NO_EXECUTE", "PreferNoSchedule": "PREFER_NO_SCHEDULE"}
_CAPACITY: Mapping[str, Literal["ON_DEMAND", "SPOT", "CAPACITY_BLOCK"]] = {
    "on-demand": "ON_DEMAND",
    "spot": "SPOT",
    "reservation": "ON_DEMAND",
    "block": "CAPACITY_BLOCK",
}
_TEMPLATE = "k8s.io/cluster-autoscaler/node-template"


@dataclass(frozen=True)
class EksTaint:
    """A taint in EKS's spelling.

    Attributes:
        key: Its key.
        value: Its value; empty where it has none.
        effect: NO_SCHEDULE, NO_EXECUTE or PREFER_NO_SCHEDULE.
    """

    key: str
    value: str
    effect: str


@dataclass(frozen=True)
class NodeGroup:
    """A managed node group with its launch template.

    Attributes:
        instance: Its one instance type.
        ami_type: EKS's name for the kind of image.
        ami_release: Exact release of the image; None for the newest at its making.
        capacity: ON_DEMAND, SPOT or CAPACITY_BLOCK.
        reservation: Id of the reservation or block that its instances come from.
        placement: Whether it gets a cluster placement group of its own.
        placement_group: Name of the placement group that its reservation was made in.
        zones: Where its nodes may stand.
        gpu: Whether it stands in the subnets of GPU nodes.
        interfaces: Network interfaces of its EFA nodes; empty for one plain interface.
        fewest: Lowest number of nodes.
        most: Highest number of nodes; EKS wants at least 1.
        initial: Number to begin with.
        autoscaled: Whether an autoscaler changes the number from then on.
        labels: Labels of its nodes.
        taints: Their taints.
        root_device: Name of the volume that holds images and pods' files.
        root_volume: Its size in GiB.
        user_data: Text for the nodes' first start.
        replaces_first: Whether an update ends old nodes before it begins new ones.
    """

    instance: str
    ami_type: str
    ami_release: str | None
    capacity: Literal["ON_DEMAND", "SPOT", "CAPACITY_BLOCK"]
    reservation: str | None
    placement: bool
    placement_group: str | None
    zones: tuple[str, ...]
    gpu: bool
    interfaces: tuple[Interface, ...]
    fewest: int
    most: int
    initial: int
    autoscaled: bool
    labels: Mapping[str, str]
    taints: tuple[EksTaint, ...]
    root_device: str
    root_volume: int
    user_data: str
    replaces_first: bool


@derived
def node_group(env: "Environment", pool_name: str) -> NodeGroup:
    """A managed pool as EKS is asked for it."""
    pool = env.pools[pool_name]
    kind = pool.capacity.kind
    efa = fabric.of(pool).kind == "efa"
    instance = catalog.instances()[pool.instance or ""]
    image = catalog.images()[images.of(env, pool_name)]
    reserved = kind in ("reservation", "block")
    return NodeGroup(
        instance=instance.name,
        ami_type=image.ami[instance.architecture],
        ami_release=pool.ami_release,
        capacity={"spot": "SPOT", "block": "CAPACITY_BLOCK"}.get(kind, "ON_DEMAND"),  # pyright: ignore[reportArgumentType]
        reservation=pool.capacity.reservation,
        # Machines of a reservation stand where it was made; a group of ours would find none of them.
        placement=efa and not reserved,
        placement_group=pool.capacity.placement_group,
        zones=subnets.zones(env, pool),
        gpu=instance.gpus > 0,
        interfaces=layout(instance) if efa else (),
        fewest=pool.fewest,
        most=max(pool.most, 1),
        initial=pool.initial,
        autoscaled=pool_name in autoscaled(env),
        labels=_labels(pool, pool_name),
        taints=tuple(EksTaint(taint.key, taint.value, _EFFECTS[taint.effect]) for taint in pool.taints),
        # On Bottlerocket images and pods' files are on a volume of their own.
        root_device="/dev/xvdb" if image.name.startswith("bottlerocket") else "/dev/xvda",
        root_volume=root_volume(pool),
        user_data=user_data(env, pool_name),
        # A reservation has no machine to spare for the new node.
        replaces_first=reserved,
    )


def root_volume(pool: Pool) -> int:
    """The size of a node's root volume in GiB."""
    declared = known(pool.root_volume)
    return ROOT_VOLUME if declared is None else int(declared.value // (1024 * MEBIBYTE))


def autoscaler_tags(env: "Environment", pool_name: str) -> dict[str, str]:
    """Tags of the group by which the Cluster Autoscaler knows its nodes while it has none.

    Source: https://github.com/kubernetes/autoscaler, cluster-autoscaler/cloudprovider/aws/README.md (scale from zero):
    a taint is written `value:effect`.
    """
    pool = env.pools[pool_name]
    offered = {
        resource: amount
        for resource, amount in nodes.allocatable(pool).items()
        if resource not in ("cpu", "memory", "pods")
    }
    disk = catalog.instances()[pool.instance or ""]
    ephemeral = f"{root_volume(pool)}Gi" if disk.disk is None else f"{_gigabytes(disk.disk) * disk.disks}G"
    return {
        **{f"{_TEMPLATE}/label/{key}": value for key, value in _labels(pool, pool_name).items()},
        **{f"{_TEMPLATE}/taint/{taint.key}": _taint(taint) for taint in pool.taints},
        **{f"{_TEMPLATE}/resources/{resource}": str(amount) for resource, amount in offered.items()},
        f"{_TEMPLATE}/resources/ephemeral-storage": ephemeral,
    }


def _labels(pool: Pool, pool_name: str) -> dict[str, str]:
    return {**pool.labels, nodes.POOL_LABEL: pool_name}


def _taint(taint: Taint) -> str:
    return f"{taint.value}:{taint.effect}"


def _gigabytes(disk: str) -> int:
    return int(Decimal(disk.removesuffix("G")))
