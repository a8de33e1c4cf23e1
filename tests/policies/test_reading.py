"""What rules read: numbers that are whole, and the document, whose answer stays the same."""

from typing import Any

import pytest

from model import document
from policies.fields import Field, UnreadableError
from policies.rules import Stack
from tests.policies.objects import UNKNOWN, secret


@pytest.mark.parametrize(("written", "read"), [(None, None), (4.0, 4), ("4", 4), ("2k", 2000), (0, 0)])
def test_a_whole_number_is_read_from_a_number_or_from_text(written: Any, read: int | None) -> None:
    assert Field.of(written).whole() == read


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (1.5, "replicas holds 1.5 where a whole number belongs"),
        ("500m", "replicas holds 500m where a whole number belongs"),
        (secret(1.5), "replicas holds [secret] where a whole number belongs"),
        (UNKNOWN, "replicas is not known yet"),
        (True, "replicas holds"),
    ],
)
def test_nothing_is_cut_off_a_number_that_is_not_whole(written: Any, told: str) -> None:
    with pytest.raises(UnreadableError, match="^" + told.replace("[", r"\[").replace("]", r"\]")):
        Field.of(written, "replicas").whole()


def test_a_document_with_mistakes_is_checked_once_however_often_rules_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[Any] = []

    def judge(value: Any) -> document.Verdict:
        judged.append(value)
        return real(value)

    real = document.judge
    monkeypatch.setattr(document, "judge", judge)
    stack = Stack((), Field.of({"cluster": {}}, "environment"))
    for _ in range(3):
        with pytest.raises(UnreadableError, match="environment has errors"):
            _ = stack.environment
    assert judged == [{"cluster": {}}]
