"""How a stack differs from what it was: its resources as two programs, or a program and a saved state, have them.

What is not known before an update is taken for what it was, and so is a secret that one side has encrypted: neither can
be compared.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from twin import replacing
from twin.aws.wire import SECRET, SIGNATURE, UNKNOWN_TEXT
from twin.monitor import UPSTREAM, Resource, invented_id

OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
"""The engine's mark of a value with its dependencies (pulumi, sdk/go/common/resource/sig.go)."""


class _Mark:
    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


MISSING = _Mark("(missing)")
"""Stands for a value that is not there."""
HIDDEN = _Mark("(secret)")
"""Stands for a value that is a secret."""
UNKNOWN = _Mark("(known once it is made)")
"""Stands for a value that is not known before an update."""

Kind = Literal["add", "change", "replace", "remove"]
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Difference:
    """A value that is not what it was.

    Attributes:
        path: Where it is in the inputs of its resource.
        before: What it was: JSON, or a mark of this module.
        now: What it will be.
    """

    path: Path
    before: Any
    now: Any


@dataclass(frozen=True)
class Change:
    """What happens to a resource.

    Attributes:
        kind: Whether it is added, changed in place, replaced or removed.
        resource: The resource as it will be; as it was, where it is removed.
        differences: What of its inputs is not what it was; none for one that is added or removed.
        because: Where a change replaces it: the inputs that do.
        foreseen: Whether it is known what replaces resources of its type.
    """

    kind: Kind
    resource: Resource
    differences: tuple[Difference, ...] = ()
    because: tuple[str, ...] = ()
    foreseen: bool = True


def changes(before: Sequence[Resource], now: Sequence[Resource], *, saved: bool = False) -> list[Change]:
    """Give what happens to resources, in the order in which they are now; what is removed comes last.

    Components are no matter of their own: what they are made of is.

    Args:
        before: The resources as they were.
        now: The resources as a rehearsal has them.
        saved: Whether they were read from a saved state, where ids are real: those of a rehearsal are invented.
    """
    if saved:
        invented = {invented_id(resource.name) for resource in now if resource.type.startswith("aws:")}
        now = [replace(resource, inputs=_without(resource.inputs, invented)) for resource in now]
    return _Comparison(before, now).changes()


def _without(value: Any, invented: Collection[str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _without(entry, invented) for key, entry in value.items()}
    if isinstance(value, list):
        return [_without(entry, invented) for entry in value]
    return UNKNOWN_TEXT if isinstance(value, str) and value in invented else value


class _Comparison:
    def __init__(self, before: Iterable[Resource], now: Iterable[Resource]) -> None:
        self._old, self._new = (
            {each.urn: each for each in side if each.custom and not each.read} for side in (before, now)
        )
        self._known: dict[str, Change | None] = {}

    def changes(self) -> list[Change]:
        found = [self._of(urn) for urn in self._new]
        gone = [Change("remove", resource) for urn, resource in self._old.items() if urn not in self._new]
        return [change for change in found if change is not None] + gone

    def _of(self, urn: str | None) -> Change | None:
        if urn is None or urn not in self._new:
            return None
        if urn not in self._known:
            self._known[urn] = self._judge(self._old.get(urn), self._new[urn])
        return self._known[urn]

    def _judge(self, before: Resource | None, now: Resource) -> Change | None:
        if before is None:
            return Change("add", now)
        by_path = {found.path: found for found in (*self._following(now), *_differences(before, now))}
        found = tuple(by_path.values())
        provider = self._of(now.provider)
        if provider is not None and provider.kind == "replace":
            return Change("replace", now, found, ("its provider is replaced",))
        if not found:
            return None
        because = replacing.because(now, *_plain(before.inputs, now.inputs), found)
        return Change("replace" if because else "change", now, found, because, replacing.known(now.type))

    def _following(self, now: Resource) -> Iterator[Difference]:
        """Give the inputs that are made of what another resource will only then be."""
        for name, urns in now.references.items():
            for change in filter(None, map(self._of, urns)):
                anew = change.kind == "replace" and change.resource.type.startswith("aws:")
                told = {UNKNOWN_TEXT, invented_id(change.resource.name)} if anew else {UNKNOWN_TEXT}
                if anew or replacing.tells_anew(change):
                    for path in _places(now.inputs.get(name), told, (name,)):
                        yield Difference(path, UNKNOWN, UNKNOWN)


def _places(value: Any, told: Collection[str], path: Path) -> Iterator[Path]:
    """Give where in a value something stands."""
    if isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _places(entry, told, (*path, key))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _places(entry, told, (*path, index))
    elif isinstance(value, str) and value in told:
        yield path


def _differences(before: Resource, now: Resource) -> tuple[Difference, ...]:
    if now.type == UPSTREAM:
        # Upstream's own text, which a rehearsal does not read: there is nothing to compare.
        return ()
    ignored = [spelt(rule) for rule in now.ignore_changes]
    return tuple(
        found
        for found in _walk((), before.inputs, now.inputs)
        if not replacing.filled_in(now.type, found) and not any(within(found.path, rule) for rule in ignored)
    )


def _walk(path: Path, before: Any, now: Any) -> Iterator[Difference]:
    before, hidden_before = _opened(before)
    now, hidden_now = _opened(now)
    if before is MISSING and now is MISSING:
        return
    if HIDDEN in (before, now) or (UNKNOWN in (before, now) and MISSING not in (before, now)):
        return
    if hidden_before or hidden_now:
        if before != now:
            yield Difference(path, *(value if value is MISSING else HIDDEN for value in (before, now)))
    elif _is_map(before) and _is_map(now):
        left_out = {"__defaults", *(before.get("__defaults") or ())} - now.keys()
        for key in [*before, *(key for key in now if key not in before)]:
            if key not in left_out:
                yield from _walk((*path, key), before.get(key, MISSING), now.get(key, MISSING))
    elif isinstance(before, list) and isinstance(now, list):
        yield from _lists(path, before, now)
    elif isinstance(before, bool) != isinstance(now, bool) or before != now:
        yield Difference(path, before, now)


def _lists(path: Path, before: list[Any], now: list[Any]) -> Iterator[Difference]:
    """Compare lists: by the names of their entries where these have names, as containers do, else by position."""
    names = [[_name(entry) for entry in side] for side in (before, now)]
    if all(None not in side and len(set(side)) == len(side) for side in names):
        old, new = ({str(_name(entry)): entry for entry in side} for side in (before, now))
        for name in [*old, *(name for name in new if name not in old)]:
            yield from _walk((*path, name), old.get(name, MISSING), new.get(name, MISSING))
        return
    for index in range(max(len(before), len(now))):
        sides = (side[index] if index < len(side) else MISSING for side in (before, now))
        yield from _walk((*path, index), *sides)


def _name(entry: Any) -> str | None:
    name = entry.get("name") if isinstance(entry, Mapping) else None
    return name if isinstance(name, str) else None


def _is_map(value: Any) -> bool:
    return isinstance(value, Mapping) and SIGNATURE not in value  # an asset is one value


def _opened(value: Any) -> tuple[Any, bool]:
    """Give a value without the wire's marks, and whether it is a secret."""
    hidden = False
    while isinstance(value, Mapping) and value.get(SIGNATURE) in (SECRET, OUTPUT):
        hidden = hidden or value[SIGNATURE] == SECRET or value.get("secret") is True
        if "plaintext" in value:
            value = json.loads(value["plaintext"])
        else:
            value = HIDDEN if "ciphertext" in value else value.get("value", UNKNOWN)
    if value is None:
        return MISSING, hidden
    return (UNKNOWN if value == UNKNOWN_TEXT else value), hidden


def _plain(before: Any, now: Any) -> tuple[Any, Any]:
    """Give two values without the wire's marks; where one cannot be told, it is as the other."""
    before, now = (_opened(value)[0] for value in (before, now))
    if before in (HIDDEN, UNKNOWN):
        before = now
    if now in (HIDDEN, UNKNOWN):
        now = before
    if _is_map(before) and _is_map(now):
        left_out = {"__defaults", *(before.get("__defaults") or ())} - now.keys()
        pairs = {key: _plain(before.get(key), now.get(key)) for key in [*before, *now] if key not in left_out}
        return tuple(  # pyright: ignore[reportReturnType]
            {key: pair[side] for key, pair in pairs.items() if pair[side] is not None} for side in (0, 1)
        )
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        pairs = [_plain(*entries) for entries in zip(before, now, strict=True)]
        return [old for old, _ in pairs], [new for _, new in pairs]
    return tuple(None if value in (MISSING, HIDDEN, UNKNOWN) else value for value in (before, now))  # pyright: ignore[reportReturnType]


def spelt(path: str) -> Path:
    """Read a property path as options have them: `spec.tasks[*].template`, where `*` stands for any entry."""
    return tuple(step for step in path.replace("[", ".").replace("]", "").split(".") if step)


def within(path: Path, rule: Path) -> bool:
    """Say whether a path touches what a rule names: the same, a part of it, or the whole that it is a part of."""
    return all(named in ("*", str(step)) for step, named in zip(path, rule, strict=False))
