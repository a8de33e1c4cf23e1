"""Property values to API parameters and back, along the shapes of the API and the types of the SDK."""

import datetime
import json
from collections.abc import Mapping
from typing import Any

from twin.aws import sdk
from twin.aws.wire import UNKNOWN

# Instance types are added faster than client libraries; the catalogue knows those that matter.
_OPEN = frozenset({"InstanceType"})


class UnmappedError(Exception):
    """A value that cannot be carried to the API; the arguments are the property path and the reason."""

    def __str__(self) -> str:
        return ": ".join(self.args)


def member(shape: Any, path: str, renames: Mapping[str, str]) -> str | None:
    """Find the member of an API structure that stands for a property; None if there is none."""
    if path in renames:
        return renames[path] if renames[path] in shape.members else None
    wanted = path.rpartition(".")[2].lower()
    return next((name for name in shape.members if name.lower() == wanted), None)


def to_api(value: Any, shape: Any, path: str, renames: Mapping[str, str]) -> Any:
    """Give a value as the API takes it.

    Raises:
        UnmappedError: A part of it has no place in the API, or is none of the words that the API knows.
    """
    if value is UNKNOWN:
        return value
    if shape.type_name == "list":
        if isinstance(value, Mapping) and set(getattr(shape.member, "members", ())) == {"Key", "Value"}:
            return [{"Key": key, "Value": str(text)} for key, text in sorted(value.items())]
        entries = value if isinstance(value, list) else [value]
        return [to_api(entry, shape.member, path, renames) for entry in entries]
    if shape.type_name == "structure":
        return _structure(value, shape, path, renames)
    if shape.type_name == "map":
        return {key: to_api(entry, shape.value, path, {}) for key, entry in value.items()}
    return _scalar(value, shape, path)


def _structure(value: Any, shape: Any, path: str, renames: Mapping[str, str]) -> dict[str, Any]:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, Mapping) and set(shape.members) == {"Value"}:
        return {"Value": to_api(value, shape.members["Value"], path, renames)}  # EC2 wraps attributes like this
    if not isinstance(value, Mapping):
        raise UnmappedError(path, "the API takes a structure")
    result: dict[str, Any] = {}
    for name, entry in value.items():
        inner = f"{path}.{name}"
        found = member(shape, inner, renames)
        if found is None:
            raise UnmappedError(inner, f"not carried by the stand-in: the API's {shape.name} has no such member")
        if entry is not None:
            result[found] = to_api(entry, shape.members[found], inner, renames)
    return result


def _scalar(value: Any, shape: Any, path: str) -> Any:
    if shape.type_name in ("integer", "long"):
        return int(value)
    if shape.type_name in ("double", "float"):
        return float(value)
    if shape.type_name == "boolean":
        return value if isinstance(value, bool) else str(value).lower() == "true"
    if shape.type_name == "string":
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if shape.enum and text not in shape.enum and shape.name not in _OPEN:
            raise UnmappedError(path, f"{text!r} is none of {', '.join(sorted(shape.enum))}")
        return text
    return value


def from_api(value: Any, kind: sdk.Type, path: str, renames: Mapping[str, str]) -> Any:
    """Give what the API answered as the SDK's type says; None for what the API left out."""
    if value is None:
        return None
    if isinstance(kind, str):
        return _plain(value, kind)
    if "list" in kind:
        entries = value if isinstance(value, list) else [value]
        return [from_api(entry, kind["list"], path, renames) for entry in entries]
    if isinstance(value, list) and "map" in kind:
        value = {entry["Key"]: entry.get("Value", "") for entry in value}
    if isinstance(value, list):
        value = value[0] if value else None
    if not isinstance(value, Mapping):
        return None
    inner = sdk.members(kind)
    if inner is None:
        return {key: from_api(entry, kind["map"], path, {}) for key, entry in value.items()}
    by_name = {name.lower(): entry for name, entry in value.items()}
    found = {
        name: from_api(by_name.get(renames.get(f"{path}.{name}", name).lower()), entry, f"{path}.{name}", renames)
        for name, entry in inner.items()
    }
    return {name: entry for name, entry in found.items() if entry is not None}


def _plain(value: Any, kind: str) -> Any:
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, Mapping) and set(value) == {"Value"}:
        value = value["Value"]
    return _word(value, kind)


def _word(value: Any, kind: str) -> Any:
    if value is None or kind == "any":
        return value
    if kind == "integer":
        return int(value)
    if kind == "number":
        return float(value)
    if kind == "boolean":
        return value if isinstance(value, bool) else str(value).lower() == "true"
    return _text(value)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if isinstance(value, Mapping):
        return json.dumps(value, sort_keys=True)  # documents, which the client library has parsed
    return str(value)


def settle(given: Any, actual: Any, kind: sdk.Type) -> Any:
    """Give what is there now in the terms of what was asked for.

    What means the same is spelt as it was asked for: documents, sets in another order. Members of objects that nobody
    asked for are the cloud's own, and are left out. The result equals `given` if nothing has drifted.
    """
    if given is None or given is UNKNOWN or actual is None:
        # The API leaves out what is empty.
        return given if actual is None and given in (False, "", 0, [], {}) else actual
    if isinstance(kind, Mapping) and "list" in kind:
        return _settle_list(given, actual, kind["list"])
    inner = sdk.members(kind)
    if inner is not None and isinstance(given, Mapping) and isinstance(actual, Mapping):
        settled = {name: settle(entry, actual.get(name), inner.get(name, "any")) for name, entry in given.items()}
        return {name: entry for name, entry in settled.items() if entry is not None or given[name] is None}
    return given if same(given, actual) else actual


def _settle_list(given: list[Any], actual: list[Any], kind: sdk.Type) -> list[Any]:
    left, places = list(actual), list[Any]()
    for entry in given:
        match = next((other for other in left if settle(entry, other, kind) == entry), None)
        if match is not None:
            left.remove(match)
        places.append(match)
    if not left and None not in places:
        return list(given)
    # Something differs: what fits stays in its place, the rest is told as it is.
    result = [entry if match is not None else None for entry, match in zip(given, places, strict=True)]
    for index, entry in enumerate(result):
        if entry is None and left:
            result[index] = settle(given[index], left.pop(0), kind)
    return [entry for entry in result if entry is not None] + left


def same(one: Any, other: Any) -> bool:
    """Say whether two values mean the same: JSON documents are compared by what they say."""
    if one == other:
        return True
    if not (isinstance(one, str) and isinstance(other, str)) or one[:1] not in "{[":
        return False
    try:
        return _canonical(json.loads(one)) == _canonical(json.loads(other))
    except ValueError:
        return False


def _canonical(value: Any) -> Any:
    """In a policy a single word and a list of it are the same."""
    if isinstance(value, Mapping):
        return {key: _canonical(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return _canonical(value[0]) if len(value) == 1 else [_canonical(entry) for entry in value]
    return value
