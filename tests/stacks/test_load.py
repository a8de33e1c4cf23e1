"""What `pulumi up` says of a stack's document is what `check` says."""

import json
from pathlib import Path
from typing import Any

import pulumi
import pytest

from model import document
from model.problems import DocumentError
from stacks import load
from twin.monitor import StrictMonitor


@pytest.fixture
def configured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Runs `environment()` with a value in the engine's configuration, and perhaps a stack file beside it."""

    def run(value: Any, text: str | None = None) -> Any:
        monitor = StrictMonitor()
        pulumi.runtime.set_mocks(monitor.mocks, project="gangline", stack="sample", monitor=monitor)
        monkeypatch.setattr(load, "STACKS", tmp_path)
        if text is not None:
            (tmp_path / "Pulumi.sample.yaml").write_text(text)
        config = {} if value is None else {"gangline:environment": json.dumps(value)}
        pulumi.runtime.config.set_all_config(config)
        try:
            return load.environment()
        finally:
            pulumi.runtime.config.set_all_config({})

    return run


def test_value_of_the_engine_counts(configured: Any, twin_value: dict[str, Any]) -> None:
    assert configured(twin_value) == document.load(twin_value)


def test_missing_document(configured: Any) -> None:
    with pytest.raises(pulumi.RunError, match=r"stack sample has no document: gangline:environment is missing"):
        configured(None)


def test_same_text_as_check_with_lines(configured: Any, tmp_path: Path) -> None:
    text = (
        "config:\n"
        "  gangline:environment:\n"
        '    cluster: {name: c, provider: existing, kubernetes: "1.35", context: c}\n'
        "    pools:\n"
        "      train: {server: dgx-h100, size: 4, tains: []}\n"
    )
    value = {
        "cluster": {"name": "c", "provider": "existing", "kubernetes": "1.35", "context": "c"},
        "pools": {"train": {"server": "dgx-h100", "size": 4, "tains": []}},
    }
    with pytest.raises(pulumi.RunError) as refused:
        configured(value, text)
    with pytest.raises(DocumentError) as checked:
        document.read(tmp_path / "Pulumi.sample.yaml").load()
    assert str(refused.value) == str(checked.value).replace(str(tmp_path), "stacks")
    assert "stacks/Pulumi.sample.yaml:5  environment.pools.train.tains" in str(refused.value)
    assert "taints" in str(refused.value)
