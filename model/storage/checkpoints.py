"""The contract about checkpoints: where they are written, kept and archived, how often, and what may be lost."""

from typing import Literal

from model.amounts import Memory
from model.base import Declared
from model.durations import Duration

Tier = Literal["scratch", "shared", "archive"]


class Largest(Declared):
    """The largest job: what its checkpoints ask of the tiers is computed from it."""

    size: Memory
    """One whole checkpoint of it: weights and the optimizer's state (14 to 16 bytes for each parameter)."""
    pool: str
    """The pool on which it runs."""
    nodes: int
    """Its nodes. Each writes its own part of a checkpoint, all at the same time."""


class Checkpoints(Declared):
    """What jobs can rely on, and what they promise in return."""

    write: Literal["scratch", "shared"]
    """The tier that a job writes to, while it waits."""
    keep: Literal["shared", "archive"]
    """The tier from which a job goes on after a failure."""
    archive: Literal["archive"] | None = None
    """The tier for good; none when left out."""
    every: Duration
    """Time between two checkpoints: `15m`."""
    retain: int
    """Whole checkpoints of a job that are kept, at least 1."""
    largest: Largest | None = None
    """The largest job. Left out: whether tiers are fast and large enough is not computed."""
    loss: Duration | None = None
    """The most work that may be lost when a node is; left out: what follows from the rest."""
