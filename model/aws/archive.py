"""What a document may say of a bucket that is made on AWS for the archive, and when its objects get cheaper.

Source of what class may follow on which: https://docs.aws.amazon.com/AmazonS3/latest/userguide/lifecycle-transition-general-considerations.html.
"""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from model.problems import NOTHING, Path, Problem, answered, known, lost, nearest
from model.storage.archive import S3, Transition

from . import storage

if TYPE_CHECKING:
    from model.environment import Environment

AT = ("storage", "archive")
_NEXT: Mapping[str, tuple[str, ...]] = {
    "STANDARD_IA": ("INTELLIGENT_TIERING", "ONEZONE_IA", "GLACIER_IR", "GLACIER", "DEEP_ARCHIVE"),
    "INTELLIGENT_TIERING": ("ONEZONE_IA", "GLACIER_IR", "GLACIER", "DEEP_ARCHIVE"),
    "ONEZONE_IA": ("GLACIER", "DEEP_ARCHIVE"),
    "GLACIER_IR": ("GLACIER", "DEEP_ARCHIVE"),
    "GLACIER": ("DEEP_ARCHIVE",),
    "DEEP_ARCHIVE": (),
}
"""Classes of storage by price, each with those that objects may go on to."""
_WAIT = 30
"""Days that an object has been stored before it goes to an IA class, and that it stays there."""
_INFREQUENT = ("STANDARD_IA", "ONEZONE_IA")
_ASLEEP = ("GLACIER", "DEEP_ARCHIVE")
"""Classes whose objects cannot be read before somebody has restored them, in hours."""
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]")
_KEPT = re.compile(r"(xn--|sthree-|amzn-s3-demo-).*|.*(-s3alias|--ol-s3|--x-s3|--table-s3)")
"""https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html. Dots are left out: AWS's
certificates do not fit names that have them."""


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with it by itself."""
    archive = known(known(env.storage).archive)
    if not isinstance(archive, S3):
        return
    if storage.archive(env) is None:
        if not lost(archive.transitions) and archive.transitions:
            message = "the bucket is there already, and so are its rules"
            allowed = "on AWS, without endpoint"
            yield Problem((*AT, "transitions"), "transitions", message, allowed, "leave it out", spoils=NOTHING)
        return
    if not lost(archive.secret) and archive.secret is not None:
        message = "jobs reach a bucket that is made by roles of their own, without keys"
        yield Problem((*AT, "secret"), archive.secret, message, "with endpoint", "leave it out", spoils=NOTHING)
    yield from answered(_bucket, archive)
    yield from answered(transitions, archive)


def limits(env: "Environment") -> Iterator[Problem]:
    """Classes from which nothing is read at once, where something reads."""
    if storage.archive(env) is not None:
        yield from answered(_asleep, env)


def _bucket(archive: S3) -> Iterator[Problem]:
    name, at = known(archive.bucket), (*AT, "bucket")
    if name is None:
        return
    if not _NAME.fullmatch(name):
        plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:63].rstrip("-")
        allowed = "3 to 63 lower-case letters, digits and -; a letter or digit at both ends"
        fix = f"bucket: {plain}" if _NAME.fullmatch(plain) else None
        yield Problem(at, name, "is no name for a bucket", allowed, fix, spoils=NOTHING)
    elif _KEPT.fullmatch(name):
        yield Problem(at, name, "begins or ends as names that AWS keeps for itself", spoils=NOTHING)


def transitions(archive: S3) -> Iterator[Problem]:
    """What is wrong with the classes of an archive, their order and their days: the first mistake."""
    before: tuple[int, Transition] | None = None
    for index, transition in enumerate(known(archive.transitions)):
        at = (*AT, "transitions", index)
        if lost(transition) or lost(transition.storage_class) or lost(transition.after):
            return
        found = [*_class(at, transition), *_days(at, transition)]
        yield from found
        if found:
            return
        if before is not None:
            found = list(_order(at, transition, *before))
            yield from found
            if found:
                return
        before = index, transition


def _class(at: Path, transition: Transition) -> Iterator[Problem]:
    name = transition.storage_class
    if name not in _NEXT:
        fix = nearest(name, _NEXT)
        yield Problem((*at, "class"), name, "is no class of S3 that objects go to", ", ".join(_NEXT), fix)


def _days(at: Path, transition: Transition) -> Iterator[Problem]:
    after, name = transition.after, transition.storage_class
    if after.seconds % 86_400:
        message = "S3 looks at the age of objects once a day"
        yield Problem((*at, "after"), after.text, message, "whole days, such as 30d", f"after: {after.days + 1}d")
    elif name in _INFREQUENT and after.days < _WAIT:
        message = f"objects are stored {_WAIT} days before they go to {name}"
        yield Problem((*at, "after"), after.text, message, f"at least {_WAIT}d", f"after: {_WAIT}d")


def _order(at: Path, transition: Transition, first: int, earlier: Transition) -> Iterator[Problem]:
    name, days = transition.storage_class, transition.after.days
    if name not in _NEXT[earlier.storage_class]:
        message = f"objects do not go there from {earlier.storage_class} (transitions[{first}]): each class is cheaper"
        allowed = ", ".join(_NEXT[earlier.storage_class]) or "nothing further"
        yield Problem((*at, "class"), name, message, allowed, spoils=NOTHING)
        return
    least = earlier.after.days + (_WAIT if earlier.storage_class in _INFREQUENT else 1)
    if days < least:
        stay = f", where they stay {_WAIT} days" if earlier.storage_class in _INFREQUENT else ""
        message = f"objects go to {earlier.storage_class} after {earlier.after}{stay}"
        yield Problem((*at, "after"), transition.after.text, message, f"at least {least}d", f"after: {least}d")


def _asleep(env: "Environment") -> Iterator[Problem]:
    archive, lustre = known(env.storage.archive), storage.lustre(env)
    checkpoints = known(env.storage.checkpoints)
    readers = [
        *(
            ["checkpoints"]
            if checkpoints and "archive" in (known(checkpoints.keep), known(checkpoints.archive))
            else []
        ),
        *(["links of the shared file system"] if lustre and known(lustre.links) else []),
    ]
    for index, transition in enumerate(known(archive.transitions) if isinstance(archive, S3) and readers else ()):
        if known(transition.storage_class) in _ASLEEP:
            message = (
                f"objects there are read hours after somebody restored them, and {' and '.join(readers)} need them"
            )
            at = (*AT, "transitions", index, "class")
            yield Problem(at, transition.storage_class, message, "GLACIER_IR is read at once", severity="warning")
            return


def lifecycle(env: "Environment") -> tuple[tuple[int, str], ...]:
    """Days and classes of the bucket that is made, in their order."""
    archive = storage.archive(env)
    return tuple((it.after.days, it.storage_class) for it in archive.transitions) if archive else ()
