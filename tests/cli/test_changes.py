"""What `up` says of a change before it is made."""

import json
from typing import Any

import pytest

from cli import changes
from cli.output import console
from model import document
from tests.model.documents import example, put

BEFORE = example(put("pools.train.fabric", "infiniband"))
AFTER = document.load(example(put("pools.train.fabric", {"kind": "infiniband", "mode": "sriov"})))


def shown(state: str) -> str:
    with console.capture() as capture:
        changes.show(state, AFTER)
    return " ".join(capture.get().split())


def exported(environment: Any) -> str:
    root = {"type": "gangline:index:Platform", "inputs": {"environment": environment}}
    return json.dumps({"deployment": {"resources": [{"type": "pulumi:pulumi:Stack"}, root]}})


def test_nodes_that_must_be_emptied_are_told() -> None:
    text = shown(exported(BEFORE))
    assert "drains nodes pool train: 0 -> 1 virtual functions per NIC" in text
    assert "interrupts Ray cluster tuning" in text


@pytest.mark.parametrize(
    "state",
    [
        "",
        "no stack",
        json.dumps({"deployment": {}}),
        json.dumps({"deployment": {"resources": None}}),
        exported({"pools": {}}),
        exported(None),
    ],
)
def test_what_was_not_brought_up_by_this_version_is_not_compared(state: str) -> None:
    assert shown(state) == ""
