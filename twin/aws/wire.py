"""Properties on the engine's wire: secrets, unknowns, and whole numbers that arrive as floats.

The marks are those of pulumi's protocol (sdk/go/common/resource/sig.go and .../plugin/rpc.go).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf import json_format, struct_pb2

SIGNATURE = "4dabf18193072939515e22adb298388d"
SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - a public mark, no secret
UNKNOWN_TEXT = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


class _Unknown:
    """A value that the engine will know only after something else was made."""

    def __repr__(self) -> str:
        return "<unknown>"


UNKNOWN = _Unknown()


@dataclass(frozen=True)
class Properties:
    """The properties of a request.

    Attributes:
        values: Plain values by name, secrets opened; `UNKNOWN` where nothing is known yet.
        sealed: Names of the properties that hold a secret, however deep.
        secrets: The texts that are secret, for sealing what is derived from them.
    """

    values: dict[str, Any]
    sealed: frozenset[str]
    secrets: frozenset[str]


def decode(struct: struct_pb2.Struct) -> Properties:
    """Read the properties of a request."""
    values: dict[str, Any] = {}
    sealed: set[str] = set()
    secrets: set[str] = set()
    for name, raw in json_format.MessageToDict(struct).items():
        found: list[Any] = []
        values[name] = _plain(raw, found)
        if found:
            sealed.add(name)
            secrets.update(text for entry in found for text in texts(entry) if text)
    return Properties(values, frozenset(sealed), frozenset(secrets))


def encode(values: Mapping[str, Any], sealed: Iterable[str] = ()) -> struct_pb2.Struct:
    """Write properties, those named in `sealed` as secrets."""
    hidden = set(sealed)
    struct = struct_pb2.Struct()
    wire = {
        name: {SIGNATURE: SECRET, "value": _wired(value)} if name in hidden else _wired(value)
        for name, value in values.items()
    }
    json_format.ParseDict(wire, struct)
    return struct


def known(value: Any) -> bool:
    """Say whether nothing of a value is unknown."""
    if isinstance(value, Mapping):
        return all(map(known, value.values()))
    if isinstance(value, list):
        return all(map(known, value))
    return value is not UNKNOWN


def texts(value: Any) -> Iterator[str]:
    """Give every text in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for entry in value.values():
            yield from texts(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from texts(entry)


def _plain(raw: Any, found: list[Any]) -> Any:
    if isinstance(raw, dict):
        if raw.get(SIGNATURE) == SECRET:
            value = _plain(raw.get("value"), found)
            found.append(value)
            return value
        if SIGNATURE in raw:
            raise ValueError(f"a value of a kind that the stand-in does not carry (signature {raw[SIGNATURE]})")
        return {key: _plain(entry, found) for key, entry in raw.items()}
    if isinstance(raw, list):
        return [_plain(entry, found) for entry in raw]
    if raw == UNKNOWN_TEXT:
        return UNKNOWN
    return int(raw) if isinstance(raw, float) and raw.is_integer() else raw


def _wired(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _wired(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_wired(entry) for entry in value]
    return UNKNOWN_TEXT if value is UNKNOWN else value
