"""FSx for Lustre: deployment types, and the sizes and speeds that each comes in.

Source: StorageCapacity, PerUnitStorageThroughput and MetadataConfiguration of
https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html and
.../API_CreateFileSystemLustreConfiguration.html; sizes with EFA and speeds of scratch ones from
https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html and .../ssd-storage.html. There is no largest
size.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

GIB = Decimal(1024) ** 3
TIB = 1024
"""GiB of a TiB, by which throughput is counted."""


@dataclass(frozen=True)
class Steps:
    """The sizes that there are.

    Attributes:
        first: Sizes below the steps, in GiB.
        step: All multiples of it, in GiB.
    """

    first: tuple[int, ...]
    step: int

    def has(self, gib: Decimal) -> bool:
        """Whether there is a size of so many GiB."""
        return gib in self.first or (gib > 0 and gib % self.step == 0)

    def nearest(self, gib: Decimal) -> tuple[int, ...]:
        """The next smaller and the next larger size of one that there is not; the smallest alone below it."""
        below = int(gib // self.step) * self.step
        sizes = sorted({*self.first, below, below + self.step} - {0})
        smaller, larger = [it for it in sizes if it < gib], [it for it in sizes if it > gib]
        return (*smaller[-1:], *larger[:1])

    @property
    def told(self) -> str:
        """In words, as sizes of documents."""
        return ", ".join([*(f"{it}Gi" for it in self.first), f"multiples of {self.step}Gi"])


@dataclass(frozen=True)
class Type:
    """A deployment type on one kind of disk.

    Attributes:
        sizes: Sizes by throughput, in MB/s for each TiB; by None where AWS takes none.
        writes: MB/s for each TiB that can be written where AWS takes none.
    """

    sizes: Mapping[int | None, Steps]
    writes: int = 0

    @property
    def throughputs(self) -> tuple[int, ...]:
        """The throughputs that it comes in; none where AWS takes none."""
        return tuple(it for it in self.sizes if it is not None)


_SSD = Steps((1200,), 2400)
TYPES: Mapping[tuple[str, str], Type] = {
    ("scratch-1", "ssd"): Type({None: Steps((1200, 2400), 3600)}, 100),
    ("scratch-2", "ssd"): Type({None: _SSD}, 100),
    ("persistent-1", "ssd"): Type(dict.fromkeys((50, 100, 200), _SSD)),
    ("persistent-1", "hdd"): Type({12: Steps((), 6000), 40: Steps((), 1800)}),
    ("persistent-2", "ssd"): Type(dict.fromkeys((125, 250, 500, 1000), _SSD)),
}
"""By deployment type and disk."""

EFA = Type({125: Steps((), 38400), 250: Steps((), 19200), 500: Steps((), 9600), 1000: Steps((), 4800)})
"""Those of type persistent-2 that are reached over EFA."""

METADATA = (1500, 3000, 6000, *range(12000, 192000 + 1, 12000))
"""Metadata operations per second that may be asked for."""


def api(deployment: str) -> str:
    """A deployment type in AWS's spelling."""
    return deployment.upper().replace("-", "_")


def persistent(deployment: str) -> bool:
    """Whether data outlives the failure of a file server."""
    return deployment.startswith("persistent")


def automatic_metadata(gib: int) -> int:
    """Metadata operations per second that AWS gives a file system by its size; fewer cannot be asked for.

    Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance.html (File system metadata performance).
    """
    if gib >= 48000:
        return min(gib // 24000 * 12000, METADATA[-1])
    return next(rate for size, rate in ((12000, 12000), (4800, 6000), (2400, 3000), (0, 1500)) if gib >= size)
