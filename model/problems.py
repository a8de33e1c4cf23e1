"""Problems of a document: what they carry, how they are told, and rules that cannot answer.

A rule is a function that yields problems. It may touch a value that could not be read: such a value is `LOST`, and
any use of it raises `Unanswerable`. A rule that cannot answer stops silently, because the mistake is already
reported at the place where it stands; a guess would only add errors that vanish once the first one is mended.
"""

import difflib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn, Protocol, TypeVar

if TYPE_CHECKING:
    from .environment import Environment

Path = tuple[str | int, ...]
Severity = Literal["error", "warning"]
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

NOTHING: tuple[Path, ...] = ()
"""In `Problem.spoils`: everything can still be reasoned with."""

ROOT = "environment"
_SHOWN = 60  # characters of a bad value in a message


class Unanswerable(Exception):  # noqa: N818  a state of a rule, not a failure
    """A question has no answer since a value that it needs is missing or wrong, which is reported elsewhere."""


def _refuse(*_: object, **__: object) -> NoReturn:
    raise Unanswerable


class _Lost:
    """A value that could not be read. Any use of it raises `Unanswerable`."""

    def __repr__(self) -> str:
        return "LOST"

    __slots__ = ()


_OPERATIONS = """
getattr getitem iter len contains bool int index float str format hash eq ne lt le gt ge call neg abs
add radd sub rsub mul rmul floordiv rfloordiv truediv rtruediv mod rmod
"""
for _operation in _OPERATIONS.split():
    setattr(_Lost, f"__{_operation}__", _refuse)

LOST: Any = _Lost()


def known(value: T) -> T:
    """A value, if it could be read.

    Raises:
        Unanswerable: It could not.
    """
    if value is LOST:
        raise Unanswerable
    return value


def lost(value: object) -> bool:
    """Whether a value could not be read."""
    return value is LOST


class Absent:
    """Stands for the value of a problem about something that is not there."""

    def __repr__(self) -> str:
        return "missing"


ABSENT = Absent()


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong (or doubtful) in a document.

    Attributes:
        path: Keys and indexes from the document's root, as they are written.
        value: The bad value; `ABSENT` where something is missing.
        message: What is wrong with it, with the numbers that disagree.
        allowed: What may stand there.
        fix: What to write instead.
        severity: An error stops everything; a warning is only shown.
        spoils: What other rules leave out because of it: the value at the path, unless said otherwise. Where two values
            contradict each other, either may be the wrong one. A bad name spoils `NOTHING`: it still names its thing.
    """

    path: Path
    value: object
    message: str
    allowed: str | None = None
    fix: str | None = None
    severity: Severity = "error"
    spoils: tuple[Path, ...] | None = None

    @property
    def spoilt(self) -> tuple[Path, ...]:
        """The paths that other rules leave out; none for a warning."""
        if self.severity == "warning":
            return NOTHING
        return (self.path,) if self.spoils is None else self.spoils


@dataclass(frozen=True)
class Subject(Generic[T_co]):
    """What a rule is about.

    Attributes:
        at: Where it stands in the document.
        name: Its name there.
        value: The thing itself.
        env: The environment around it.
    """

    at: Path
    name: str
    value: T_co
    env: "Environment"


class Positions(Protocol):
    """Where the values of a document stand."""

    def line(self, path: Path) -> int | None:
        """Line (from 1) of the value at a path, or of the closest thing around it that exists."""
        ...


class DocumentError(ValueError):
    """A document that cannot be used; `problems` has all reasons, warnings included."""

    def __init__(self, problems: Iterable[Problem], file: object = None, positions: Positions | None = None) -> None:
        self.problems = tuple(problems)
        super().__init__(render(self.problems, file, positions))


def answered(rule: Callable[..., Iterable[Problem]], *args: object) -> Iterator[Problem]:
    """What a rule says, up to the point where it cannot answer."""
    try:
        yield from rule(*args)
    except Unanswerable:
        return


def each(
    at: Path, values: Mapping[Any, T], env: "Environment", *rules: Callable[[Subject[T]], Iterable[Problem]]
) -> Iterator[Problem]:
    """What some rules say about each entry of a mapping that could be read.

    Raises:
        Unanswerable: The mapping itself could not.
    """
    for name, value in readable(values):
        subject = Subject((*at, name), name, value, env)
        for rule in rules:
            yield from answered(rule, subject)


def readable(values: Mapping[Any, T]) -> Iterator[tuple[str, T]]:
    """The entries of a mapping whose values could be read at all.

    Raises:
        Unanswerable: The mapping itself could not.
    """
    for name, value in values.items():
        if not lost(value):
            yield name, value


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant, regardless of case and separators; None when none is near."""
    plain = {_plain(candidate): candidate for candidate in sorted(known, reverse=True)}
    found = difflib.get_close_matches(_plain(word), plain, n=1, cutoff=0.6)
    return plain[found[0]] if found else None


def _plain(word: str) -> str:
    return word.lower().replace("-", "").replace("_", "").replace(" ", "")


def spoken(path: Path) -> str:
    """A path as people write it: `environment.pools.train.taints[0].key`."""
    text = ROOT
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step and all(letter.isalnum() or letter in "-_" for letter in step):
            text += f".{step}"
        else:
            text += f"[{json.dumps(step, ensure_ascii=False)}]"
    return text


def shown(value: object) -> str:
    """A value as it may stand in a message: as YAML in one line, cut when long."""
    if isinstance(value, Absent):
        return "missing"
    if isinstance(value, str):
        text = (
            value if value and value.isprintable() and value == value.strip() else json.dumps(value, ensure_ascii=False)
        )
    else:
        text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def render(problems: Iterable[Problem], file: object = None, positions: Positions | None = None) -> str:
    """All problems as text: place and path, value and message, what is allowed and a fix."""
    blocks: list[str] = []
    for problem in problems:
        line = positions.line(problem.path) if positions else None
        place = "" if file is None else f"{file}:{line}  " if line else f"{file}  "
        mark = "warning: " if problem.severity == "warning" else ""
        lines = [f"{place}{spoken(problem.path)}", f"  {mark}{shown(problem.value)}: {problem.message}"]
        hints = [f"allowed: {problem.allowed}"] if problem.allowed else []
        hints += [f"fix: {problem.fix}"] if problem.fix else []
        if hints:
            lines.append("  " + "        ".join(hints))
        blocks.append("\n".join(lines))
    return "\n".join(blocks)
