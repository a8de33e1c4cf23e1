"""The warm tier: a file system that all nodes share."""

from typing import Annotated, Literal

from pydantic import Field, Tag

from model.amounts import Memory
from model.base import KIND, Declared, Listed


class Link(Declared):
    """A folder of a Lustre file system that is linked with a part of the archive."""

    path: str
    """The folder, such as `/datasets`."""
    prefix: str
    """The part of the archive, such as `datasets/`."""
    export: bool = False
    """Whether what changes in the folder goes to the archive by itself: later, and in no order."""


class Lustre(Declared):
    """Lustre. On AWS it is made (Amazon FSx); elsewhere, or with `mount`, it is there."""

    kind: Literal["lustre"]
    """lustre."""
    size: Memory
    """How much it holds. On AWS in the steps of its deployment type."""
    deployment: Literal["scratch-1", "scratch-2", "persistent-1", "persistent-2"] = "persistent-2"
    """On AWS, the deployment type."""
    disk: Literal["ssd", "hdd"] = "ssd"
    """On AWS, what it is made of."""
    throughput: int | None = None
    """On AWS, MB/s for each TiB, of a persistent one."""
    efa: bool = False
    """On AWS, whether nodes reach it over EFA."""
    metadata: int | None = None
    """On AWS, metadata operations per second, where the automatic number does not do."""
    zone: str | None = None
    """On AWS, its zone; left out: that of the pools with GPUs."""
    links: Listed[Link] = ()
    """On AWS, folders that are linked with the archive."""
    mount: str | None = None
    """Where an existing one is mounted from, such as `10.0.0.5@o2ib:/scratch`."""
    write: Memory | None = None
    """Bytes per second that all nodes together write to an existing one, as measured."""


class Efs(Declared):
    """Amazon EFS: NFS in all zones. For homes and code, not for the checkpoints of large models."""

    kind: Literal["efs"]
    """efs."""
    size: Memory
    """How much tenants may claim of it. EFS itself has no size."""
    write: Memory | None = None
    """Bytes per second that all nodes together write to it, as measured."""


class Beegfs(Declared):
    """An existing BeeGFS."""

    kind: Literal["beegfs"]
    """beegfs."""
    management: str
    """Host of its management service."""
    path: str
    """The folder in it that holds the tenants' volumes, such as `/k8s`."""
    size: Memory
    """How much tenants may claim of it."""
    write: Memory | None = None
    """Bytes per second that all nodes together write to it, as measured."""


class ExistingClass(Declared):
    """A StorageClass of the cluster that gives volumes which many nodes write (ReadWriteMany)."""

    kind: Literal["class"]
    """class."""
    name: str
    """Its name."""
    size: Memory
    """How much tenants may claim of it."""
    write: Memory | None = None
    """Bytes per second that all nodes together write to it, as measured."""


class ExistingClaims(Declared):
    """Claims that the tenants have already."""

    kind: Literal["claims"]
    """claims."""
    claims: dict[str, str] = Field(json_schema_extra={"minProperties": 1})
    """Name of the PersistentVolumeClaim by namespace."""
    size: Memory
    """How much they hold together."""
    write: Memory | None = None
    """Bytes per second that all nodes together write to them, as measured."""


Shared = Annotated[
    Annotated[Lustre, Tag("(lustre)")]
    | Annotated[Efs, Tag("(efs)")]
    | Annotated[Beegfs, Tag("(beegfs)")]
    | Annotated[ExistingClass, Tag("(class)")]
    | Annotated[ExistingClaims, Tag("(claims)")],
    KIND,
]
