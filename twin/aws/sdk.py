"""What the AWS SDK says about its types: names and types of inputs and outputs, and which outputs are secret.

`sdk.json` holds it for the types that have a row. It is generated, as importing the SDK's classes takes seconds:
`python -m twin.aws.sdk_source` writes it, and a test fails when it is stale. Replacement rules are not in the SDK; the
rows say them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from twin.aws.wire import UNKNOWN

FILE = Path(__file__).with_name("sdk.json")
# "string", "integer", "number", "boolean", "any", or {"list"|"map"|"object": ...}
Type = str | Mapping[str, Any]

_PLAIN: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


@dataclass(frozen=True)
class Kind:
    """A resource type of the SDK.

    Attributes:
        inputs: Types of the inputs by name.
        required: Names of the inputs that must be given.
        outputs: Types of the outputs by name; they include the inputs.
        secret: Names of the outputs that are always secret.
        replaces: Names of the inputs of which the documentation says that a change may force a new resource. It says
            so of few: what a row replaces must hold at least these.
    """

    inputs: Mapping[str, Type]
    required: frozenset[str]
    outputs: Mapping[str, Type]
    secret: frozenset[str]
    replaces: frozenset[str]


@cache
def _file() -> Mapping[str, Any]:
    return json.loads(FILE.read_text())


def version() -> str:
    """Give the version of the SDK that the file was generated from."""
    return _file()["version"]


@cache
def resource(token: str) -> Kind:
    """Give what is known of a resource type.

    Raises:
        KeyError: The file does not hold it.
    """
    entry = _file()["resources"][token]
    return Kind(
        inputs=entry["inputs"],
        required=frozenset(entry["required"]),
        outputs=entry["outputs"],
        secret=frozenset(entry["secret"]),
        replaces=frozenset(entry["replaces"]),
    )


def function(token: str) -> Mapping[str, Any]:
    """Give `inputs` (names) and `outputs` (types by name) of a function.

    Raises:
        KeyError: The file does not hold it.
    """
    return _file()["functions"][token]


def members(kind: Type) -> Mapping[str, Type] | None:
    """Give the properties of an object type; None for any other type."""
    return _file()["objects"][kind["object"]] if isinstance(kind, Mapping) and "object" in kind else None


def mistakes(value: Any, kind: Type, path: str) -> Iterator[tuple[str, str]]:
    """Find what does not fit a type, as pairs of a property path and a reason. Unknown values fit."""
    if value is UNKNOWN or value is None or kind == "any":
        return
    if isinstance(kind, str):
        if not isinstance(value, _PLAIN[kind]) or (isinstance(value, bool) and kind != "boolean"):
            yield path, f"{value!r} is not of type {kind}"
        return
    if "list" in kind:
        if isinstance(value, str) or not isinstance(value, Sequence):
            yield path, f"{value!r} is not a list"
            return
        for index, entry in enumerate(value):
            yield from mistakes(entry, kind["list"], f"{path}[{index}]")
        return
    if isinstance(value, Mapping):
        yield from _entries(value, kind, path)
    else:
        yield path, f"{value!r} is not a mapping"


def _entries(value: Mapping[str, Any], kind: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    inner = members(kind)
    for name, entry in value.items():
        if inner is None:
            yield from mistakes(entry, kind["map"], f"{path}.{name}")
        elif name not in inner:
            yield f"{path}.{name}", f"no such property; there are {', '.join(sorted(inner))}"
        else:
            yield from mistakes(entry, inner[name], f"{path}.{name}")
