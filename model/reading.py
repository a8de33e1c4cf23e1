"""From YAML text to plain values, with the place of each and with what YAML itself hides (duplicate keys)."""

import re
from collections.abc import Iterator
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from .problems import NOTHING, Path, Problem, shown

_Safe: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Safe):
    """Reads plain scalars as the Pulumi engine does (https://github.com/go-yaml/yaml/blob/v3/resolve.go).

    PyYAML follows YAML 1.1, where `yes` is true, `1:30` is 90 and `12e4` text. To the engine the first two are text and
    the last a number: a document must not mean one thing to `check` and another to `up`. Dates are dates to both; the
    engine would hand on `2026-12-20` as `2026-12-20 00:00:00 +0000 UTC`, so they are no text before they are quoted.
    """

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  PyYAML's own protocol


for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0o?[0-7_]+|0|[1-9][0-9_]*)", "-+0123456789"),
    (
        "float",
        (
            r"[-+]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9_]+)?"
            r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
        ),
        "-+0123456789.",
    ),
    (
        "timestamp",
        (
            r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]*)?"
            r"(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?)?"
        ),
        "0123456789",
    ),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("merge", r"<<", "<"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_pattern})\\Z"), list(_first))

_MERGE = "tag:yaml.org,2002:merge"
_TEXT = "tag:yaml.org,2002:str"
_DIGITS = 4_000
"""Of a number; Python itself reads no more than 4,300."""
_LARGEST = 2_000_000
"""Values after aliases are followed. A document of 64 pools, 512 queues and 1,000 clusters has about 30,000; a few
nested aliases can stand for billions."""


class ReadingError(ValueError):
    """Text that is not one YAML document; `line` says where."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class Positions:
    """Where each value stands in its file, found when asked: most documents have nothing to point at."""

    def __init__(self, root: Node | None) -> None:
        self._root = root

    def line(self, path: Path) -> int | None:
        """Line (from 1) of the key or item at a path, or of the closest thing around it that exists."""
        return self._find(path)[0]

    def text(self, path: Path) -> str | None:
        """The scalar at a path as it was typed (`1.30`), before YAML gave it a type."""
        _, node, complete = self._find(path)
        return node.value if complete and isinstance(node, ScalarNode) else None

    def _find(self, path: Path) -> tuple[int | None, Node | None, bool]:
        node = self._root
        line = node.start_mark.line + 1 if node is not None else None
        for step in path:
            key, below = _child(node, step)
            if below is None:
                return line, node, False
            node, line = below, (key or below).start_mark.line + 1
        return line, node, True


def _child(node: Node | None, step: str | int) -> tuple[Node | None, Node | None]:
    if isinstance(node, MappingNode):
        for key, value in reversed(node.value):  # the last one of duplicates is the one that counts
            if key.value == step:
                return key, value
    elif isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
        return None, node.value[step]
    return None, None


def child(node: Node | None, key: str) -> Node | None:
    """The value under a key of a mapping; None when there is none."""
    return _child(node, key)[1]


def keys(node: Node | None) -> list[str]:
    """The keys of a mapping; none for anything else."""
    return [key.value for key, _ in node.value if isinstance(key, ScalarNode)] if isinstance(node, MappingNode) else []


def duplicates(node: Node | None) -> dict[str, tuple[int, int]]:
    """The keys that a mapping has more than once, each with the lines (from 1) of its first two places."""
    lines: dict[str, list[int]] = {}
    for key, _ in node.value if isinstance(node, MappingNode) else ():
        if isinstance(key, ScalarNode) and key.tag != _MERGE:
            lines.setdefault(key.value, []).append(key.start_mark.line + 1)
    return {name: (found[0], found[1]) for name, found in lines.items() if len(found) > 1}


def compose(text: str) -> Node | None:
    """The node tree of a YAML text; None for an empty one.

    Raises:
        ReadingError: It is not YAML, or more than one document.
    """
    loader = _Loader(text)
    try:
        return loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise ReadingError(error.problem or "not YAML", mark.line + 1 if mark else None) from None
    except yaml.YAMLError as error:
        raise ReadingError(f"not YAML: {error}") from None
    finally:
        loader.dispose()


def value_of(root: Node) -> tuple[Any, list[Problem]]:
    """The plain value of a node tree and the problems that YAML would have hidden.

    Raises:
        ReadingError: An alias contains itself, or aliases expand to an unreasonable size.
    """
    reader = _Reader()
    return reader.value(root, ()), reader.problems


class _Reader:
    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._scalars = _Loader("")
        self._open: set[int] = set()
        self._count = 0

    def value(self, node: Node, path: Path) -> Any:
        self._count += 1
        if self._count > _LARGEST:
            raise ReadingError(f"aliases expand to more than {_LARGEST:,} values", node.start_mark.line + 1)
        if isinstance(node, ScalarNode):
            if node.tag == _TEXT:
                return node.value
            return self._scalar(node, path)
        if id(node) in self._open:
            raise ReadingError("an alias contains itself", node.start_mark.line + 1)
        self._open.add(id(node))
        try:
            if isinstance(node, SequenceNode):
                return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
            return dict(self._entries(node, path))
        finally:
            self._open.remove(id(node))

    def _scalar(self, node: ScalarNode, path: Path) -> Any:
        try:
            return self._scalars.construct_object(node)
        except (yaml.YAMLError, ValueError) as error:
            if len(node.value) > _DIGITS:
                self.problems.append(Problem(path, node.value, f"is too large a number, of {len(node.value)} digits"))
                return node.value
            reason = getattr(error, "problem", None) or str(error)
            # A day that is none is none in quotes either.
            fix = None if node.tag.endswith(":timestamp") else f'"{node.value}"'
            self.problems.append(Problem(path, node.value, f"YAML cannot read this: {reason}", fix=fix))
            return node.value

    def _entries(self, node: Node, path: Path) -> Iterator[tuple[str, Any]]:
        merged: list[Node] = []
        own: list[tuple[str, Any]] = []
        for name, (first, second) in duplicates(node).items():
            message = f"is given twice (lines {first} and {second})"
            self.problems.append(Problem((*path, name), name, message, fix="keep one of them"))
        for key, value in node.value:
            if key.tag == _MERGE:
                merged += value.value if isinstance(value, SequenceNode) else [value]
            elif isinstance(key, ScalarNode):
                own.append((key.value, self.value(value, (*path, key.value))))
            else:
                message = f"a key must be plain text (line {key.start_mark.line + 1})"
                self.problems.append(Problem(path, "?", message, spoils=NOTHING))
        for source in reversed(merged):  # the first of several wins, and own keys win over all
            if not isinstance(source, MappingNode):
                raise ReadingError(f"<< merges mappings, not {shown(source.value)}", source.start_mark.line + 1)
            yield from self._entries(source, path)
        yield from own
