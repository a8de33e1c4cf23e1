"""How fast tiers take what all nodes of a job write at the same time."""

from decimal import Decimal
from typing import TYPE_CHECKING

from model.aws import lustre, storage
from model.problems import Path, known

from .checkpoints import Tier

if TYPE_CHECKING:
    from model.environment import Environment


def of(env: "Environment", tier: Tier, nodes: int) -> Decimal | None:
    """Bytes per second of a tier; None where nobody has said.

    Args:
        env: The environment, which has the tier.
        tier: The tier.
        nodes: How many nodes write. Disks of nodes add up; what nodes share does not get faster.

    Raises:
        Unanswerable: What says it could not be read.
    """
    if tier == "shared" and storage.lustre(env) is not None:
        return Decimal(lustre.write_rate(env))
    write = known(known(getattr(env.storage, known(tier))).write)
    if write is None:
        return None
    return write.value * nodes if tier == "scratch" else write.value


def place(tier: Tier) -> Path:
    """Where a document says it."""
    return ("storage", tier, "write")
