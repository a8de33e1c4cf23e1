"""Upstream charts and manifests as folders on this machine.

A release's source is a directory, an archive, a chart repository or an OCI reference. Whatever it is, components see
a folder: so a site without internet, the twin and everybody else run the same code, and the state names the same
project-relative path on every machine. What is downloaded is kept under `.charts/`, which is git-ignored.
"""

import hashlib
import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx2
import yaml

from model.releases import Upstream

PROJECT = Path(__file__).resolve().parents[1]
CHARTS = ".charts"

_CHART_LAYER = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
_MANIFESTS = "application/vnd.oci.image.manifest.v1+json"
_TIMEOUT = httpx2.Timeout(30, read=120)


class SourceError(ValueError):
    """A source that cannot be read; the message names the product, the source and a way out."""


@dataclass(frozen=True)
class Sources:
    """Where upstream releases are found.

    Attributes:
        project: The folder that relative sources and `.charts/` are below.
        rehearsal: True when nothing will be applied: then nothing is downloaded, and a source that is not on this
            machine yet is no error.
    """

    project: Path = PROJECT
    rehearsal: bool = False

    def folder(self, upstream: Upstream) -> Path | None:
        """Give the folder of a release's chart or manifests; None in a rehearsal when it is not here yet.

        Raises:
            SourceError: It is not there, cannot be downloaded, is not the expected content or holds another version.
        """
        source = upstream.source
        scheme = urlsplit(source).scheme
        if scheme in {"http", "https", "oci"}:
            folder = self._downloaded(upstream)
        elif source.endswith((".tgz", ".tar.gz")):
            folder = self._archive(upstream)
        else:
            folder = self._directory(upstream)
        if folder is not None:
            _check_version(folder, upstream)
        return folder

    def _directory(self, upstream: Upstream) -> Path | None:
        folder = self.project / upstream.source
        if folder.is_dir():
            return folder
        if self.rehearsal:
            return None
        raise SourceError(f"{upstream.product}: the folder {upstream.source} is not there")

    def _archive(self, upstream: Upstream) -> Path | None:
        archive = self.project / upstream.source
        if not archive.is_file():
            if self.rehearsal:
                return None
            raise SourceError(f"{upstream.product}: the archive {upstream.source} is not there")
        content = archive.read_bytes()
        return self._unpacked(upstream, hashlib.sha256(content).hexdigest(), lambda: content)

    def _downloaded(self, upstream: Upstream) -> Path | None:
        # A published version never changes its content, so the place it came from identifies it.
        key = hashlib.sha256(f"{upstream.source} {upstream.chart} {upstream.version}".encode()).hexdigest()
        if self.rehearsal:
            folder = self._place(upstream, key)
            return folder if folder.is_dir() else None
        return self._unpacked(upstream, key, lambda: _download(upstream))

    def _place(self, upstream: Upstream, key: str) -> Path:
        return self.project / CHARTS / f"{upstream.chart}-{upstream.version}-{key[:12]}-upstream"

    def _unpacked(self, upstream: Upstream, key: str, content: Callable[[], bytes]) -> Path:
        place = self._place(upstream, key)
        if not place.is_dir():
            with replacement(place) as folder:
                _unpack(upstream, content(), folder)
        return place


@contextmanager
def replacement(place: Path) -> Iterator[Path]:
    """Give an empty folder that becomes `place` when the block ends well: readers see all of it or nothing."""
    place.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
    try:
        scratch.chmod(0o755)
        yield scratch
        try:
            scratch.rename(place)
        except OSError:
            # Another run was faster. Names carry a hash of the content, so its folder is as good as ours.
            if not place.is_dir():
                raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _unpack(upstream: Upstream, content: bytes, folder: Path) -> None:
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        try:
            with tarfile.open(fileobj=file, mode="r:gz") as archive:
                archive.extractall(folder, filter="data")
        except (tarfile.TarError, OSError, EOFError) as error:
            raise SourceError(f"{upstream.product}: {upstream.source} is not a chart archive: {error}") from error
    # A chart archive holds one folder, named after the chart.
    tops = list(folder.iterdir())
    if len(tops) == 1 and tops[0].is_dir():
        inner = tops[0].rename(folder / f"{tops[0].name}.unpacked")
        for entry in list(inner.iterdir()):
            entry.rename(folder / entry.name)
        inner.rmdir()


def _check_version(folder: Path, upstream: Upstream) -> None:
    chart = folder / "Chart.yaml"
    if not chart.is_file():
        return
    described = yaml.safe_load(chart.read_text(encoding="utf-8"))
    # Some projects write a chart's version into Chart.yaml only when they publish it (NFD: "0.2.1" in its tree).
    found = {str(described[key]).removeprefix("v") for key in ("version", "appVersion") if key in described}
    if upstream.version.removeprefix("v") not in found:
        raise SourceError(
            f"{upstream.product}: {upstream.source} holds version {' or '.join(sorted(found)) or 'none'}, "
            f"wanted is {upstream.version}; fix: set releases.{upstream.product}.version, or give another source"
        )


def _download(upstream: Upstream) -> bytes:
    try:
        with httpx2.Client(timeout=_TIMEOUT, follow_redirects=True) as client:
            if upstream.source.startswith("oci://"):
                content, expected = _from_registry(client, upstream)
            else:
                content, expected = _from_repository(client, upstream)
    except httpx2.HTTPError as error:
        raise SourceError(
            f"{upstream.product}: cannot get chart {upstream.chart} {upstream.version} from {upstream.source}: "
            f"{error}; fix: set releases.{upstream.product}.source to a mirror, an archive (*.tgz) or a directory"
        ) from error
    actual = hashlib.sha256(content).hexdigest()
    for wanted, origin in ((expected, upstream.source), (upstream.sha256, "the catalogue")):
        if wanted and actual != wanted.removeprefix("sha256:"):
            raise SourceError(
                f"{upstream.product}: chart {upstream.chart} {upstream.version} has SHA-256 {actual}, "
                f"{origin} says {wanted}; nothing was installed"
            )
    return content


def _from_repository(client: httpx2.Client, upstream: Upstream) -> tuple[bytes, str | None]:
    base = upstream.source.rstrip("/") + "/"
    index = yaml.load(_get(client, urljoin(base, "index.yaml")).content, Loader=yaml.CSafeLoader)
    entries = index.get("entries", {}).get(upstream.chart, [])
    for entry in entries:
        if str(entry["version"]).removeprefix("v") == upstream.version.removeprefix("v"):
            return _get(client, urljoin(base, entry["urls"][0])).content, entry.get("digest")
    known = ", ".join(str(entry["version"]) for entry in entries[:5]) or "none"
    raise SourceError(
        f"{upstream.product}: {upstream.source} has no version {upstream.version} of chart {upstream.chart}; "
        f"newest there: {known}"
    )


def _from_registry(client: httpx2.Client, upstream: Upstream) -> tuple[bytes, str | None]:
    """Pull a public chart (OCI distribution specification, "Pulling manifests" and "Pulling blobs")."""
    host, _, repository = upstream.source.removeprefix("oci://").rstrip("/").partition("/")
    if not repository.endswith(f"/{upstream.chart}") and repository != upstream.chart:
        repository = f"{repository}/{upstream.chart}"
    scheme = "http" if host.split(":")[0] in {"127.0.0.1", "localhost"} else "https"
    root = f"{scheme}://{host}/v2/{repository}"
    manifest = _get(client, f"{root}/manifests/{upstream.version}", accept=_MANIFESTS, upstream=upstream).json()
    for layer in manifest.get("layers", []):
        if layer["mediaType"] == _CHART_LAYER:
            return _get(client, f"{root}/blobs/{layer['digest']}", upstream=upstream).content, layer["digest"]
    raise SourceError(f"{upstream.product}: {upstream.source} {upstream.version} is no Helm chart")


def _get(client: httpx2.Client, url: str, *, accept: str = "*/*", upstream: Upstream | None = None) -> httpx2.Response:
    response = client.get(url, headers={"Accept": accept})
    if response.status_code == httpx2.codes.UNAUTHORIZED and upstream is not None:
        token = _anonymous_token(client, response.headers.get("WWW-Authenticate", ""), upstream)
        response = client.get(url, headers={"Accept": accept, "Authorization": f"Bearer {token}"})
    return response.raise_for_status()


def _anonymous_token(client: httpx2.Client, challenge: str, upstream: Upstream) -> str:
    scheme, _, rest = challenge.partition(" ")
    fields: dict[str, str] = {}
    for part in rest.split(","):
        name, _, value = part.strip().partition("=")
        fields[name] = value.strip('"')
    if scheme.lower() == "bearer" and "realm" in fields:
        query = {name: value for name, value in fields.items() if name in {"service", "scope"}}
        answer = client.get(fields["realm"], params=query)
        if answer.is_success:
            body = answer.json()
            return body.get("token") or body["access_token"]
    raise SourceError(
        f"{upstream.product}: {upstream.source} asks for a login; "
        f"fix: `helm pull` the chart and set releases.{upstream.product}.source to the *.tgz"
    )


def documents(file: Path) -> list[Mapping[str, Any]]:
    """Read the YAML documents of one file, without empty ones."""
    return read(file.read_text(encoding="utf-8"))


def read(text: str) -> list[Mapping[str, Any]]:
    """Read YAML documents, without empty ones."""
    # The loader written in C reads KubeRay's 4 MB of definitions in two seconds; the other takes twenty.
    return [entry for entry in yaml.load_all(text, Loader=yaml.CSafeLoader) if entry]


def relative(path: Path, project: Path) -> str:
    """Give a path below the project as the state should name it: the same on every machine."""
    return f"./{os.path.relpath(path, project)}"
