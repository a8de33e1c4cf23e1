"""The batch scheduler."""

from typing import Literal

from .base import Declared


class Scheduler(Declared):
    """Which scheduler places the gangs."""

    kind: Literal["volcano"] = "volcano"
    """`volcano`: gangs, queues and topology by Volcano."""
