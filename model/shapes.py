"""From plain values to an `Environment`: shape errors in plain words, and what remains readable.

pydantic decides what is well-formed. Where something is not, its finding is said in the words of the document, the
value is replaced by `LOST` and a misspelt key is read as the key that was meant, so that everything else can still
be judged.
"""

import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from . import days, durations
from .base import Declared
from .durations import Duration
from .problems import LOST, Path, Problem, lost, nearest, shown
from .quantities import EXAMPLES
from .wording import BY_KIND, explained, unkind

Written = Callable[[Path], str | None]
"""The scalar at a path as it was typed, if known."""


class Reading:
    """A plain value read as a shape: what was understood of it, and what was not.

    Attributes:
        found: The shape, with `LOST` in the place of what could not be read.
        problems: What could not be read, and why.
    """

    def __init__(self, shape: type[Declared], value: Any, written: Written = lambda _: None) -> None:
        self._shape = shape
        self._value = value
        self._written = written
        self._respelt: dict[Path, str] = {}  # path with the key that was meant -> the key that was written
        self._emptied: set[Path] = set()  # mappings of which something was left out as it was not understood
        self._strange: set[Path] = set()  # mappings, or keys, whose place is taken by what should not stand there
        self.problems: list[Problem] = []
        try:
            self.found: Any = self._validated()
        except ValidationError as error:
            self._value = _copy(value)
            self._salvage(error)
            self.found = _partial(shape, self._value)

    def forget(self, paths: Iterable[Path]) -> None:
        """Make the values at some paths `LOST` too, since they turned out to be wrong."""
        self.settle(dict.fromkeys(paths, LOST))

    def settle(self, values: Mapping[Path, Any]) -> None:
        """Put what some values turned out to be in their places."""
        for path, value in values.items():
            self.found = _replaced(self.found, path, value)

    def disregard(self, paths: Iterable[Path]) -> None:
        """Make the values at some paths, as they stand in the document, `LOST`, and what was said of them unsaid."""
        for path in paths:
            self.problems = [it for it in self.problems if self.as_written(it).path[: len(path)] != path]
            self.forget([self._as_meant(path)])

    def _as_meant(self, path: Path) -> Path:
        for meant, written in self._respelt.items():
            if path[: len(meant)] == (*meant[:-1], written):
                path = (*meant, *path[len(meant) :])
        return path

    def as_written(self, problem: Problem) -> Problem:
        """A problem with the keys as they stand in the document, misspelt ones included."""
        path = tuple(self._respelt.get(problem.path[: depth + 1], step) for depth, step in enumerate(problem.path))
        return problem if path == problem.path else replace(problem, path=path)

    def _validated(self) -> Any:
        return self._shape.model_validate(self._value, by_name=False)

    def _salvage(self, error: ValidationError) -> None:
        """Mend spelling until none is left, then report and drop the rest."""
        details = error.errors(include_url=False)
        while unknown := [detail for detail in details if detail["type"] == "extra_forbidden"]:
            for detail in unknown:
                self._unknown_key(self._place(detail["loc"]))
            try:
                self._validated()
                details = []
            except ValidationError as remaining:
                details = remaining.errors(include_url=False)
        wrong = [(self._place(detail["loc"]), detail) for detail in details]
        # What was meant by a mapping of which nothing is left is unknown: nothing may be concluded from it.
        unclear = [path for path in self._emptied if _at(self._value, path) == {}]
        for path in unclear:
            self._value = _without(self._value, path)
        for path, detail in wrong:
            if not any(path[: len(above)] == above for above in unclear):
                self._wrong_value(path, detail)

    def _place(self, location: tuple[int | str, ...]) -> Path:
        """A location of pydantic without the names of union branches, which are no keys of the document."""
        path: Path = ()
        value = self._value
        for position, step in enumerate(location):
            last = position == len(location) - 1
            if step == "[key]" or str(step).startswith("("):
                continue
            if isinstance(value, dict) and (step in value or last):
                value = value.get(step)
            elif isinstance(value, list) and isinstance(step, int):
                value = value[step]
            else:
                continue
            path = (*path, step)
        return path

    def _unknown_key(self, path: Path) -> None:
        *_, key = path
        holder = _at(self._value, path[:-1])
        if key not in holder:  # told already, with another one
            return
        shape = _shape_at(self._shape, self._value, path[:-1])
        known = sorted(_keys(shape))
        if whole := _key_of_part(shape, str(key), holder):
            self._parts(path[:-1], shape, whole, known)
            return
        value = holder.pop(key)
        meant = None
        if key in shape.misplaced:
            message, fix = shape.misplaced[key], None
            if len(known) == 1:
                self._strange.add(path[:-1])
        elif (behind := _key_of_word(shape, key)) is not None:
            message, fix = "is a word that stands behind a key, and no key itself", f"{behind}: {key}"
            meant, value = behind, key
        elif key in _words(_annotation_at(self._shape, self._value, path[:-1])):
            message, fix = "is a word that stands in place of a mapping, and no key", f"{path[-2]}: {key}"
            self._strange.add(path[:-1])
        else:
            absent = [name for name in known if name not in holder]
            meant = shape.synonyms.get(str(key)) or nearest(str(key), absent) or nearest(str(key), known)
            message, fix = "there is no such key here", f"{meant}: …" if meant else None
            message += f"; did you mean {meant}?" if meant else ""
            if meant and isinstance(value, str) and self._listed((*path[:-1], meant)):
                value, fix = [value], f"{meant}: [{shown(value)}]"
        self.problems.append(Problem(path, str(key), message, ", ".join(known), fix))
        if meant is not None and meant not in holder:
            holder[meant] = value
            self._respelt[(*path[:-1], meant)] = str(key)
        elif path[:-1]:
            self._emptied.add(path[:-1])

    def _parts(self, above: Path, shape: type[Declared], whole: str, known: list[str]) -> None:
        """Tell all keys for parts of one mapping as one mistake, and read them as that mapping."""
        holder, parts = _at(self._value, above), shape.parts[whole]
        first = next(key for key in parts if key in holder)
        given = {part: holder[key] for key, part in parts.items() if key in holder}
        for key in [key for key in holder if key in parts or shape.synonyms.get(key) == whole]:
            del holder[key]
        both = ", ".join(
            f"{part}: {shown(given[part]) if part in given else '…'}" for part in dict.fromkeys(parts.values())
        )
        message = f"there is no such key here; it is a part of {whole}"
        self.problems.append(Problem((*above, first), first, message, ", ".join(known), f"{whole}: {{{both}}}"))
        if whole in holder:
            return
        if given.keys() == set(parts.values()):
            holder[whole] = given
            self._respelt[(*above, whole)] = first
        else:
            self._strange.add((*above, whole))

    def _listed(self, path: Path) -> bool:
        """Whether a list of texts belongs at a path, where a singular may stand for its one item."""
        annotation = _annotation_at(self._shape, self._value, path)
        return get_origin(annotation) is tuple and get_args(annotation)[0] is str

    def _wrong_value(self, path: Path, detail: ErrorDetails) -> None:
        if detail["type"] == "union_tag_invalid":
            self.problems.append(unkind(path, detail))
            self._value = _without(self._value, path)
            return
        if detail["type"] != "missing" or not {path, path[:-1]} & self._strange:
            typed = self._written(self.as_written(Problem(path, None, "")).path)
            problem = explained(detail, path, typed)
            if detail["type"] in BY_KIND and detail["loc"][-1:] != ("[key]",):
                problem = replace(problem, allowed=_wanted(_annotation_at(self._shape, self._value, path)))
            if detail["type"] == "string_type" and detail["input"] is None and self._may_be_empty(path):
                problem = replace(problem, fix='write ""')
            if detail["type"] in BY_KIND and detail["input"] is None and self._may_be_absent(path):
                problem = replace(problem, fix=f"leave out {path[-1]}, which has a default, or write what is allowed")
            self.problems.append(problem)
        self._value = _without(self._value, path)

    def _may_be_absent(self, path: Path) -> bool:
        """Whether a key may be left out."""
        holder = self._holder(path)
        if not path or not (isinstance(holder, type) and issubclass(holder, Declared)):
            return False
        return any(field.alias == path[-1] and not field.is_required() for field in holder.model_fields.values())

    def _holder(self, path: Path) -> Any:
        return _branch(_annotation_at(self._shape, self._value, path[:-1]), _at(self._value, path[:-1]))

    def _may_be_empty(self, path: Path) -> bool:
        """Whether empty text may stand at a path: where it is the default, and in a label."""
        holder = self._holder(path)
        if isinstance(holder, type) and issubclass(holder, Declared):
            return any(field.alias == path[-1] and field.default == "" for field in holder.model_fields.values())
        return get_origin(holder) is dict


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copy(item) for item in value]
    return value


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def _without(root: Any, path: Path) -> Any:
    """The value with `LOST` at a path; the same where something around it is lost already."""
    holder: Any = root
    for step in path[:-1]:
        if lost(holder) or (isinstance(holder, dict) and step not in holder):
            return root
        holder = holder[step]
    if not path:
        return LOST
    if not lost(holder):
        holder[path[-1]] = LOST
    return root


def _replaced(found: Any, path: Path, value: Any) -> Any:
    """What was read, with another value at a path; only what stands around it is made anew."""
    if lost(found) or not path:
        return LOST if lost(found) else value
    step, rest = path[0], path[1:]
    if isinstance(found, Declared):
        fields = type(found).model_fields
        inside = {name: getattr(found, name) for name in fields}
        name = next((name for name, field in fields.items() if (field.alias or name) == step), None)
        if name is None:
            return found
        changed = {**inside, name: _replaced(inside[name], rest, value)}
        return type(found).model_construct(_fields_set=set(found.model_fields_set), **changed)
    if isinstance(found, dict) and (step in found or not rest):
        return {**found, step: _replaced(found.get(step), rest, value)}
    if isinstance(found, tuple):
        return tuple(_replaced(item, rest, value) if index == step else item for index, item in enumerate(found))
    return found


def _keys(shape: type[Declared]) -> Iterator[str]:
    for name, field in shape.model_fields.items():
        yield field.alias or name


def _kinds(shape: type[Declared]) -> list[str]:
    """What `kind` may be in a shape; nothing where it has no such key."""
    field = shape.model_fields.get("kind")
    return _words(field.annotation) if field else []


def _shape_at(shape: type[Declared], value: Any, path: Path) -> type[Declared]:
    """The shape of the mapping at a path."""
    return _branch(_annotation_at(shape, value, path), _at(value, path))


def _annotation_at(shape: type[Declared], value: Any, path: Path) -> Any:
    annotation: Any = shape
    for step in path:
        annotation = _branch(annotation, value)
        if isinstance(annotation, type) and issubclass(annotation, Declared):
            field = next(field for name, field in annotation.model_fields.items() if (field.alias or name) == step)
            annotation = field.annotation
        else:
            annotation = get_args(annotation)[1] if get_origin(annotation) is dict else get_args(annotation)[0]
        value = value.get(step) if isinstance(value, dict) else value[step]
    return annotation


def _wanted(annotation: Any) -> str:
    """What a field wants, in words."""
    kind = get_origin(annotation)
    if kind in (Union, types.UnionType):
        return " or ".join(_wanted(member) for member in get_args(annotation) if member is not type(None))
    if kind is Literal:
        return ", ".join(str(word) for word in get_args(annotation))
    if kind is Annotated:
        return _wanted(get_args(annotation)[0])
    if isinstance(annotation, type) and issubclass(annotation, Declared):
        return f"{{{', '.join(_keys(annotation))}}}"
    if kind is tuple:
        return f"a list of {_wanted(get_args(annotation)[0]).removeprefix('a ')}"
    plain = {
        Duration: durations.EXAMPLES,
        date: days.EXAMPLES,
        str: "text",
        int: "a whole number",
        bool: "true, false",
        dict: "key: value pairs",
    }
    return plain.get(kind or annotation, EXAMPLES)


def _key_of_part(shape: type[Declared], key: str, holder: Mapping[str, Any]) -> str | None:
    """The key of the mapping that another key is for a part of, by itself or beside such a one; None for others."""
    for whole, parts in shape.parts.items():
        if key in parts or (shape.synonyms.get(key) == whole and parts.keys() & holder.keys()):
            return whole
    return None


def _key_of_word(shape: type[Declared], word: str | int) -> str | None:
    """The one key behind which a word may stand that was taken for a key; None for other words."""
    keys = [field.alias for field in shape.model_fields.values() if word in _words(field.annotation)]
    return keys[0] if len(keys) == 1 else None


def _words(annotation: Any) -> list[str]:
    """The words that may be written for an annotation, such as `none`."""
    if get_origin(annotation) is Literal:
        return [str(word) for word in get_args(annotation)]
    if get_origin(annotation) in (Union, types.UnionType, Annotated):
        return [word for member in get_args(annotation) for word in _words(member)]
    return []


def _branch(annotation: Any, value: Any) -> Any:
    """The member of a union that a value is meant for: a mapping for a shape, anything else for the rest."""
    while get_origin(annotation) not in (dict, tuple, Union, types.UnionType, Literal, None):
        annotation = get_args(annotation)[0]
    if get_origin(annotation) not in (Union, types.UnionType):
        return annotation
    members = [_branch(member, value) for member in get_args(annotation)]
    shapes = [member for member in members if isinstance(member, type) and issubclass(member, Declared)]
    if isinstance(value, dict):
        kind = value.get("kind")
        if of_kind := [member for member in shapes if not lost(kind) and kind in _kinds(member)]:
            return of_kind[0]
        fitting = [member for member in shapes if set(value) <= set(_keys(member))]
        mappings = [member for member in members if get_origin(member) is dict]
        return (fitting or shapes or mappings)[0]
    if isinstance(value, list):
        return next(member for member in members if get_origin(member) is tuple)
    plain = [member for member in get_args(annotation) if member not in shapes]
    return Union[tuple(plain)]  # noqa: UP007  built from a tuple


def _partial(annotation: Any, value: Any) -> Any:
    """Build what was read, with `LOST` where something was not."""
    if lost(value):
        return LOST
    chosen = _branch(annotation, value)
    if isinstance(chosen, type) and issubclass(chosen, Declared):
        fields = {name: (field.alias or name, _whole(field)) for name, field in chosen.model_fields.items()}
        given = {name: _partial(kind, value[alias]) for name, (alias, kind) in fields.items() if alias in value}
        absent = {
            name: LOST for name, field in chosen.model_fields.items() if field.is_required() and name not in given
        }
        return chosen.model_construct(**given, **absent)
    if get_origin(chosen) is dict:
        if not all(isinstance(key, str) for key in value):
            return LOST
        return {key: _partial(get_args(chosen)[1], item) for key, item in value.items()}
    if get_origin(chosen) is tuple:
        return tuple(_partial(get_args(chosen)[0], item) for item in value)
    return _leaf(annotation).validate_python(value)


def _whole(field: FieldInfo) -> Any:
    """The annotation of a field as it was written: pydantic parts the type from what reads a value."""
    return Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation


@cache
def _leaf(annotation: Any) -> TypeAdapter[Any]:
    return TypeAdapter(annotation)
