"""The official download: good, bad, broken off, refused, twice at once, on a full disk."""

import io
import os
import stat
import tarfile
import time
from pathlib import Path

import pytest

from twin.tools import ToolError, ensure, load_tools, status
from twin.tools.progress import Progress


class Heard(Progress):
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.done: list[tuple[str, str]] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def finish(self, tool: str, how: str) -> None:
        self.done.append((tool, how))


@pytest.fixture(autouse=True)
def _no_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No other way than the download is open."""
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))


def nothing_left(cache: Path) -> bool:
    left = [path for folder in ("downloads", "staging") for path in (cache / folder).rglob("*") if path.is_file()]
    return not left


def test_a_program_is_fetched_verified_and_kept(toy, releases, cache: Path) -> None:
    toy.downloaded_from(releases)
    heard = Heard()
    place = ensure(["toy"], heard, pins=toy.file)["toy"]
    assert place == cache / "tools" / "toy-1.2.3" / "bin" / "toy"
    assert place.read_bytes() == releases.body
    assert place.stat().st_mode & stat.S_IXUSR
    assert heard.done == [("toy", "downloaded")]
    assert nothing_left(cache)
    assert ensure(["toy"], pins=toy.file)["toy"] == place
    assert releases.asked == [""]


def test_members_of_an_archive(toy, releases) -> None:
    bundle = io.BytesIO()
    with tarfile.open(fileobj=bundle, mode="w:gz") as archive:
        for name, content in (("toy-1.2.3/README", b"no"), ("toy-1.2.3/bin/toy", b"yes")):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    releases.body = bundle.getvalue()
    toy.downloaded_from(releases, "sha512", members={"toy": "toy-{version}/bin/toy"})
    assert ensure(["toy"], pins=toy.file)["toy"].read_bytes() == b"yes"


def test_a_missing_member_is_named(toy, releases, cache: Path) -> None:
    bundle = io.BytesIO()
    tarfile.open(fileobj=bundle, mode="w").close()
    releases.body = bundle.getvalue()
    toy.downloaded_from(releases, members={"toy": "bin/toy"})
    with pytest.raises(ToolError, match=r"has no bin/toy"):
        ensure(["toy"], pins=toy.file)
    assert not (cache / "tools").exists()


def test_a_bad_checksum_is_thrown_away(toy, releases, cache: Path) -> None:
    toy.downloaded_from(releases)
    releases.body = b"evil" + releases.body[4:]
    with pytest.raises(ToolError) as refusal:
        ensure(["toy"], pins=toy.file)
    assert "the file was thrown away" in refusal.value.problem
    assert "Go is not installed" in refusal.value.problem
    assert not (cache / "tools").exists()
    assert nothing_left(cache)


def test_a_broken_line_is_taken_up_where_it_broke(toy, releases) -> None:
    toy.downloaded_from(releases)
    releases.breaks = [300_000, 500_000]
    assert ensure(["toy"], pins=toy.file)["toy"].read_bytes() == releases.body
    assert releases.asked == ["", "bytes=300000-", "bytes=800000-"]


def test_a_later_run_goes_on_where_an_earlier_one_gave_up(toy, releases, cache: Path) -> None:
    toy.downloaded_from(releases)
    releases.breaks = [400_000, 0]
    with pytest.raises(ToolError, match="cannot be fetched"):
        ensure(["toy"], pins=toy.file)
    assert (cache / "downloads" / "toy-1.2.3.part").stat().st_size == 400_000
    assert ensure(["toy"], pins=toy.file)["toy"].read_bytes() == releases.body
    assert releases.asked[-1] == "bytes=400000-"


@pytest.mark.parametrize("left", [b"half of another file", b"x" * (2 << 20)], ids=["shorter", "longer"])
def test_a_foreign_half_costs_one_more_try(toy, releases, cache: Path, left: bytes) -> None:
    toy.downloaded_from(releases)
    (cache / "downloads").mkdir(parents=True)
    (cache / "downloads" / "toy-1.2.3.part").write_bytes(left)
    assert ensure(["toy"], pins=toy.file)["toy"].read_bytes() == releases.body


def test_a_server_without_ranges_is_read_from_the_start(toy, releases) -> None:
    toy.downloaded_from(releases)
    releases.breaks, releases.ranges = [300_000], False
    assert ensure(["toy"], pins=toy.file)["toy"].read_bytes() == releases.body


def test_a_refusal_names_the_address_and_every_way(toy, releases) -> None:
    toy.downloaded_from(releases)
    releases.status = 404
    with pytest.raises(ToolError) as refusal:
        ensure(["toy"], pins=toy.file)
    assert "toy 1.2.3 cannot be had" in refusal.value.problem
    assert "answered 404 Not Found" in refusal.value.problem
    assert "on PATH: not asked" in refusal.value.problem
    assert "build: Go is not installed" in refusal.value.problem
    assert "install Go" in refusal.value.fix


def test_a_silent_server_is_an_error_and_no_traceback(toy, releases) -> None:
    toy.downloaded_from(releases)
    releases.server.shutdown()
    releases.server.server_close()
    with pytest.raises(ToolError, match="cannot be fetched"):
        ensure(["toy"], pins=toy.file)


def test_two_runs_fetch_once(toy, releases) -> None:
    toy.downloaded_from(releases)
    releases.gate.clear()
    first = toy.start()
    while not releases.asked:
        assert first.poll() is None
        time.sleep(0.02)
    second = toy.start()
    waiting = next(line for line in second.stdout if "another run is getting it; waiting" in line)
    releases.gate.set()
    said = first.communicate()[0] + waiting + second.communicate()[0]
    assert (first.returncode, second.returncode) == (0, 0), said
    assert releases.asked == [""]


def test_no_room_is_said_as_such_and_nothing_half_written_is_taken(toy, releases, cache: Path) -> None:
    toy.downloaded_from(releases)
    limited = toy.start("import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, 1 << 19))")
    said = limited.communicate()[0]
    assert limited.returncode == 1
    assert f"ToolError: no room to write {cache}/downloads/toy-1.2.3.part" in said
    assert "MiB free" in said
    assert "Traceback" not in said
    assert not (cache / "tools").exists()
    # With room again the half is taken up.
    assert ensure(["toy"], pins=toy.file)["toy"].read_bytes() == releases.body
    assert releases.asked == ["", f"bytes={1 << 19}-"]


def test_a_cache_that_cannot_be_written_is_named(toy, releases, tmp_path: Path, monkeypatch) -> None:
    toy.downloaded_from(releases)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GANGLINE_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(ToolError, match="GANGLINE_CACHE"):
        ensure(["toy"], pins=toy.file)


@pytest.mark.parametrize(
    ("download", "environment", "reason"),
    [
        ({"closed": "nobody publishes it"}, {}, "nobody publishes it"),
        (None, {"GANGLINE_DOWNLOADS": "off"}, "switched off by GANGLINE_DOWNLOADS=off"),
    ],
)
def test_a_closed_way_has_its_reason(toy, releases, monkeypatch, download, environment, reason: str) -> None:
    toy.downloaded_from(releases)
    if download:
        toy.save(download=download)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    ways = {way.name: way for way in status(load_tools(toy.file)["toy"]).ways}
    assert ways["download"].off == reason
    with pytest.raises(ToolError, match=reason):
        ensure(["toy"], pins=toy.file)
    assert not releases.asked


def test_another_machine_has_no_download(toy, releases, monkeypatch) -> None:
    toy.downloaded_from(releases)
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    ways = {way.name: way for way in status(load_tools(toy.file)["toy"]).ways}
    assert ways["download"].off == f"no published checksum for {os.uname().sysname.lower()}-riscv64"


def test_a_corrected_checksum_is_another_file_and_other_words_are_not(toy, releases) -> None:
    toy.downloaded_from(releases)
    place = ensure(["toy"], pins=toy.file)["toy"]
    toy.downloaded_from(releases, published="https://example.test/elsewhere")
    assert ensure(["toy"], pins=toy.file)["toy"] == place
    assert len(releases.asked) == 1
    releases.body = os.urandom(1 << 10)
    toy.downloaded_from(releases)
    assert ensure(["toy"], pins=toy.file)["toy"].read_bytes() == releases.body
