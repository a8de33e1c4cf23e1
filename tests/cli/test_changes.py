"""What `up` says of a change before it is made."""

import json
from pathlib import Path
from typing import Any

import pytest

from cli import changes
from cli.engine import Engine
from cli.output import console
from model import document
from tests.model.documents import example, put

BEFORE = example(put("pools.train.fabric", "infiniband"))
AFTER = document.load(example(put("pools.train.fabric", {"kind": "infiniband", "mode": "sriov"})))


def engine(folder: Path, printed: str, code: int = 0) -> Engine:
    program = folder / "pulumi"
    (folder / "printed").write_text(printed)
    program.write_text(f'#!/bin/sh\ncat "{folder}/printed"\nexit {code}\n')
    program.chmod(0o755)
    return Engine(program, {"PATH": "/usr/bin:/bin"})


def shown(place: Engine) -> str:
    with console.capture() as capture:
        changes.show(place, "atlas", AFTER)
    return " ".join(capture.get().split())


def exported(environment: Any) -> str:
    root = {"type": "gangline:index:Platform", "inputs": {"environment": environment}}
    return json.dumps({"deployment": {"resources": [{"type": "pulumi:pulumi:Stack"}, root]}})


def test_nodes_that_must_be_emptied_are_told(tmp_path: Path) -> None:
    text = shown(engine(tmp_path, exported(BEFORE)))
    assert "drains nodes pool train: 0 -> 1 virtual functions per NIC" in text
    assert "interrupts Ray cluster tuning" in text


@pytest.mark.parametrize(
    ("printed", "code"),
    [
        ("", 255),
        ("no stack", 0),
        (json.dumps({"deployment": {}}), 0),
        (json.dumps({"deployment": {"resources": None}}), 0),
        (exported({"pools": {}}), 0),
        (exported(None), 0),
    ],
)
def test_what_was_not_brought_up_by_this_version_is_not_compared(tmp_path: Path, printed: str, code: int) -> None:
    assert shown(engine(tmp_path, printed, code)) == ""
