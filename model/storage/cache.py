"""The dataset cache, between the archive and the nodes. Never for checkpoints."""

from typing import Annotated, Literal

from pydantic import Field, Tag

from model.amounts import Memory
from model.base import KIND, Declared


class Juicefs(Declared):
    """JuiceFS over a bucket, with its cache on the nodes' NVMe disks."""

    kind: Literal["juicefs"]
    """juicefs."""
    secret: str
    """Name of the Secret, in each tenant's namespaces, that describes the file system: name, metaurl, storage, bucket
    and keys."""
    size: Memory
    """How much each node caches."""


class Fluid(Declared):
    """Datasets, cached on nodes by Fluid: folders of a JuiceFS file system, or of the archive with Alluxio."""

    kind: Literal["fluid"]
    """fluid."""
    runtime: Literal["juicefs", "alluxio"] = "juicefs"
    """What caches. Alluxio's open edition has not changed since 2024."""
    secret: str | None = None
    """For juicefs, name of the Secret, in each tenant's namespaces, that describes the file system: metaurl, access-key
    and secret-key."""
    datasets: dict[str, str] = Field(json_schema_extra={"minProperties": 1})
    """Folder by name of the dataset, such as {imagenet: datasets/imagenet/}."""
    size: Memory
    """How much each worker of a dataset caches."""
    workers: int = 1
    """Nodes that cache a dataset, for each namespace."""


Cache = Annotated[Annotated[Juicefs, Tag("(juicefs)")] | Annotated[Fluid, Tag("(fluid)")], KIND]
