"""From YAML text to plain values with places."""

import textwrap
from pathlib import Path
from typing import Any

import pytest

from model import document, reading
from model.problems import DocumentError, spoken
from model.problems import Path as Steps
from tests.model.documents import TEXT


def _read(text: str) -> tuple[Any, list[str], reading.Positions]:
    root = reading.compose(textwrap.dedent(text))
    assert root is not None
    value, problems = reading.value_of(root)
    return value, [spoken(problem.path) for problem in problems], reading.Positions(root)


def test_values_are_those_of_yaml():
    value, problems, _ = _read("a: 1\nb: [x, '2', 2.5, true, null, ~]\nc: {d: False, e: }\n")
    assert value == {"a": 1, "b": ["x", "2", 2.5, True, None, None], "c": {"d": False, "e": None}}
    assert problems == []


@pytest.mark.parametrize(
    "typed",
    ["yes", "No", "on", "OFF", "y", "n", "1:30", "190:20:30", "1:30.5", "=", "_1", "0x"],
)
def test_what_is_text_to_the_engine_is_text(typed: str):
    value, problems, _ = _read(f"a: {typed}\n")
    assert (value, problems) == ({"a": typed}, [])


@pytest.mark.parametrize(
    ("typed", "number"),
    [
        ("010", 8),
        ("0o10", 8),
        ("0x1F", 31),
        ("0b11", 3),
        ("1_000", 1000),
        ("-5", -5),
        ("0", 0),
        (".5", 0.5),
        ("12e4", 12e4),
        ("1e+3_0", 1e30),
        ("089", 89.0),
        ("-.5E-1", -0.05),
    ],
)
def test_numbers_are_those_of_the_engine(typed: str, number: float):
    value, problems, _ = _read(f"a: {typed}\n")
    assert (value, problems) == ({"a": number}, [])


def test_a_number_of_thousands_of_digits_is_too_large():
    root = reading.compose(f"a: {'9' * 5000}\n")
    assert root is not None
    (problem,) = reading.value_of(root)[1]
    assert problem.message == "is too large a number, of 5000 digits"


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 1),
        (("a",), 1),
        (("a", "b"), 2),
        (("a", "list", 1), 5),
        (("a", "list", 1, "x"), 5),
        (("a", "list", 7), 3),
        (("a", "missing", "deeper"), 1),
        (("nowhere",), 1),
    ],
)
def test_a_place_is_the_line_of_its_key_or_of_what_is_around_it(path: Steps, line: int):
    _, _, positions = _read("a:\n  b: 1\n  list:\n    - 1\n    - x: 2\n")
    assert positions.line(path) == line


def test_scalars_are_known_as_they_were_typed():
    _, _, positions = _read("a: 1.30\nb: TRUE\nc: [0x1F]\n")
    assert [positions.text(("a",)), positions.text(("b",)), positions.text(("c", 0))] == ["1.30", "TRUE", "0x1F"]
    assert positions.text(("c",)) is None
    assert positions.text(("d",)) is None


def test_duplicate_keys_are_problems_at_any_depth():
    value, problems, positions = _read("a: 1\nb: {c: 1, c: 2}\na: 2\n")
    assert value == {"a": 2, "b": {"c": 2}}
    assert problems == ["environment.a", "environment.b.c"]
    assert positions.line(("a",)) == 3


def test_anchors_and_merges_work_as_in_yaml():
    value, problems, _ = _read(
        "base: &base {x: 1, y: 1}\nmore: &more {y: 2, z: 2}\na: {<<: [*base, *more], x: 9}\nb: *base\n"
    )
    assert value["a"] == {"x": 9, "y": 1, "z": 2}
    assert value["b"] == {"x": 1, "y": 1}
    assert problems == []


def test_keys_are_text():
    value, problems, _ = _read("1: a\ntrue: b\nnull: c\n")
    assert value == {"1": "a", "true": "b", "null": "c"}
    assert problems == []
    _, problems, _ = _read("a: {[x]: 1}\n")
    assert problems == ["environment.a"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: &a [*a]", "contains itself"),
        ("<<: 3", "merges mappings"),
        ("a: *b", "undefined alias"),
        ("a: [", "did not find"),
        ("a: b: c", "mapping values are not allowed"),
        ("a:\n\tx: 1", "cannot start any token"),
    ],
)
def test_what_is_no_document_is_told_with_its_line(text: str, says: str):
    with pytest.raises(reading.ReadingError) as caught:
        _read(text)
    assert says in str(caught.value)
    assert caught.value.line is not None


def test_a_few_aliases_cannot_stand_for_billions():
    bomb = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    bomb += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, 12)]
    with pytest.raises(reading.ReadingError, match="aliases expand to more than"):
        _read("\n".join(bomb))


@pytest.mark.parametrize("text", ["a: !!python/object:os.system x", "a: !unknown x"])
def test_tags_make_no_objects(text: str):
    _, problems, _ = _read(text)
    assert problems == ["environment.a"]


@pytest.mark.parametrize(
    ("typed", "path", "fix"),
    [
        ("kubernetes: 1.30", "cluster.kubernetes", 'write "1.30"'),
        ("kubernetes: 2026-12-20", "cluster.kubernetes", 'write "2026-12-20"'),
        ("kubernetes: 2026-1-2", "cluster.kubernetes", 'write "2026-1-2"'),
        ("kubernetes: 2001-12-14 21:59:43", "cluster.kubernetes", 'write "2001-12-14 21:59:43"'),
        ("kubernetes: 2001-12-14t21:59:43.10-05:00", "cluster.kubernetes", 'write "2001-12-14t21:59:43.10-05:00"'),
        ("kubernetes: 12e4", "cluster.kubernetes", 'write "12e4"'),
        ("kubernetes: 089", "cluster.kubernetes", 'write "089"'),
        ("kubernetes: 1_35", "cluster.kubernetes", 'write "1_35"'),
        ("kubernetes: True", "cluster.kubernetes", 'write "True"'),
    ],
)
def test_text_without_quotes_is_told_as_it_was_typed(tmp_path: Path, typed: str, path: str, fix: str):
    file = tmp_path / "Pulumi.x.yaml"
    text = TEXT.replace('kubernetes: "1.35"', typed)
    file.write_text("config:\n  gangline:environment:" + textwrap.indent(text, "    "))
    (problem,) = document.read(file).judge().errors
    assert (spoken(problem.path), problem.fix) == (f"environment.{path}", fix)


def test_a_bom_and_windows_line_ends_do_no_harm(tmp_path: Path):
    file = tmp_path / "Pulumi.x.yaml"
    text = "config:\n  gangline:environment:" + textwrap.indent(TEXT, "    ")
    file.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert document.read(file).judge().problems == ()


def test_a_folder_is_no_file(tmp_path: Path):
    with pytest.raises(DocumentError, match="cannot read it"):
        document.read(tmp_path)


def test_a_day_that_there_is_not_is_no_better_in_quotes() -> None:
    root = reading.compose("a: 2027-02-30\n")
    assert root is not None
    (problem,) = reading.value_of(root)[1]
    assert (problem.value, problem.fix) == ("2027-02-30", None)
