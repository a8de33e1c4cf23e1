"""What the SDKs know about a resource's inputs: names and types, from their generated `*Args` classes.

The SDK packages carry no schema, and mocks accept anything: a misspelt key would be found by the engine at best, and by
nobody at worst. The classes are a complete schema, though, and pulumi's own helpers read it. Those helpers are private:
`tests/components/test_schema.py` plants mistakes and fails when they stop finding them.
"""

import importlib
import inspect
import json
import typing
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from pulumi import _types

Path = tuple[str | int, ...]

_PLAIN = {str: (str,), float: (int, float)}
# Marks of the wire format for secrets, assets and the like (pulumi sdk, resource/sig.go).
_SIGNATURE = "4dabf18193072939515e22adb298388d"


def mistakes(token: str, inputs: Mapping[str, Any]) -> Iterator[str]:
    """Name what is wrong with a resource's inputs: unknown and missing properties, and values of a wrong type.

    Types that no SDK knows, such as custom resources, are checked in what all Kubernetes objects have in common.
    """
    args = arguments(token)
    if token.startswith("pulumi:providers:"):
        # A provider's configuration is text; what is not text by type is JSON in it.
        inputs = {name: _decoded(value) for name, value in inputs.items()}
    if args is not None:
        yield from _object(inputs, args, ())
    elif token.startswith("kubernetes:"):
        common = arguments("kubernetes:core/v1:Namespace")
        metadata = _types.input_type_types(common)["metadata"] if common else Any
        yield from _value(inputs.get("metadata", {}), metadata, ("metadata",))
        for name in sorted({"apiVersion", "kind", "metadata"} - set(inputs)):
            yield f"{name}: missing"


def _decoded(value: Any) -> Any:
    try:
        decoded = json.loads(value)
    except (TypeError, ValueError):
        return value
    return value if isinstance(decoded, (int, float)) and not isinstance(decoded, bool) else decoded


@cache
def arguments(token: str) -> type | None:
    """Find the class that holds a resource type's inputs; None when there is none, as for custom resources."""
    package, _, rest = token.partition(":")
    module, _, kind = rest.rpartition(":")
    if token.startswith("pulumi:providers:"):
        package, module, kind = token.rpartition(":")[2], "provider", "Provider"
    # kubernetes:rbac.authorization.k8s.io/v1:Role is pulumi_kubernetes.rbac.v1.Role
    group, slash, version = module.partition("/")
    if package == "aws":  # aws:ec2/vpc:Vpc is pulumi_aws.ec2.Vpc
        version = ""
    path = (
        ".".join(filter(None, [f"pulumi_{package}", group.partition(".")[0], version]))
        if slash
        else f"pulumi_{package}.{module}"
    )
    try:
        found = importlib.import_module(path)
        resource = inspect.getmodule(getattr(found, kind))
    except (ImportError, AttributeError):
        return None
    for name in (f"{kind}InitArgs", f"{kind}Args"):
        candidate = getattr(resource, name, None)
        if resource and inspect.isclass(candidate) and candidate.__module__ == resource.__name__:
            return candidate
    return None


def _object(value: Mapping[str, Any], cls: type, path: Path) -> Iterator[str]:
    types = _types.input_type_types(cls)
    names = _types.input_type_py_to_pulumi_names(cls)
    by_name = {names.get(python, python): kind for python, kind in types.items()}
    for name, entry in value.items():
        if name == "__defaults":
            continue
        if name not in by_name:
            yield f"{_spoken((*path, name))}: no such property of {cls.__name__.removesuffix('Args')}"
        else:
            yield from _value(entry, by_name[name], (*path, name))
    for name in sorted(_types._required_property_names(cls) - set(value)):
        yield f"{_spoken((*path, name))}: missing"


def _value(value: Any, kind: Any, path: Path) -> Iterator[str]:
    kind = _plain(kind)
    if kind is Any or value is None or (isinstance(value, Mapping) and _SIGNATURE in value):
        return
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if isinstance(kind, type) and _types.is_input_type(kind):
        if isinstance(value, Mapping):
            yield from _object(value, kind, path)
        else:
            yield _wrong(value, kind.__name__.removesuffix("Args"), path)
    elif _is(origin, Mapping):
        yield from _entries(value, inner[1], path)
    elif _is(origin, Sequence):
        yield from _items(value, inner[0], path)
    elif not _fits(value, kind, path):
        yield _wrong(value, getattr(kind, "__name__", str(kind)), path)


def _is(origin: Any, wanted: type) -> bool:
    return isinstance(origin, type) and issubclass(origin, wanted)


def _entries(value: Any, kind: Any, path: Path) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield _wrong(value, "a mapping", path)
        return
    for key, entry in value.items():
        yield from _value(entry, kind, (*path, key))


def _items(value: Any, kind: Any, path: Path) -> Iterator[str]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        yield _wrong(value, "a list", path)
        return
    for index, entry in enumerate(value):
        yield from _value(entry, kind, (*path, index))


def _fits(value: Any, kind: Any, path: Path) -> bool:
    if _types._is_union_type(kind):
        return any(next(_value(value, member, path), None) is None for member in typing.get_args(kind))
    if typing.get_origin(kind) is typing.Literal:
        return value in typing.get_args(kind)
    if kind is bool or isinstance(value, bool):
        return kind is bool and isinstance(value, bool)
    if kind is int:
        # On the wire all numbers are floats.
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return isinstance(value, _PLAIN[kind]) if kind in _PLAIN else True


def _plain(kind: Any) -> Any:
    """Take the wrappings off a declared type: Input, Output, Optional, in any order."""
    while True:
        plain = _types.unwrap_type(kind)
        if _types._is_union_type(plain):
            members = [member for member in typing.get_args(plain) if not _is_wrapping(member)]
            if len(members) == 1:
                plain = members[0]
        if plain == kind:
            return plain
        kind = plain


def _is_wrapping(member: Any) -> bool:
    """Say whether a member of a union is only another way to give the same value: a promise of it, or a plain dict."""
    return member is type(None) or member is dict or _types._is_plumbing_arg(member)


def _wrong(value: Any, wanted: str, path: Path) -> str:
    return f"{_spoken(path)}: {value!r} is not {wanted}"


def _spoken(path: Path) -> str:
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}"
    return text.removeprefix(".")
