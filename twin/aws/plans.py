"""What the engine asks before anything is done: are the inputs sound, and what would a change do."""

import hashlib
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from twin.aws import sdk
from twin.aws.resources import Resource
from twin.aws.translate import UnmappedError, same, settle
from twin.aws.wire import UNKNOWN

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Change:
    """What a new set of inputs means for a resource.

    Attributes:
        changed: Names of the properties that change.
        replaced: Names of those whose change replaces the resource.
        refused: Properties that can change in no way, with the reason.
        before_create: Whether the old one has to go before the new one comes.
    """

    changed: tuple[str, ...]
    replaced: tuple[str, ...]
    refused: tuple[tuple[str, str], ...]
    before_create: bool


def check(resource: Resource, name: str, before: Values, inputs: Values, seed: bytes) -> dict[str, Any]:
    """Give the inputs with defaults and a name.

    Args:
        resource: The type.
        name: The logical name.
        before: Inputs of the resource as it is; empty for a new one.
        inputs: What the program says.
        seed: The engine's, so that a preview and its update invent the same name; may be empty.
    """
    row = resource.row
    checked = {key: value for key, value in inputs.items() if value is not None and key != "__defaults"}
    added = [key for key in row.defaults if key not in checked]
    checked |= {key: row.defaults[key] for key in added}
    if row.autoname and row.autoname not in checked:
        old = before.get(row.autoname) if row.autoname in before.get("__defaults", ()) else None
        end = hashlib.sha256(seed + name.encode()).hexdigest()[:7] if seed else secrets.token_hex(4)[:7]
        checked[row.autoname] = old or f"{name[: row.longest - 8]}-{end}"
        added.append(row.autoname)
    return checked | ({"__defaults": sorted(added)} if added else {})


def failures(resource: Resource, inputs: Values) -> Iterator[tuple[str, str]]:
    """Find what is wrong with inputs: pairs of a property and a reason."""
    kind, row = resource.kind, resource.row
    sound: dict[str, Any] = {}
    for name, value in inputs.items():
        if name == "__defaults":
            continue
        if name not in kind.inputs:
            yield name, f"no such property of {resource.token}; there are {', '.join(sorted(kind.inputs))}"
        elif name == "region":
            if value is not UNKNOWN and value != resource.region:
                yield name, f"the stand-in makes everything in its provider's region, {resource.region}"
        elif name not in row.carried:
            yield name, f"not carried by the stand-in; it carries {', '.join(sorted(row.carried))} (twin/aws/rows)"
        else:
            found = list(sdk.mistakes(value, kind.inputs[name], name))
            yield from found
            if not found:
                sound[name] = value
    for name in sorted(kind.required - inputs.keys()):
        yield name, "missing"
    yield from _unmapped(resource, sound)


def _unmapped(resource: Resource, inputs: Values) -> Iterator[tuple[str, str]]:
    """Carry each property to the API in thought: what has no place there is refused before anything is made."""
    now = resource.creatable()
    for name, value in inputs.items():
        update = next((one for one in resource.row.updates if name in one.properties and not one.parameters_of), None)
        call = resource.row.create.operation if name in now else update.operation if update else None
        if call is None or name == "tags" or name in resource.row.composed:
            continue
        try:
            resource.parameters(call, {name: value}, frozenset({name}))
        except UnmappedError as error:
            yield error.args


def difference(resource: Resource, before: Values, now: Values, state: Values) -> Change:
    """Say what new inputs mean."""
    row = resource.row
    changed: list[str] = []
    replaced: list[str] = []
    refused: list[tuple[str, str]] = []
    too = row.replaced_too(before, now) if row.replaced_too else frozenset()
    for name in sorted((before.keys() | now.keys()) - {"__defaults", "region"}):
        kind = resource.kind.inputs.get(name, "any")
        paths = list(_changes(before.get(name), now.get(name), kind, name))
        if not paths:
            continue
        changed.append(name)
        if name in too or any(_within(path, rule) for path in paths for rule in row.replaced):
            replaced.append(name)
        elif name in row.updated:
            update = next(one for one in row.updates if name in one.properties)
            if now.get(name) is None and not (update.parameters_of or update.whole or name in update.resets):
                refused.append((name, "the stand-in has no rule for taking it away"))
        elif name not in row.echo and not (name == "tags" and row.tags):
            refused.append((name, "the stand-in has no rule for changing it"))
    if row.tags and "tags" not in changed and state.get("tagsAll", {}) != resource.all_tags(now):
        changed.append("tagsAll")
    named = row.autoname and row.autoname not in now.get("__defaults", ()) and row.autoname in now
    return Change(
        changed=tuple(changed),
        replaced=tuple(replaced),
        refused=tuple(refused),
        before_create=bool(replaced and (row.alone or (named and before.get(row.autoname) == now[row.autoname]))),
    )


def _changes(before: Any, now: Any, kind: sdk.Type, path: str) -> Iterator[str]:
    inner = sdk.members(kind)
    if inner is not None and isinstance(before, Mapping) and isinstance(now, Mapping):
        for name in sorted(before.keys() | now.keys()):
            yield from _changes(before.get(name), now.get(name), inner.get(name, "any"), f"{path}.{name}")
    elif isinstance(before, list) and isinstance(now, list):
        if UNKNOWN in now or settle(before, now, kind) != before:
            yield path
    elif not same(before, now):
        yield path


def _within(path: str, rule: str) -> bool:
    """Say whether a change touches what a rule names: the same, a part of it, or the whole that it is a part of."""
    return path == rule or path.startswith(f"{rule}.") or rule.startswith(f"{path}.")


def preview(resource: Resource, inputs: Values, state: Values) -> dict[str, Any]:
    """Give the outputs that a resource will have, as far as they are known before.

    Args:
        resource: The type.
        inputs: Checked inputs.
        state: Outputs of the resource as it is; empty for a new one.
    """
    outputs = resource.kind.outputs
    known = {
        name: _foreseen(value, outputs[name], state.get(name) if state else UNKNOWN)
        for name, value in inputs.items()
        if name in outputs
    }
    if resource.row.tags:
        known["tagsAll"] = resource.all_tags(inputs)
    if state:
        return {**state, **dict.fromkeys(resource.row.fresh, UNKNOWN), **known}
    return {**dict.fromkeys(resource.kind.outputs, UNKNOWN), **known}


def _foreseen(value: Any, kind: sdk.Type, before: Any) -> Any:
    """Give an output as it will be: of what the inputs do not say, AWS has yet to tell it, or has told it before."""
    inner = sdk.members(kind)
    if inner is None or not isinstance(value, Mapping):
        return value
    told = before if isinstance(before, Mapping) else dict.fromkeys(inner, before)
    rest = {name: told[name] for name in inner if name not in value and name in told}
    return rest | {name: _foreseen(each, inner.get(name, "any"), told.get(name)) for name, each in value.items()}


def unplaced(resource: Resource) -> Iterator[str]:
    """Find the mistakes of a row itself: properties that the SDK does not know, or that no call takes."""
    row, kind = resource.row, resource.kind
    for name in sorted(row.carried - kind.inputs.keys()):
        yield f"{name}: no input of {resource.token}"
    now = resource.creatable()
    for update in row.updates:
        for name in update.properties:
            if not update.parameters_of and not resource.takes(update.operation, name):
                yield f"{name}: {update.operation} does not take it"
    for name in sorted(row.carried - now - row.updated - row.echo - {"tags"}):
        yield f"{name}: {row.create.operation} does not take it, and no update does"
