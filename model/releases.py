"""Which upstream releases an environment runs. What it leaves out comes from the catalogue."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from catalog import reader as catalog

from .base import Declared
from .problems import Problem, Subject, each, known, nearest

if TYPE_CHECKING:
    from .environment import Environment

_EXACT = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})(-[0-9A-Za-z.-]+)?")
_REMOTE = re.compile(r"(https|oci)://[^\s/]+(/\S*)?")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://")
_SOURCES = "https://… (chart repository), oci://… (chart), a *.tgz or a directory relative to the project"


class Release(Declared):
    """Overrides for one upstream product."""

    version: str | None = None
    """Exact version."""
    source: str | None = None
    """Where its chart or manifests come from: a chart repository (https://...), an OCI reference (oci://...), an
    archive (*.tgz) or a directory, the last two relative to the project. Air-gapped sites and the twin use these."""


@dataclass(frozen=True)
class Upstream:
    """An upstream product as one environment installs it.

    Attributes:
        product: Its name in documents.
        version: Exact version, without a leading `v`.
        chart: Name of its Helm chart; none where only its images are used.
        source: Where its chart or manifests come from; none without a chart.
        images: Full image references (or parts of them) by role.
        crds: Names of the custom resource definitions that it brings.
        sha256: Checksum of the catalogue's chart archive; None where it is unknown or the document names another one.
        without: Charts inside its chart that are switched off, with the definitions that they bring.
        partial: Whether its source holds more definitions, which are left alone.
    """

    product: str
    version: str
    chart: str
    source: str
    images: Mapping[str, str]
    crds: tuple[str, ...]
    sha256: str | None
    without: tuple[str, ...] = ()
    partial: bool = False


def upstream(env: "Environment", product: str) -> Upstream:
    """An upstream product as an environment installs it: the catalogue's entry with the document's overrides."""
    known = catalogued()[product]
    exact = version(env, product)
    return Upstream(
        product=product,
        version=exact,
        chart=known.chart,
        source=source(env, product),
        images={role: text.format(version=exact) for role, text in known.images.items()},
        crds=tuple(known.crds),
        without=tuple(known.without),
        sha256=known.sha256 if (exact, source(env, product)) == (known.version, known.repository) else None,
        partial=known.partial,
    )


def catalogued() -> Mapping[str, catalog.Release]:
    """The products that environments run, by name."""
    return catalog.releases()


def version(env: "Environment", product: str) -> str:
    """The exact version of a product in an environment."""
    override = env.releases.get(product)
    if override is not None and override.version:
        return override.version
    known = catalogued()[product]
    return known.by_kubernetes.get(env.cluster.kubernetes, known.version)


def source(env: "Environment", product: str) -> str:
    """Where a product's chart or manifests come from in an environment."""
    override = env.releases.get(product)
    return override.source if override is not None and override.source else catalogued()[product].repository


def newest_kubernetes(env: "Environment", product: str) -> int | None:
    """The newest minor of Kubernetes 1 that the product's release is made for; None where that is not known."""
    known = catalogued()[product]
    return known.newest_kubernetes if version(env, product) == known.version else None


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with the overrides."""
    yield from each(("releases",), env.releases, env, _product, _version, _age, _source)


def _product(it: Subject[Release]) -> Iterator[Problem]:
    if it.name not in catalogued():
        allowed = ", ".join(sorted(catalogued()))
        yield Problem(it.at, it.name, "is no product of this project", allowed, nearest(it.name, catalogued()))


def _version(it: Subject[Release]) -> Iterator[Problem]:
    written = known(it.value.version)
    if written is not None and not _EXACT.fullmatch(written):
        plain = written.removeprefix("v")
        fix = f'"{plain}"' if _EXACT.fullmatch(plain) else None
        message = "must be one exact version, so that two runs install the same"
        yield Problem((*it.at, "version"), written, message, 'such as "1.15.1"', fix)


def _age(it: Subject[Release]) -> Iterator[Problem]:
    written, entry = known(it.value.version), catalogued().get(it.name)
    if written is None or entry is None or entry.oldest is None or not _EXACT.fullmatch(written):
        return
    if _order(written) < _order(entry.oldest):
        message = f"is older than {entry.oldest}, the first with what is needed: {entry.needs}"
        yield Problem((*it.at, "version"), written, message, f"{entry.oldest} or newer", f'"{entry.version}"')


def _order(exact: str) -> tuple[int, int, int, bool]:
    """Where a version stands among others; one on the way to a release stands before it."""
    parts = _EXACT.fullmatch(exact)
    if parts is None:
        raise ValueError(f"{exact} is no exact version")
    return int(parts[1]), int(parts[2]), int(parts[3]), parts[4] is None


def _source(it: Subject[Release]) -> Iterator[Problem]:
    written, at = known(it.value.source), (*it.at, "source")
    if written is None:
        return
    entry = catalogued().get(it.name)
    if entry is not None and not entry.chart:
        yield Problem(at, written, f"{it.name} is installed without a chart", "nothing: leave it out")
    elif _REMOTE.fullmatch(written):
        return
    elif scheme := _SCHEME.match(written):
        fix = written.replace(scheme[0], "https://", 1) if scheme[0] == "http://" else None
        yield Problem(at, written, f"{scheme[0]} is no source of charts", _SOURCES, fix)
    elif not written.strip() or written != written.strip():
        yield Problem(at, written, "must be a place", _SOURCES)
    elif PurePosixPath(written).is_absolute() or written.startswith("~"):
        message = "must be relative to the project, so that every machine has the same state"
        yield Problem(at, written, message, _SOURCES)
