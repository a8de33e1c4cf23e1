"""The counters file of the DCGM exporter: one line `FIELD, type, help` per counter.

The exporter reads it with Go's encoding/csv and ends at the first mistake, or, where the file comes from a ConfigMap
that it reads itself, falls back to counters of its own without a word. Source of the rules:
https://github.com/NVIDIA/dcgm-exporter, internal/pkg/counters/counter_config.go.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

from catalog import dcgm
from model.problems import ABSENT, NOTHING, Path, Problem, nearest

Type = Literal["gauge", "counter", "label"]
TYPES: tuple[str, ...] = get_args(Type)
"""What DCGM has."""
_TAKEN = (*TYPES, "histogram", "summary")
"""What the exporter takes: DCGM has no histograms and summaries, but it does not mind the word."""
_ONE_LINE = "one line of text"
KEY = "metrics"
"""The key of a ConfigMap that the exporter reads itself (its option `--configmap-data`)."""

_QUOTED = r'"(?:[^"]|"")*"'
_COLUMN = rf'{_QUOTED}|[^",]*'
_LINE = re.compile(rf"(?:{_COLUMN})(?:,(?:{_COLUMN}))*")
_FORM = 'FIELD, type, help   or, with a comma in the help: FIELD, type,"help, more help"'


@dataclass(frozen=True)
class Counter:
    """A counter of the exporter.

    Attributes:
        field: DCGM field, which is also the name of the metric.
        type: gauge, counter, or label.
        help: What it says.
    """

    field: str
    type: str
    help: str


def write(counters: Iterable[Counter]) -> str:
    """Counters as a file. A help text with a comma is quoted, without a space before the quote."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerows((counter.field, counter.type, counter.help) for counter in counters)
    return text.getvalue()


def read(
    text: str, at: Path, *, verbatim: bool, settled: Mapping[str, str] = MappingProxyType({})
) -> tuple[tuple[Counter, ...], tuple[Problem, ...]]:
    """Read a counters file.

    Args:
        text: The file.
        at: Where it stands, for problems. Each of them names the line, counted from 1.
        verbatim: Whether the exporter reads this very text. If not, it is written anew, and a comma in a help text
            without quotes leaves no doubt and is no mistake.
        settled: The types of fields that may have no other.

    Returns:
        The counters of the lines that are right, and what is wrong with the others.
    """
    counters: dict[str, Counter] = {}
    problems: list[Problem] = []
    lines: dict[str, int] = {}
    # Only a line feed ends a line, for Go: what else Unicode has to end one may stand in a help text.
    for number, ended in enumerate(text.split("\n"), start=1):
        line = ended.removesuffix("\r")
        if not line or line.startswith("#"):
            continue
        columns = _columns(line, verbatim=verbatim)
        if isinstance(columns, str):
            found = [_line(columns, line)]
        else:
            found = list(_faults(columns, line, verbatim=verbatim, settled=settled))
        if not found and not isinstance(columns, str):
            field = columns[0]
            if field in lines:
                found = [Problem((), line, f"{field} stands in line {lines[field]} already", fix="remove one of them")]
            else:
                lines[field] = number
                counters[field] = Counter(*columns)
        problems += [
            Problem(at, problem.value, f"line {number}: {problem.message}", problem.allowed, problem.fix)
            for problem in found
        ]
    if not counters and not problems:
        message = "holds no counter, and the exporter would take its own instead"
        problems.append(Problem(at, text, message, f"at least one line {_FORM}"))
    return tuple(counters.values()), tuple(problems)


def read_map(data: Mapping[str, str], at: Path) -> tuple[tuple[Counter, ...], tuple[Problem, ...]]:
    """Read the counters file in the data of a ConfigMap that the exporter reads itself."""
    if KEY in data:
        return read(data[KEY], (*at, KEY), verbatim=True)
    message = f"has no key {KEY}, and the exporter would take counters of its own instead"
    meant = nearest(KEY, data) or (next(iter(data)) if len(data) == 1 else None)
    return (), (Problem(at, ABSENT, message, KEY, f"rename {meant} to {KEY}" if meant else f"{KEY}: …"),)


def field_fault(name: str) -> tuple[str, str | None] | None:
    """Why a name is no field of the exporter, and which was probably meant; None when it is one."""
    if name in dcgm.numbers():
        return None
    return "is no DCGM field that the exporter knows, which ends when it reads it", nearest(name, dcgm.numbers())


def type_fault(field: str, kind: str, settled: Mapping[str, str]) -> Problem | None:
    """What is wrong, without its place, with the type of a field whose type is settled; None when nothing is."""
    wanted = settled.get(field, kind)
    if kind == wanted:
        return None
    message = f"alerts and dashboards take {field} for a {wanted}, and would not find it or misread it as a {kind}"
    return Problem((), kind, message, wanted, wanted, spoils=NOTHING)


def help_fault(text: str) -> Problem | None:
    """What is wrong, without its place, with a help text; None when nothing is."""
    if text.strip() and text.isprintable():
        return None
    # It stands in one line of what Prometheus reads.
    return Problem((), text, f"must be {_ONE_LINE}", _ONE_LINE, spoils=NOTHING)


def _columns(line: str, *, verbatim: bool) -> list[str] | str:
    """The columns of a line, or what keeps it from being read."""
    if not line.strip():
        return "is a line of spaces, which counts as a counter: only an empty line is skipped"
    if line.lstrip().startswith("#"):
        return "is a comment only if # is its first character: with spaces before it, it counts as a counter"
    if not verbatim:
        return _forgiven(line)
    if not _LINE.fullmatch(line):
        return "has a quote that does not begin a column right after its comma, or that is not closed"
    return [column.strip(" ") for column in next(csv.reader([line]))]


def _forgiven(line: str) -> list[str] | str:
    """The columns of a line that is written anew: all that follows the second comma is help."""
    columns = [column.strip() for column in line.split(",", 2)]
    if len(columns) == len(Counter.__dataclass_fields__) and columns[2].startswith('"'):
        if not re.fullmatch(_QUOTED, columns[2]):
            return "has a quote that is not closed"
        columns[2] = columns[2][1:-1].replace('""', '"')
    return columns


def _line(fault: str, line: str) -> Problem:
    return Problem((), line, fault, _FORM, line.strip() if line.strip().startswith("#") else None)


def _faults(columns: list[str], line: str, *, verbatim: bool, settled: Mapping[str, str]) -> Iterator[Problem]:
    wanted = len(Counter.__dataclass_fields__)
    if len(columns) != wanted:
        message, fix = f"has {len(columns)} column{'s' if len(columns) > 1 else ''} instead of {wanted}", None
        if len(columns) > wanted:
            message += ": a comma in the help is part of it only inside quotes"
            field, kind, helped = line.split(",", 2)
            fix = f'{field},{kind},"{helped.strip().replace(chr(34), chr(34) * 2)}"'
        yield Problem((), line, message, _FORM, fix)
        return
    field, kind, helped = columns
    if fault := field_fault(field):
        yield Problem((), field, *fault[:1], fix=fault[1])
    types = _TAKEN if verbatim else TYPES
    if kind not in types:
        message = "is no type of metric"
        yield Problem((), kind, message, ", ".join(types), nearest(kind, types))
    elif problem := type_fault(field, kind, settled):
        yield problem
    if not helped:
        yield Problem((), line, "has no help text", _FORM)
    elif not verbatim and (problem := help_fault(helped)):
        yield problem
