"""Every kind of source ends as a folder, and every way in which one can be wrong ends in a clear refusal."""

import contextlib
import hashlib
import http.server
import io
import json
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml

from components.sources import CHARTS, SourceError, Sources, replacement
from model.releases import Upstream

CHART = {"name": "thing", "version": "1.2.3", "apiVersion": "v2"}


def archive(chart: dict[str, str] | None = None, files: dict[str, str] | None = None) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, text in {"Chart.yaml": yaml.safe_dump(chart or CHART), **(files or {})}.items():
            entry = tarfile.TarInfo(f"thing/{name}")
            entry.size = len(text.encode())
            tar.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()


def thing(source: str, version: str = "1.2.3", sha256: str | None = None) -> Upstream:
    return Upstream(product="thing", version=version, chart="thing", source=source, sha256=sha256, images={}, crds=())


class Server(http.server.BaseHTTPRequestHandler):
    pages: ClassVar[dict[str, bytes]]
    token: ClassVar[str | None]
    asked: ClassVar[list[str]]

    def do_GET(self) -> None:
        type(self).asked.append(self.path)
        path, host = self.path.partition("?")[0], self.headers["Host"]
        if path == "/token":
            return self._answer(200, json.dumps({"token": "abc"}).encode())
        if path.startswith("/v2/") and self.token and self.headers.get("Authorization") != f"Bearer {self.token}":
            challenge = f'Bearer realm="http://{host}/token",service="registry",scope="repository:charts/thing:pull"'
            return self._answer(401, b"", {"WWW-Authenticate": challenge})
        if path in self.pages:
            return self._answer(200, self.pages[path])
        return self._answer(404, b"")

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the name in the base class
        """Stay silent."""


@contextlib.contextmanager
def serving(pages: dict[str, bytes], token: str | None = None) -> Iterator[tuple[str, list[str]]]:
    handler = type("Handler", (Server,), {"pages": pages, "token": token, "asked": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}", handler.asked
    finally:
        server.shutdown()
        server.server_close()


def repository(content: bytes, **entry: object) -> dict[str, bytes]:
    entries = [{"version": "1.2.3", "urls": ["files/thing-1.2.3.tgz"], **entry}, {"version": "1.2.2", "urls": ["x"]}]
    index = {"entries": {"thing": entries}}
    return {"/charts/index.yaml": yaml.safe_dump(index).encode(), "/charts/files/thing-1.2.3.tgz": content}


def registry(content: bytes, digest: str | None = None) -> dict[str, bytes]:
    digest = digest or f"sha256:{hashlib.sha256(content).hexdigest()}"
    layer = {"mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip", "digest": digest}
    manifest = json.dumps({"layers": [{"mediaType": "other", "digest": "sha256:0"}, layer]}).encode()
    return {"/v2/charts/thing/manifests/1.2.3": manifest, f"/v2/charts/thing/blobs/{digest}": content}


def test_directory_is_used_where_it_stands(tmp_path: Path) -> None:
    folder = tmp_path / "vendor" / "thing"
    folder.mkdir(parents=True)
    (folder / "Chart.yaml").write_text(yaml.safe_dump(CHART))
    assert Sources(tmp_path).folder(thing("vendor/thing")) == folder
    assert not (tmp_path / CHARTS).exists()


def test_archive_is_unpacked_once(tmp_path: Path) -> None:
    (tmp_path / "thing.tgz").write_bytes(archive(files={"crds/a.yaml": "a: 1"}))
    folder = Sources(tmp_path).folder(thing("thing.tgz"))
    assert folder is not None
    assert (folder / "crds/a.yaml").read_text() == "a: 1"
    stamp = folder.stat().st_mtime_ns
    assert Sources(tmp_path).folder(thing("thing.tgz")) == folder
    assert folder.stat().st_mtime_ns == stamp
    assert [path.name for path in (tmp_path / CHARTS).iterdir()] == [folder.name]


def test_chart_repository_is_asked_once(tmp_path: Path) -> None:
    content = archive()
    with serving(repository(content, digest=hashlib.sha256(content).hexdigest())) as (host, asked):
        upstream = thing(f"http://{host}/charts", sha256=hashlib.sha256(content).hexdigest())
        folder = Sources(tmp_path).folder(upstream)
        assert Sources(tmp_path).folder(upstream) == folder
        assert asked == ["/charts/index.yaml", "/charts/files/thing-1.2.3.tgz"]
    assert Sources(tmp_path).folder(upstream) == folder, "without a network what is there is enough"


@pytest.mark.parametrize("token", [None, "abc"])
def test_registry(tmp_path: Path, token: str | None) -> None:
    with serving(registry(archive()), token) as (host, _):
        folder = Sources(tmp_path).folder(thing(f"oci://{host}/charts"))
    assert folder is not None
    assert (folder / "Chart.yaml").is_file()


def test_registry_reference_may_name_the_chart(tmp_path: Path) -> None:
    with serving(registry(archive())) as (host, _):
        assert Sources(tmp_path).folder(thing(f"oci://{host}/charts/thing"))


def test_registry_that_wants_a_login(tmp_path: Path) -> None:
    with (
        serving(registry(archive()), token="other") as (host, _),
        pytest.raises(SourceError, match=r"cannot get chart thing 1\.2\.3"),
    ):
        Sources(tmp_path).folder(thing(f"oci://{host}/charts"))


def test_rehearsal_downloads_nothing_and_misses_nothing(tmp_path: Path) -> None:
    rehearsal = Sources(tmp_path, rehearsal=True)
    for source in ("vendor/thing", "thing.tgz", "https://charts.invalid", "oci://charts.invalid/thing"):
        assert rehearsal.folder(thing(source)) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("vendor/thing", "thing: the folder vendor/thing is not there"),
        ("thing.tgz", "thing: the archive thing.tgz is not there"),
    ],
)
def test_missing_source(tmp_path: Path, source: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        Sources(tmp_path).folder(thing(source))


@pytest.mark.parametrize("content", [b"", b"no archive", archive()[:100]], ids=["empty", "text", "half"])
def test_half_an_archive_leaves_nothing_behind(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "thing.tgz").write_bytes(content)
    with pytest.raises(SourceError, match=r"thing.tgz is not a chart archive"):
        Sources(tmp_path).folder(thing("thing.tgz"))
    assert list((tmp_path / CHARTS).iterdir()) == []


def test_archive_that_climbs_out_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thing.tgz").write_bytes(archive(files={"../../../escaped": "x"}))
    with pytest.raises(SourceError, match="is not a chart archive"):
        Sources(tmp_path).folder(thing("thing.tgz"))
    assert not list(tmp_path.rglob("escaped"))


def test_other_version_in_the_source(tmp_path: Path) -> None:
    (tmp_path / "thing.tgz").write_bytes(archive({**CHART, "version": "1.2.2"}))
    with pytest.raises(
        SourceError, match=r"holds version 1\.2\.2, wanted is 1\.2\.3; fix: set releases\.thing\.version"
    ):
        Sources(tmp_path).folder(thing("thing.tgz"))


def test_version_that_the_repository_does_not_have(tmp_path: Path) -> None:
    with (
        serving(repository(archive())) as (host, _),
        pytest.raises(SourceError, match=r"has no version 9\.9\.9 of chart thing; newest there: 1\.2\.3, 1\.2\.2"),
    ):
        Sources(tmp_path).folder(thing(f"http://{host}/charts", version="9.9.9"))


def test_chart_that_differs_from_its_index(tmp_path: Path) -> None:
    with (
        serving(repository(archive(), digest="0" * 64)) as (host, _),
        pytest.raises(SourceError, match=f"says {'0' * 64}; nothing was installed"),
    ):
        Sources(tmp_path).folder(thing(f"http://{host}/charts"))
    assert list((tmp_path / CHARTS).iterdir()) == []


def test_chart_that_differs_from_the_catalogue(tmp_path: Path) -> None:
    with (
        serving(registry(archive())) as (host, _),
        pytest.raises(SourceError, match="the catalogue says 1111"),
    ):
        Sources(tmp_path).folder(thing(f"oci://{host}/charts", sha256="1" * 64))


def test_server_that_does_not_answer(tmp_path: Path) -> None:
    with (
        serving({}) as (host, _),
        pytest.raises(SourceError, match=r"404.*fix: set releases\.thing\.source to a mirror"),
    ):
        Sources(tmp_path).folder(thing(f"http://{host}/charts"))


def test_two_runs_at_once_end_with_one_folder(tmp_path: Path) -> None:
    place = tmp_path / "charts" / "thing-1.2.3-abc"
    with replacement(place) as slow:
        (slow / "file").write_text("same")
        with replacement(place) as fast:
            (fast / "file").write_text("same")
    assert (place / "file").read_text() == "same"
    assert [path.name for path in place.parent.iterdir()] == [place.name]


def test_interrupted_run_leaves_no_folder(tmp_path: Path) -> None:
    place = tmp_path / "charts" / "thing-1.2.3-abc"
    with pytest.raises(KeyboardInterrupt), replacement(place):
        raise KeyboardInterrupt
    assert list(place.parent.iterdir()) == []


def test_same_chart_from_anywhere_is_the_same_folder(tmp_path: Path) -> None:
    (tmp_path / "one.tgz").write_bytes(archive())
    (tmp_path / "two.tgz").write_bytes(archive())
    sources = Sources(tmp_path)
    one = thing("one.tgz")
    # tar headers carry no time here, so both archives are equal byte by byte
    assert sources.folder(one) == sources.folder(replace(one, source="two.tgz"))
