"""Lengths of time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from model.durations import Duration, told


@pytest.mark.parametrize(
    ("text", "seconds"), [("30s", 30), ("15m", 900), ("90m", 5_400), ("2h", 7_200), ("30d", 2_592_000)]
)
def test_seconds(text: str, seconds: int) -> None:
    read = TypeAdapter(Duration).validate_python(text)
    assert (read.seconds, str(read)) == (seconds, text)


def test_the_same_length_in_other_words_is_equal() -> None:
    assert Duration.parse("90m") == Duration.parse("5400s") < Duration.parse("2h")


@pytest.mark.parametrize(
    ("written", "fix"),
    [("15 min", "15m"), ("2 hours", "2h"), ("15M", "15m"), ("0m", None), ("1.5h", None), (15, None), ("-5m", None)],
)
def test_what_is_none_is_refused_with_what_was_meant(written: object, fix: str | None) -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(Duration).validate_python(written)
    assert refused.value.errors()[0].get("ctx", {})["fix"] == fix


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (42, "42s"), (61, "1m 1s"), (3_600, "1h"), (3_601, "1h 1m"), (7_199, "2h"), (259_205, "3d 1h")],
)
def test_told(seconds: int, text: str) -> None:
    assert told(seconds) == text


@given(st.integers(0, 10**7))
def test_never_told_shorter_than_it_is(seconds: int) -> None:
    assert sum(Duration.parse(part).seconds for part in told(seconds).split() if part != "0s") >= seconds
