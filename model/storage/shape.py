"""Storage as a document declares it."""

from model.base import Declared

from .archive import Archive
from .cache import Cache
from .checkpoints import Checkpoints
from .scratch import Scratch
from .shared import Shared


class Storage(Declared):
    """Storage by tiers, from hot to cold. What is left out is not there."""

    scratch: Scratch | None = None
    """Hot: the nodes' own NVMe disks."""
    shared: Shared | None = None
    """Warm: a file system that all nodes share."""
    archive: Archive | None = None
    """Cold: an object store."""
    cache: Cache | None = None
    """A cache of datasets, between the archive and the nodes."""
    checkpoints: Checkpoints | None = None
    """The contract about checkpoints."""
