"""Environments that the twin does not take."""

import json
from pathlib import Path

import pytest

from cli import local, recovery, twinning
from cli.engine import Engine
from cli.refusals import RefusedError
from model import document

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "02-operators.yaml"
TWIN = ROOT / "stacks" / "Pulumi.twin.yaml"


def test_operators_do_not_run_on_the_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    """They would wait for drivers that no simulated node takes; that is said before anything is started."""
    monkeypatch.setattr(local, "programs", lambda _: pytest.fail("a tool was asked for"))
    with pytest.raises(RefusedError) as refused:
        local.ready("lab", document.read(EXAMPLE).load())
    assert "allowed: ./gangline render lab" in str(refused.value)
    assert "fix: devices: {install: plugins}" in str(refused.value)


def _saved(folder: Path, stack: str, *types: str) -> None:
    stacks = folder / ".pulumi" / "stacks" / "gangline"
    stacks.mkdir(parents=True, exist_ok=True)
    latest = {"resources": [{"type": each} for each in types]}
    (stacks / f"{stack}.json").write_text(json.dumps({"checkpoint": {"latest": latest}}))


def test_the_twin_holds_one_environment_at_a_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A second one would take the nodes of the first away, and fail at the first chart."""
    engine = Engine(Path("pulumi"), {"PULUMI_BACKEND_URL": tmp_path.as_uri()})
    monkeypatch.setattr(local, "programs", lambda _: {})
    monkeypatch.setattr(local.Engine, "of_twin", lambda _: engine)
    monkeypatch.setattr(local, "_start", lambda *_: pytest.fail("the twin was touched"))
    _saved(tmp_path, "lab", "pulumi:pulumi:Stack", "gangline:index:Platform")
    _saved(tmp_path, "down")
    _saved(tmp_path, "begun", "pulumi:pulumi:Stack")
    with pytest.raises(RefusedError) as refused:
        local.ready("twin", document.read(TWIN).load())
    assert str(refused.value) == (
        "environment twin: the twin holds one environment at a time, and lab is up on it\n"
        "  fix: ./gangline destroy lab --twin first, or name lab in this command"
    )


def test_an_environment_that_is_up_is_no_hindrance_to_itself(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    engine = Engine(Path("pulumi"), {"PULUMI_BACKEND_URL": tmp_path.as_uri()})
    monkeypatch.setattr(local, "programs", lambda _: {})
    monkeypatch.setattr(local.Engine, "of_twin", lambda _: engine)
    for step in ("end_orphans", "recover"):
        monkeypatch.setattr(recovery, step, lambda *_: None)
    started: list[object] = []
    monkeypatch.setattr(local, "_start", lambda *given: started.append(given))
    monkeypatch.setattr(local.Twin, "client", lambda _: None)
    _saved(tmp_path, "twin", "gangline:index:Platform")
    assert local.ready("twin", document.read(TWIN).load()) is engine
    assert len(started) == 1


def test_starting_the_twin_for_another_clusters_environment_leaves_its_file_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A stack is made with it, and its salt belongs into the twin's copy of the stack file."""
    monkeypatch.setattr(local, "STATE", tmp_path)
    given: list[Path | None] = []
    monkeypatch.setattr(local, "ready", lambda _name, _environment, config: given.append(config))
    twinning.start("sharing")
    assert given == [tmp_path / "stacks" / "Pulumi.sharing.yaml"]
