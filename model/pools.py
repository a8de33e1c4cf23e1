"""Node pools: what kind of node, how many, and what marks them."""

from typing import Annotated, Literal

from pydantic import Field

from .base import Declared, Listed, Mapped, Plain, PlainOrMapped
from .quantities import Cpu, Memory
from .sharing import Sharing


class Size(Declared):
    """A number of nodes or workers that an autoscaler may change."""

    min: int
    """Lowest number, >= 0."""
    max: int
    """Highest number, >= min."""
    desired: int | None = None
    """Number to begin with, between min and max; `min` when left out. Afterwards it belongs to the autoscaler."""


Count = Annotated[Annotated[int, Plain] | Annotated[Size, Mapped], PlainOrMapped]
"""A fixed number, or a range under an autoscaler."""


class ShapeGpu(Declared):
    """The GPUs of an explicit shape."""

    model: str
    """A GPU of the catalogue, such as `h100-sxm-80gb`."""
    count: int
    """GPUs per node, at least 1."""


class Shape(Declared):
    """A node described by hand, where the catalogue has no such server."""

    cpu: Cpu
    """Cores of the machine (logical, as the kubelet counts them)."""
    memory: Memory
    """Memory of the machine."""
    gpu: ShapeGpu | None = None
    """GPUs; none for a pool of plain machines."""
    architecture: Literal["amd64", "arm64"] = "amd64"
    """CPU architecture, as in the label kubernetes.io/arch."""


class Taint(Declared):
    """A taint that the nodes of the pool carry. Every node agent that must reach them tolerates it."""

    key: str
    value: str = ""
    effect: str
    """NoSchedule, PreferNoSchedule or NoExecute; EKS's spelling (NO_SCHEDULE) is read too."""


class Reserved(Declared):
    """What the kubelet of these nodes keeps back. Left out: computed by the formula of `model.nodes`."""

    cpu: Cpu
    memory: Memory


class Pool(Declared):
    """Nodes of one kind. Exactly one of `server` and `shape` says which.

    On an existing cluster each node of the pool must carry the label `gangline.dev/pool: <name>` (kubelet
    `--node-labels`); `labels` and `taints` state what else they carry.
    """

    server: str | None = None
    """A server of the catalogue, such as `dgx-h100`."""
    shape: Shape | None = None
    """An explicit shape."""
    size: Count
    """Number of nodes, or {min, max, desired} under an autoscaler."""
    sharing: Sharing = "none"
    """How its GPUs are shared: none, or {timeSlicing: {replicas: N}}."""
    labels: dict[str, str] = Field(default_factory=dict)
    """Further labels of these nodes. Values are text: "true", not true."""
    taints: Listed[Taint] = ()
    """Taints of these nodes."""
    domains: dict[str, int] = Field(default_factory=dict)
    """Topology domains of this pool per level, e.g. {spine: 2, rack: 4}: nodes fill them evenly."""
    max_pods: int = 110
    """Pods per node that the kubelet allows."""
    reserved: Reserved | None = None
    """What the kubelet keeps back, if not by the usual formula."""

    @property
    def fewest(self) -> int:
        """The lowest number of nodes."""
        return fewest(self.size)

    @property
    def initial(self) -> int:
        """The number of nodes to begin with."""
        return initial(self.size)

    @property
    def most(self) -> int:
        """The highest number of nodes."""
        return most(self.size)


def fewest(count: int | Size) -> int:
    """The lower end of a number."""
    return count.min if isinstance(count, Size) else count


def initial(count: int | Size) -> int:
    """Where a number begins: `desired`, or the lower end."""
    if isinstance(count, Size):
        return count.min if count.desired is None else count.desired
    return count


def most(count: int | Size) -> int:
    """The upper end of a number."""
    return count.max if isinstance(count, Size) else count
