"""What a change of document does to something that runs, in words."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Disruption:
    """What a change does to something that runs.

    Attributes:
        subject: What it is done to: `pool train`, `Ray cluster tuning`.
        change: What was changed.
        effect: What that means.
        drains: Whether nodes must be emptied for it.
    """

    subject: str
    change: str
    effect: str
    drains: bool

    def __str__(self) -> str:
        return f"{self.subject}: {self.change}: {self.effect}"
