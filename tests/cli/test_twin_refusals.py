"""Environments with operators and the twin."""

from pathlib import Path

import pytest

from cli import local
from cli.refusals import RefusedError
from model import document

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "02-operators.yaml"


def test_operators_do_not_run_on_the_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    """They would wait for drivers that no simulated node takes; that is said before anything is started."""
    monkeypatch.setattr(local, "programs", lambda: pytest.fail("a tool was asked for"))
    with pytest.raises(RefusedError) as refused:
        local.ready("lab", document.read(EXAMPLE).load())
    assert "allowed: ./gangline render lab" in str(refused.value)
    assert "fix: devices: {install: plugins}" in str(refused.value)
