"""Mappings of which the key `kind` says what they are."""

from typing import Any

import pytest

from model import document

from .documents import example, put

CASES: list[tuple[Any, str, str, str | None]] = [
    ("nvme", "storage.scratch", "kind: nvme, local", "{kind: nvme, …}"),
    ({}, "storage.scratch.kind", "nvme, local", None),
    ({"kind": "nvmee"}, "storage.scratch.kind", "nvme, local", "nvme"),
    ({"kind": "nvme", "path": "/x"}, "storage.scratch.path", "kind, pools, write", None),
    ({"kind": "local", "pth": "/x"}, "storage.scratch.pth", "kind, path, pools, write", "path: …"),
]


@pytest.mark.parametrize(("written", "path", "allowed", "fix"), CASES)
def test_one_problem_in_the_words_of_that_kind(written: Any, path: str, allowed: str, fix: str | None) -> None:
    [problem] = document.judge(example(put("storage.scratch", written))).problems
    assert ".".join(map(str, problem.path)) == path
    assert allowed in (problem.allowed or "")
    assert problem.fix == fix
