"""Upstream files: from a Go module into the cache, and from there into a project."""

import os
from pathlib import Path

import pytest
import yaml

from twin.tools import ToolError, ensure_sources, load_sources, materialise
from twin.tools.sources import cached_source


@pytest.fixture
def pins(tmp_path: Path, served_module: str) -> Path:
    return write(tmp_path, served_module)


def write(folder: Path, total: str, **more: object) -> Path:
    """Pins of one source, `chart`."""
    pin = {"module": "example.test/extra", "version": "v1.0.0", "sum": total, "path": "chart", "purpose": "a test"}
    file = folder / f"sources-{len(list(folder.glob('sources-*')))}.yaml"
    file.write_text(yaml.safe_dump({"tools": {}, "sources": {"chart": pin | more}}))
    return file


def tree(folder: Path) -> dict[str, str]:
    return {p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*") if p.is_file()}


WHOLE = {"Chart.yaml": "name: extra\n", "crd/one.yaml": "one\n", "crd/two.yaml": "two\n"}


def test_a_folder_of_a_module_is_cached_and_lent(pins: Path, cache: Path, tmp_path: Path) -> None:
    folder = ensure_sources(pins=pins)["chart"]
    assert folder == cache / "sources" / "chart-1.0.0" / "files"
    assert tree(folder) == WHOLE
    lent = materialise("chart", tmp_path / "project" / "sources", pins=pins)
    assert lent == tmp_path / "project" / "sources" / "chart"
    assert tree(lent) == WHOLE
    assert all(os.access(path, os.W_OK) for path in [lent, *lent.rglob("*")])


def test_lending_again_changes_nothing_and_mends_what_differs(pins: Path, tmp_path: Path) -> None:
    lent = materialise("chart", tmp_path / "sources", pins=pins)
    inode = lent.stat().st_ino
    assert materialise("chart", tmp_path / "sources", pins=pins).stat().st_ino == inode
    for spoil in (
        lambda: (lent / "Chart.yaml").write_text("name: other\n"),
        lambda: (lent / "crd" / "one.yaml").unlink(),
        lambda: (lent / "crd" / "three.yaml").write_text("three\n"),
    ):
        spoil()
        assert tree(materialise("chart", tmp_path / "sources", pins=pins)) == WHOLE
    assert [path.name for path in (tmp_path / "sources").iterdir()] == ["chart"]


def test_a_part_may_be_named(tmp_path: Path, served_module: str) -> None:
    part = write(tmp_path, served_module, include=["Chart.yaml", "crd"])
    assert tree(ensure_sources(pins=part)["chart"]) == WHOLE
    # Other pins are another source: what is there is not taken.
    less = write(tmp_path, served_module, include=["crd"])
    assert tree(ensure_sources(pins=less)["chart"]) == {"crd/one.yaml": "one\n", "crd/two.yaml": "two\n"}


def test_a_folder_that_stands_elsewhere_may_be_added(tmp_path: Path, served_module: str) -> None:
    both = write(tmp_path, served_module, include=["Chart.yaml"], folders={"crds": "chart/crd"})
    assert tree(ensure_sources(pins=both)["chart"]) == {
        "Chart.yaml": "name: extra\n",
        "crds/one.yaml": "one\n",
        "crds/two.yaml": "two\n",
    }


def test_a_chart_gets_the_version_that_its_release_has(tmp_path: Path, served_module: str) -> None:
    stamped = write(tmp_path, served_module, stamp={"version": "1.2.3"})
    chart = yaml.safe_load((ensure_sources(pins=stamped)["chart"] / "Chart.yaml").read_text())
    assert chart == {"name": "extra", "version": "1.2.3"}


def test_what_the_module_does_not_have_is_named(tmp_path: Path, served_module: str) -> None:
    for more, name in (
        ({"path": "nowhere"}, "nowhere"),
        ({"include": ["absent"]}, "chart/absent"),
        ({"folders": {"crds": "elsewhere"}}, "elsewhere"),
    ):
        with pytest.raises(ToolError, match=f"has no {name}"):
            ensure_sources(pins=write(tmp_path, served_module, **more))


def test_damage_in_the_cache_is_noticed_and_mended(pins: Path) -> None:
    folder = ensure_sources(pins=pins)["chart"]
    (folder / "Chart.yaml").write_text("name: damage\n")
    entry, damage = cached_source(load_sources(pins)["chart"])
    assert entry is None
    assert "is damaged" in damage
    assert tree(ensure_sources(pins=pins)["chart"]) == WHOLE


def test_a_module_other_than_the_pinned_one_is_refused(tmp_path: Path, served_module: str) -> None:
    assert served_module
    with pytest.raises(ToolError, match="the pinned one is h1:AAAA"):
        ensure_sources(pins=write(tmp_path, "h1:AAAA"))


def test_an_unreachable_module_server_is_named(pins: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GOPROXY", f"file://{tmp_path}/elsewhere")
    monkeypatch.setenv("GOMODCACHE", str(tmp_path / "other"))
    with pytest.raises(ToolError, match=r"Go cannot fetch example\.test/extra@v1\.0\.0") as refusal:
        ensure_sources(pins=pins)
    assert "GOPROXY" in refusal.value.fix


def test_without_go_the_module_is_named(pins: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match=r"a test \(chart\) comes from the Go module example\.test/extra: Go is not"):
        ensure_sources(pins=pins)
