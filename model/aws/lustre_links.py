"""Links of a Lustre file system on AWS with the archive: folders that AWS fills from a bucket, and exports to it.

Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html. All deployment
types have them but scratch-1.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from model import tenants
from model.problems import NOTHING, Path, Problem, answered, known, lost
from model.storage.shared import Link, Lustre

from . import storage

if TYPE_CHECKING:
    from model.environment import Environment

_AT = ("storage", "shared", "links")
_MOST = 8


def linked(env: "Environment") -> tuple[Link, ...]:
    """The links of the file system that is made; none where none is."""
    found = storage.lustre(env)
    return known(found.links) if found else ()


def values(lustre: Lustre) -> Iterator[Problem]:
    """What is wrong with links by themselves."""
    links = known(lustre.links)
    if links and not lost(lustre.deployment) and lustre.deployment == "scratch-1":
        message = "scratch-1 has no links with a bucket"
        yield Problem(_AT, len(links), message, "with scratch-2, persistent-1, persistent-2", "deployment: scratch-2")
        return
    if len(links) > _MOST:
        message = f"a file system has {_MOST} links at most"
        yield Problem(_AT, len(links), message, f"at most {_MOST}", spoils=NOTHING)
    paths, prefixes = dict[str, int](), dict[str, int]()
    for index, link in enumerate(links):
        if not lost(link):
            yield from answered(_path, (*_AT, index, "path"), link, paths, index)
            yield from answered(_prefix, (*_AT, index, "prefix"), link, prefixes, index)


def references(env: "Environment", lustre: Lustre) -> Iterator[Problem]:
    """Links with an archive or a namespace that is not there."""
    yield from answered(_archive, env, lustre)
    yield from answered(_namespaces, env, lustre)


def _path(at: Path, link: Link, before: dict[str, int], index: int) -> Iterator[Problem]:
    path = known(link.path)
    if not path.startswith("/") or path != f"/{'/'.join(_parts(path))}" or not {".", ".."}.isdisjoint(_parts(path)):
        yield Problem(at, path, "is no folder of the file system", "such as /research/datasets", _mended(path))
        return
    yield from _overlapping(at, path, f"{path.rstrip('/')}/", before, index, "folders")


def _prefix(at: Path, link: Link, before: dict[str, int], index: int) -> Iterator[Problem]:
    prefix = known(link.prefix)
    plain = "/".join(_parts(prefix))
    if not plain or prefix != f"{plain}/" or not {".", ".."}.isdisjoint(_parts(prefix)):
        fix = f"prefix: {plain}/" if plain else None
        yield Problem(at, prefix, "is no part of the archive", "such as datasets/, with a slash at its end only", fix)
        return
    yield from _overlapping(at, prefix, prefix, before, index, "parts of the archive")


def _overlapping(
    at: Path, written: str, plain: str, before: dict[str, int], index: int, what: str
) -> Iterator[Problem]:
    """Tell of folders within each other, which AWS refuses, and of objects that two links would import and export."""
    for other, where in before.items():
        if plain.startswith(other) or other.startswith(plain):
            message = f"lies within that of links[{where}], or the other way round: {what} of links do not overlap"
            yield Problem(at, written, message, f"{what} apart from each other")
            return
    before[plain] = index


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def _mended(path: str) -> str | None:
    parts = _parts(path)
    return f"path: /{'/'.join(parts)}" if parts and {".", ".."}.isdisjoint(parts) else None


def _archive(env: "Environment", lustre: Lustre) -> Iterator[Problem]:
    if known(lustre.links) and storage.archive(env) is None:
        message = "links go to the archive, and no bucket is made for one"
        yield Problem(_AT, len(lustre.links), message, fix="archive: {kind: s3}", spoils=NOTHING)


def _namespaces(env: "Environment", lustre: Lustre) -> Iterator[Problem]:
    """Each namespace mounts a folder of its own: what lies elsewhere would be seen by nobody."""
    owners = tenants.by_namespace(env)
    for index, link in enumerate(known(lustre.links)):
        if lost(link) or lost(link.path) or not owners:
            continue
        first, *rest = _parts(link.path) or [""]
        if first not in owners:
            message = "a namespace sees what is below its own folder, and this is in none"
            fix = f"path: /{next(iter(owners))}/{'/'.join(rest or [first])}".rstrip("/")
            allowed = ", ".join(f"/{name}/…" for name in owners)
            yield Problem((*_AT, index, "path"), link.path, message, allowed, fix, spoils=NOTHING)
