"""The hot tier: the NVMe disks of the nodes themselves."""

from typing import Annotated, Literal

from pydantic import Tag

from model.amounts import Memory
from model.base import KIND, Declared, Listed


class Nvme(Declared):
    """All NVMe disks of a node are one array, on which the kubelet keeps what is in pods' own volumes (emptyDir).

    It is gone with the pod.
    """

    kind: Literal["nvme"]
    """nvme: one array per node."""
    pools: Listed[str] = ()
    """The pools that have it; left out: all whose machines have NVMe disks."""
    write: Memory | None = None
    """Bytes per second that a node writes to its disks, as measured on one."""


class Local(Declared):
    """Each NVMe disk of a node is a volume of its own, which a claim takes as a whole.

    It outlives a pod, but not its node.
    """

    kind: Literal["local"]
    """local: a volume per disk."""
    pools: Listed[str] = ()
    """The pools that have it; left out: all whose machines have NVMe disks."""
    path: str = "/mnt/k8s-disks"
    """The folder of the nodes in which each disk is mounted."""
    write: Memory | None = None
    """Bytes per second that a node writes to its disks, as measured on one."""


Scratch = Annotated[Annotated[Nvme, Tag("(nvme)")] | Annotated[Local, Tag("(local)")], KIND]
