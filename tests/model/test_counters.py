"""Counters of the DCGM exporter: the usual ones, a document's own, and files that were written by hand."""

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from catalog import dcgm
from model import document
from model.environment import Environment
from model.monitoring import counter_file, counters
from model.monitoring.counter_file import Counter
from model.problems import Problem
from tests.model.documents import small

AT = ("metrics",)
SPACES = "   "


def judged(dcgm_settings: Any) -> tuple[Environment | None, tuple[Problem, ...]]:
    verdict = document.judge(small(monitoring={"dcgm": dcgm_settings}))
    return verdict.environment, verdict.problems


def environment(dcgm_settings: Any) -> Environment:
    found, problems = judged(dcgm_settings)
    assert found is not None, problems
    return found


def go_csv(text: str) -> list[list[str]]:
    """Read a file by the rules of Go's encoding/csv with `Comment: '#'`; tests/upstream has the real one."""
    rows = []
    for line in text.split("\n"):
        if not line or line.startswith("#"):
            continue
        (row,) = csv.reader(io.StringIO(line), strict=True)
        rows.append([column.strip(" ") for column in row])
        assert len(row) == 3, line
    return rows


def test_the_usual_counters_are_fields_of_the_catalogue() -> None:
    assert set(counters.USUAL) <= set(dcgm.fields())
    assert len(set(counters.USUAL)) == len(counters.USUAL)


def test_the_file_is_what_upstreams_parser_reads() -> None:
    env = environment({"counters": {"DCGM_FI_DEV_FAN_SPEED": {"help": 'Speed, in "percent", of the fan'}}})
    rows = go_csv(counters.counters_file(env))
    assert rows == [[it.field, it.type, it.help] for it in counters.counters(env)]
    assert rows[-1] == ["DCGM_FI_DEV_FAN_SPEED", "gauge", 'Speed, in "percent", of the fan']


def test_what_is_written_is_read_again() -> None:
    written = counters.counters(environment({}))
    for verbatim in (True, False):
        read, problems = counter_file.read(counter_file.write(written), AT, verbatim=verbatim)
        assert read == written
        assert not problems


def test_labels_are_no_metrics() -> None:
    env = environment({"counters": {"DCGM_FI_DEV_SERIAL": {}}})
    assert "DCGM_FI_DEV_SERIAL" in counters.counters_file(env)
    assert not {"DCGM_FI_DEV_SERIAL", "DCGM_FI_DRIVER_VERSION"} & counters.metrics(env)
    assert "DCGM_EXP_XID_ERRORS_COUNT" in counters.metrics(env)


def test_profiling_fields_go_when_another_program_reads_them() -> None:
    with_them, without = environment({}), environment({"profiling": False})
    gone = counters.metrics(with_them) - counters.metrics(without)
    assert gone
    assert all(name.startswith("DCGM_FI_PROF_") for name in gone)
    assert not counters.profiling(without)
    assert counters.profiling(with_them)


def test_no_exporter_no_counters() -> None:
    env = environment("none")
    assert counters.counters(env) == ()
    assert counters.metrics(env) == frozenset()


def test_a_field_that_the_catalogue_does_not_describe_is_described_by_the_document() -> None:
    env = environment({"counters": {"DCGM_FI_DEV_BAR1_USED": {"type": "gauge", "help": "BAR1 in use"}}})
    assert counters.counters(env)[-1] == Counter("DCGM_FI_DEV_BAR1_USED", "gauge", "BAR1 in use")


@pytest.mark.parametrize(
    ("declared", "absent", "fix"),
    [
        ({}, "type and help must", 'type: gauge, help: "what it says"'),
        ({"type": "gauge"}, "help must", 'help: "what it says"'),
        ({"help": "BAR1 in use"}, "type must", "type: gauge"),
    ],
)
def test_what_is_lacking_of_a_counter_is_one_problem(declared: Any, absent: str, fix: str) -> None:
    _, (problem,) = judged({"counters": {"DCGM_FI_DEV_BAR1_USED": declared}})
    assert problem.path == ("monitoring", "dcgm", "counters", "DCGM_FI_DEV_BAR1_USED")
    assert problem.message.startswith(absent)
    assert (problem.allowed, problem.fix) == ("type: gauge, counter, label; help: one line of text", fix)


@pytest.mark.parametrize(
    ("written", "fix"),
    [
        (None, "leave out counters"),
        ([], "leave out counters"),
        (7, "leave out counters"),
        (["DCGM_FI_DEV_FAN_SPEED", "DCGM_FI_DEV_SERIAL"], "{DCGM_FI_DEV_FAN_SPEED: {}, DCGM_FI_DEV_SERIAL: {}}"),
    ],
)
def test_what_is_neither_fields_nor_text_is_told_both_forms(written: Any, fix: str) -> None:
    _, (problem,) = judged({"counters": written})
    assert problem.path == ("monitoring", "dcgm", "counters")
    assert (problem.value, problem.fix) == (written, fix)
    assert problem.allowed == "{DCGM_FI_DEV_FAN_SPEED: {}}, or lines FIELD, type, help"


def test_an_exporter_that_is_left_empty_is_not_turned_off() -> None:
    _, (problem,) = judged(None)
    assert problem.path == ("monitoring", "dcgm")
    assert problem.allowed == "none or {interval, profiling, counters}"
    assert problem.fix == "leave out dcgm, which has a default, or write what is allowed"


@pytest.mark.parametrize("name", counters.USUAL)
def test_a_usual_counter_may_be_repeated_but_not_as_something_else(name: str) -> None:
    right = dcgm.fields()[name].type
    for declared in ({name: {"type": right}}, {name: {"help": "Anew"}}, f"{name}, {right}, Anew"):
        assert counters.metrics(environment({"counters": declared})) == counters.metrics(environment({}))
    for wrong in set(counter_file.TYPES) - {right}:
        for declared, key in (({name: {"type": wrong}}, (name, "type")), (f"# more\n{name}, {wrong}, Anew", ())):
            _, (problem,) = judged({"counters": declared})
            assert problem.path == ("monitoring", "dcgm", "counters", *key)
            assert (problem.value, problem.allowed, problem.fix) == (wrong, right, right)
            assert problem.message.startswith("alerts" if key else "line 2: alerts")


@pytest.mark.parametrize("kind", ["histogram", "summary"])
def test_a_document_has_the_types_of_dcgm_however_they_are_written(kind: str) -> None:
    line = f"DCGM_FI_DEV_FAN_SPEED, {kind}, Speed"
    for declared in (line, {"DCGM_FI_DEV_FAN_SPEED": {"type": kind}}):
        _, (problem,) = judged({"counters": declared})
        assert (problem.value, problem.allowed) == (kind, "gauge, counter, label")
    assert counter_file.read(line, AT, verbatim=True) == ((Counter("DCGM_FI_DEV_FAN_SPEED", kind, "Speed"),), ())


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x0c"])
def test_only_a_line_feed_ends_a_line(mark: str) -> None:
    text = f"DCGM_FI_DEV_FAN_SPEED, gauge, Speed{mark}of the fan\r\nDCGM_FI_DEV_FB_TOTAL, gauge, All"
    found, problems = counter_file.read(text, AT, verbatim=True)
    assert problems == ()
    assert [counter.help for counter in found] == [f"Speed{mark}of the fan", "All"]
    _, (problem,) = judged({"counters": text})
    assert (problem.value, problem.message) == (f"Speed{mark}of the fan", "line 1: must be one line of text")


@pytest.mark.parametrize(
    ("declared", "path", "value", "fix"),
    [
        ({"DCGM_FI_DEV_GPU_TMP": {}}, ("DCGM_FI_DEV_GPU_TMP",), "DCGM_FI_DEV_GPU_TMP", "DCGM_FI_DEV_GPU_TEMP"),
        ({"DCGM_FI_DEV_FAN_SPEED": {"type": "guage"}}, ("DCGM_FI_DEV_FAN_SPEED", "type"), "guage", "gauge"),
        ({"DCGM_FI_DEV_FAN_SPEED": {"help": "a\nb"}}, ("DCGM_FI_DEV_FAN_SPEED", "help"), "a\nb", None),
        ({"DCGM_FI_DEV_FAN_SPEED": {"help": ""}}, ("DCGM_FI_DEV_FAN_SPEED", "help"), "", None),
    ],
)
def test_a_bad_counter_is_one_problem_in_its_place(
    declared: Any, path: tuple[str, ...], value: str, fix: str | None
) -> None:
    found, (problem,) = judged({"counters": declared})
    assert found is None
    assert problem.path == ("monitoring", "dcgm", "counters", *path)
    assert (problem.value, problem.fix) == (value, fix)


def test_a_profiling_counter_contradicts_profiling_false() -> None:
    name = "DCGM_FI_PROF_PIPE_FP16_ACTIVE"
    _, (problem,) = judged({"profiling": False, "counters": {name: {}}})
    assert problem.path[-1] == name
    _, (problem,) = judged({"profiling": False, "counters": f"{name}, gauge, busy"})
    assert problem.value == name


BAD = f"""\
# comments and empty lines are skipped

DCGM_FI_DEV_GPU_TEMP, gauge
  # not a comment
DCGM_FI_DEV_POWER_USAGE, guage, Power
DCGM_FI_DEV_GPU_TMP, gauge, Temperature
DCGM_FI_DEV_FB_USED, gauge, Used, of all
DCGM_FI_DEV_FB_FREE, gauge, "Free, of all"
DCGM_FI_DEV_SM_CLOCK, gauge,"Clock, in MHz"
DCGM_FI_DEV_SM_CLOCK, gauge, Clock
{SPACES}
DCGM_FI_DEV_MEM_CLOCK, gauge,
"""


def test_a_file_for_the_exporter_has_one_problem_per_bad_line() -> None:
    good, problems = counter_file.read(BAD, AT, verbatim=True)
    assert good == (Counter("DCGM_FI_DEV_SM_CLOCK", "gauge", "Clock, in MHz"),)
    said = {problem.message.partition(":")[0]: problem for problem in problems}
    assert list(said) == [f"line {number}" for number in (3, 4, 5, 6, 7, 8, 10, 11, 12)]
    assert len(said) == len(problems)
    assert "2 columns instead of 3" in said["line 3"].message
    assert said["line 4"].fix == "# not a comment"
    assert (said["line 5"].value, said["line 5"].fix) == ("guage", "gauge")
    assert (said["line 6"].value, said["line 6"].fix) == ("DCGM_FI_DEV_GPU_TMP", "DCGM_FI_DEV_GPU_TEMP")
    assert said["line 7"].fix == 'DCGM_FI_DEV_FB_USED, gauge,"Used, of all"'
    assert "quote" in said["line 8"].message
    assert "stands in line 9 already" in said["line 10"].message
    assert all(problem.path == AT for problem in problems)


def test_in_a_document_a_comma_in_the_help_is_quoted_and_not_split() -> None:
    good, problems = counter_file.read(BAD, AT, verbatim=False)
    assert [problem.message.partition(":")[0] for problem in problems] == [
        f"line {number}" for number in (3, 4, 5, 6, 10, 11, 12)
    ]
    helped = {counter.field: counter.help for counter in good}
    assert helped["DCGM_FI_DEV_FB_USED"] == "Used, of all"
    assert helped["DCGM_FI_DEV_FB_FREE"] == "Free, of all"
    assert '"Used, of all"' in counter_file.write(good)


@pytest.mark.parametrize("text", ["", "# nothing but a comment\n", "\n\n"])
def test_an_empty_list_is_an_error(text: str) -> None:
    for verbatim in (True, False):
        good, (problem,) = counter_file.read(text, AT, verbatim=verbatim)
        assert good == ()
        assert "holds no counter" in problem.message


def test_the_text_of_a_document_is_judged_like_a_file() -> None:
    found, (problem,) = judged({"counters": "DCGM_FI_DEV_GPU_TMP, gauge, Temperature"})
    assert found is None
    assert problem.path == ("monitoring", "dcgm", "counters")
    assert problem.message.startswith("line 1:")
    env = environment({"counters": "DCGM_FI_DEV_FAN_SPEED, gauge, Speed, in percent"})
    assert counters.counters(env)[-1] == Counter("DCGM_FI_DEV_FAN_SPEED", "gauge", "Speed, in percent")


def test_a_map_without_the_key_falls_back_silently_and_is_refused() -> None:
    good, (problem,) = counter_file.read_map({"metric": "DCGM_FI_DEV_FAN_SPEED, gauge, Speed"}, ("data",))
    assert good == ()
    assert problem.path == ("data",)
    assert problem.fix == "rename metric to metrics"
    good, problems = counter_file.read_map({"metrics": "DCGM_FI_DEV_FAN_SPEED, gauge, Speed"}, ("data",))
    assert (len(good), problems) == (1, ())


def test_the_guide_shows_a_sound_document() -> None:
    guide = Path(__file__).parents[2] / "docs/guides/metrics.md"
    (shown,) = re.findall(r"(?s)```yaml\n(.*?)```", guide.read_text("utf-8"))
    verdict = document.judge(small(**yaml.safe_load(shown)))
    assert not verdict.problems
    assert verdict.environment is not None
    assert {"DCGM_FI_DEV_FAN_SPEED", "DCGM_FI_DEV_BAR1_USED"} <= counters.metrics(verdict.environment)


@pytest.mark.parametrize("name", ["DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "DCGM_EXP_P2P_STATUS", "dcgm_gpu_temp"])
def test_names_that_the_exporter_knows_are_known(name: str) -> None:
    assert counter_file.field_fault(name) is None
