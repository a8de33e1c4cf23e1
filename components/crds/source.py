"""Definitions as an upstream chart or manifest folder holds them, and the chart without them."""

import hashlib
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.crds import templated
from components.sources import CHARTS, SourceError, Sources, read, relative, replacement
from model.releases import Upstream, catalogued

KIND = "CustomResourceDefinition"

# Helm's own folder, the one that Volcano's templates read, and the same in charts below and in kustomize folders.
_FOLDERS = ("crds", "crd/bases")
# The prometheus-operator-crds chart: one template per definition, in a chart below it.
_TEMPLATES = "charts/crds/templates"
# All that it adds to a definition: whether it is wanted (by default it is), and more annotations (by default none).
_ACTION = re.compile(r"(?m)^ *\{\{-? (if|with|toYaml|end)\b.*\}\}\n?")
# Volcano's chart: each template is this one line and nothing else (installer/helm/chart/volcano/templates).
_INCLUSION = re.compile(
    r'\{\{-? *tpl \(\$?\.?\$\.Files\.Get \(printf "crd/%s/(?P<file>[^"/]+)" \(include "crd_version" \.\)\)\) \. *-?\}\}'
)

MADE_LATER = " (made at up)"
"""How the path of a chart ends in a rehearsal: later a digest of its content stands there."""


@dataclass(frozen=True)
class Definition:
    """One custom resource definition.

    Attributes:
        name: Its name, such as `queues.scheduling.volcano.sh`.
        body: The object; None before it can be read.
        origin: Where it stands, for people.
    """

    name: str
    body: Mapping[str, Any] | None
    origin: str


def definitions(upstream: Upstream, sources: Sources) -> list[Definition]:
    """Read the definitions of a release, sorted by name.

    In a rehearsal only their names are given: bodies are upstream's text and are read at `up`.

    Raises:
        SourceError: The source holds other definitions than the catalogue names for this release. A definition that is
            missed here would either not be installed or be owned, and one day deleted, by the release.
    """
    folder = sources.folder(upstream)
    if sources.rehearsal or folder is None:
        return [Definition(name, None, upstream.source) for name in sorted(upstream.crds)]
    found = {
        body["metadata"]["name"]: Definition(body["metadata"]["name"], body, relative(file, sources.project))
        for file, text in _texts(folder, upstream)
        # Reading four megabytes of definitions to leave most of them alone takes seconds.
        if not upstream.partial or any(f"name: {name}" in text for name in upstream.crds)
        for body in read(text)
        if body.get("kind") == KIND and (not upstream.partial or body["metadata"]["name"] in upstream.crds)
    }
    if set(found) != set(upstream.crds) and (upstream.partial or _is_catalogued(upstream)):
        missing = ", ".join(sorted(set(upstream.crds) - set(found))) or "none"
        unknown = ", ".join(sorted(set(found) - set(upstream.crds))) or "none"
        raise SourceError(
            f"{upstream.product} {upstream.version}: {upstream.source} does not hold the definitions that the "
            f"catalogue names; missing: {missing}; unknown: {unknown}"
        )
    return [found[name] for name in sorted(found)]


def _is_catalogued(upstream: Upstream) -> bool:
    """Say whether the catalogue speaks of this very version; of another, which the document names, it knows nothing."""
    known = catalogued().get(upstream.product)
    return known is None or known.version == upstream.version


def chart_without_definitions(upstream: Upstream, sources: Sources) -> str:
    """Write a copy of the chart that brings no definitions, and give its project-relative path.

    Volcano's chart (up to 1.15) renders its definitions as templates, so that Helm owns them: uninstalling the release
    would delete every queue and job, and Helm refuses definitions that somebody else applied. The copy leaves out
    exactly those one-line templates and the folders of definitions. Its name carries a hash of its content.

    Raises:
        SourceError: There is no chart, or a template renders definitions in another way than is known.
    """
    folder = sources.folder(upstream)
    if folder is None:
        return f"./{CHARTS}/{upstream.chart}-{upstream.version}{MADE_LATER}"
    if not (folder / "Chart.yaml").is_file():
        raise SourceError(f"{upstream.product}: {upstream.source} is no Helm chart: it has no Chart.yaml")
    dropped = {*_files(folder, upstream), *_inclusions(upstream, folder), *templated.files(folder)}
    # The definitions of Kubernetes before 1.16, which Volcano's chart carries along.
    kept = [
        file
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file not in dropped and "crd/v1beta1" not in file.as_posix()
    ]
    digest = hashlib.sha256()
    for file in kept:
        content = file.read_bytes()
        _refuse_definitions(upstream, folder, file, content)
        digest.update(f"{file.relative_to(folder).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    place = sources.project / CHARTS / f"{upstream.chart}-{upstream.version}-{digest.hexdigest()[:12]}"
    if not place.is_dir():
        with replacement(place) as copy:
            for file in kept:
                target = copy / file.relative_to(folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)
    return relative(place, sources.project)


def _files(folder: Path, upstream: Upstream) -> list[Path]:
    inside = sorted(path for path in folder.glob("charts/*") if path.is_dir() and path.name not in upstream.without)
    charts = [folder, *inside]
    found = [file for chart in charts for below in _FOLDERS for file in sorted((chart / below).glob("*.yaml"))]
    # Where there is no chart around them, as in the repository of the Prometheus Operator, they may be all there is.
    return found or ([] if (folder / "Chart.yaml").is_file() else sorted(folder.glob("*.yaml")))


def _texts(folder: Path, upstream: Upstream) -> Iterator[tuple[Path, str]]:
    """The files of definitions, and what stands in them."""
    for file in _files(folder, upstream):
        yield file, file.read_text(encoding="utf-8")
    for file in sorted(folder.glob(f"{_TEMPLATES}/crd-*.yaml")):
        yield file, _ACTION.sub("", file.read_text(encoding="utf-8"))
    yield from templated.texts(folder)


def _inclusions(upstream: Upstream, folder: Path) -> set[Path]:
    """Find the templates that render nothing but one definition, and check that together they render all of them."""
    templates = {}
    for file in sorted(folder.rglob("templates/*.yaml")):
        match = _INCLUSION.fullmatch(file.read_text(encoding="utf-8").strip())
        if match and not _switched_off(upstream, folder, file):
            templates[file] = file.parents[1] / "crd/bases" / match["file"]
    templated = {file for file in _files(folder, upstream) if file.parent.name == "bases"}
    if set(templates.values()) != templated:
        odd = ", ".join(sorted(file.name for file in set(templates.values()) ^ templated))
        raise SourceError(
            f"{upstream.product} {upstream.version}: the chart does not render its definitions in the known way "
            f"({odd}); installing it would make the release own them"
        )
    return set(templates)


def _refuse_definitions(upstream: Upstream, folder: Path, file: Path, content: bytes) -> None:
    if _switched_off(upstream, folder, file):
        return
    if f"kind: {KIND}".encode() in content and "templates" in file.relative_to(folder).parts:
        raise SourceError(
            f"{upstream.product} {upstream.version}: {file.relative_to(folder)} renders a {KIND} in a way that is not "
            "known; installing it would make the release own it"
        )


def _switched_off(upstream: Upstream, folder: Path, file: Path) -> bool:
    """Say whether a file belongs to a chart inside that is never rendered."""
    parts = file.relative_to(folder).parts
    return parts[0] == "charts" and parts[1] in upstream.without
