"""What `up` says of a change before it is made."""

import json
from typing import Any

import pytest

from cli import changes
from cli.output import console, errors
from model import document
from model.problems import DocumentError
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


LOWERED = put("queues.research", {"deserved": {"gpu": 48}, "capability": {"gpu": 128}, "queues": {"llm": {}}})


def test_what_volcano_refuses_half_way_is_refused_before_anything_is_changed() -> None:
    before = {"deserved": {"gpu": 96}, "queues": {"llm": {"deserved": {"gpu": 96}}}}
    state = exported(example(put("queues.research", before)))
    after = document.load(example(LOWERED))
    with pytest.raises(DocumentError, match=r"environment\.queues\.research\.deserved\.gpu") as refused:
        changes.look_ahead("twin", state, after, refuse=True)
    assert "fix: a first up with gpu: 96 here, then this document" in str(refused.value)
    with errors.capture() as capture:
        changes.look_ahead("twin", state, after, refuse=False)
    assert "deserved 96 -> 48 is refused on the way" in capture.get()


def test_a_change_that_comes_through_says_nothing() -> None:
    with errors.capture() as capture:
        changes.look_ahead("twin", exported(example()), document.load(example()), refuse=True)
    assert not capture.get()
