"""Makes a review: reads, judges and rehearses an environment as it is now, and compares it with what it was."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cli import environments, rendering
from cli.environments import STACKS
from model import document, document_changes, queue_changes
from model.problems import DocumentError
from model.reading import Positions
from twin import differences
from twin.rehearsal import rehearse

from . import before, findings
from .places import Places
from .report import Review

if TYPE_CHECKING:
    from twin.monitor import Resource


@dataclass(frozen=True)
class Now:
    """An environment as it is now.

    Attributes:
        name: Its name.
        verdict: What is known of its document.
        resources: What its stack would make; nothing where the document has mistakes.
        value: The document as it is written.
        positions: Where its values stand.
    """

    name: str
    verdict: document.Verdict
    resources: "tuple[Resource, ...]" = ()
    value: Any = None
    positions: Positions = field(default_factory=lambda: Positions(None))


def read(name: str) -> Now:
    """Read, judge and rehearse an environment.

    Raises:
        RefusedError: Its secrets would be encrypted by the twin's passphrase.
        RehearsalError: Its program is not sound.
    """
    try:
        found = document.read(STACKS / f"Pulumi.{name}.yaml")
    except DocumentError as error:
        return Now(name, document.Verdict(None, error.problems))
    environments.refuse_copied_salt(name)
    verdict = found.judge(rendering.now())
    resources = rehearse(verdict.environment, stack=name).resources if verdict.environment else ()
    return Now(name, verdict, resources, found.value, found.positions)


def review(now: Now, against: str, was: Callable[[], before.Before]) -> Review:
    """Judge an environment, and compare it with what it was unless its document has mistakes.

    Args:
        now: The environment.
        against: What it is compared with, for people.
        was: Gives what it was.
    """
    prefix = before.prefix()
    file = f"{prefix}{STACKS.name}/Pulumi.{now.name}.yaml"
    places = Places(file, prefix, now.value, now.positions, now.verdict.environment, now.resources)
    mistakes = tuple(findings.of_document(now.verdict.problems, places))
    environment = now.verdict.environment
    if environment is None:
        return Review(now.name, file, against, mistakes)
    judged = findings.judge(now.resources, places)
    old = was()
    refused = queue_changes.problems(old.environment, environment) if old.environment else ()
    changes = None if old.resources is None else differences.changes(old.resources, now.resources, saved=old.saved)
    unforeseen = sorted({each.resource.type for each in changes or () if not each.foreseen})
    return Review(
        environment=now.name,
        file=file,
        against=against,
        findings=(*judged.findings, *mistakes, *findings.of_document(refused, places, findings.PASSABLE)),
        rules=judged.rules,
        resources=sum(each.custom and not each.read for each in now.resources),
        changes=None if changes is None else tuple(changes),
        document=document_changes.between(old.environment, environment) if old.new or old.environment else None,
        unjudged=(
            *([old.note] if old.note else []),
            *(f"whether a change replaces a {each}: what does is not known here" for each in unforeseen),
            *judged.unjudged,
        ),
    )
