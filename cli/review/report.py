"""A review: everything that a report tells, before it is written in any form."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .findings import Finding

if TYPE_CHECKING:
    from model.document_changes import DocumentChange
    from twin.differences import Change


@dataclass(frozen=True)
class Review:
    """What a change of an environment does.

    Attributes:
        environment: Its name.
        file: Its stack file, from the top of the repository.
        against: What it is compared with, for people.
        findings: Broken rules, of the document and of the pack.
        rules: How many rules of the pack were asked; 0 where the document has mistakes.
        resources: How many resources there will be.
        changes: What happens to them; None where there is nothing to compare with.
        document: What the change of the document means; None where there is none to compare with.
        unjudged: What could not be judged or compared, a line each.
    """

    environment: str
    file: str
    against: str
    findings: tuple[Finding, ...]
    rules: int = 0
    resources: int = 0
    changes: "tuple[Change, ...] | None" = None
    document: "DocumentChange | None" = None
    unjudged: tuple[str, ...] = ()

    @property
    def broken(self) -> tuple[Finding, ...]:
        """The mandatory rules that are broken: they stop an update."""
        return tuple(finding for finding in self.findings if finding.level == "mandatory")
