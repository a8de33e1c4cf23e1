"""What the SDKs know about a resource's inputs: names and types, from their generated `*Args` classes.

The SDK packages carry no schema, and mocks accept anything: a misspelt key would be found by the engine at best, and by
nobody at worst. The classes are a complete schema, though, and pulumi's own helpers read it. Those helpers are private:
`tests/components/test_schema.py` plants mistakes and fails when they stop finding them.
"""

import importlib
import inspect
import typing
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from pulumi import _types

Path = tuple[str | int, ...]

_PLAIN = {str: (str,), bool: (bool,), int: (int,), float: (int, float)}
# Marks of the wire format for secrets, assets and the like (pulumi sdk, resource/sig.go).
_SIGNATURE = "4dabf18193072939515e22adb298388d"


def mistakes(token: str, inputs: Mapping[str, Any]) -> Iterator[str]:
    """Name what is wrong with a resource's inputs: unknown and missing properties, and values of a wrong type.

    Types that no SDK knows, such as custom resources, are checked in what all Kubernetes objects have in common.
    """
    args = arguments(token)
    if args is not None:
        yield from _object(inputs, args, ())
    elif token.startswith("kubernetes:"):
        common = arguments("kubernetes:core/v1:Namespace")
        metadata = _types.input_type_types(common)["metadata"] if common else Any
        yield from _value(inputs.get("metadata", {}), metadata, ("metadata",))
        for name in sorted({"apiVersion", "kind", "metadata"} - set(inputs)):
            yield f"{name}: missing"


@cache
def arguments(token: str) -> type | None:
    """Find the class that holds a resource type's inputs; None when there is none, as for custom resources."""
    package, _, rest = token.partition(":")
    module, _, kind = rest.rpartition(":")
    if token.startswith("pulumi:providers:"):
        package, module, kind = token.rpartition(":")[2], "provider", "Provider"
    # kubernetes:rbac.authorization.k8s.io/v1:Role is pulumi_kubernetes.rbac.v1.Role
    group, slash, version = module.partition("/")
    path = ".".join(filter(None, [f"pulumi_{package}", group.partition(".")[0], version])) if slash else f"pulumi_{package}.{module}"
    try:
        found = importlib.import_module(path)
        resource = inspect.getmodule(getattr(found, kind))
    except (ImportError, AttributeError):
        return None
    for name in (f"{kind}InitArgs", f"{kind}Args"):
        candidate = getattr(resource, name, None)
        if inspect.isclass(candidate) and candidate.__module__ == resource.__name__:
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
    if isinstance(kind, type) and _types.is_input_type(kind):
        if isinstance(value, Mapping):
            yield from _object(value, kind, path)
        else:
            yield _wrong(value, kind.__name__.removesuffix("Args"), path)
        return
    origin, arguments_ = typing.get_origin(kind), typing.get_args(kind)
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        if isinstance(value, Mapping):
            for key, entry in value.items():
                yield from _value(entry, arguments_[1], (*path, key))
        else:
            yield _wrong(value, "a mapping", path)
    elif origin is not None and isinstance(origin, type) and issubclass(origin, Sequence):
        if isinstance(value, Sequence) and not isinstance(value, str):
            for index, entry in enumerate(value):
                yield from _value(entry, arguments_[0], (*path, index))
        else:
            yield _wrong(value, "a list", path)
    elif _types._is_union_type(kind):
        if not any(next(_value(value, member, path), None) is None for member in arguments_):
            yield _wrong(value, str(kind), path)
    elif kind in _PLAIN:
        fits = isinstance(value, _PLAIN[kind]) and (kind is bool or not isinstance(value, bool))
        # On the wire all numbers are floats.
        if not fits and not (kind is int and isinstance(value, float) and value.is_integer()):
            yield _wrong(value, kind.__name__, path)
    elif origin is typing.Literal and value not in arguments_:
        yield _wrong(value, " or ".join(map(repr, arguments_)), path)


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
    if member is type(None) or member is dict:
        return True
    return _types._is_plumbing_arg(member) or _is_typed_dict(member)


def _is_typed_dict(member: Any) -> bool:
    return typing.is_typeddict(member)


def _wrong(value: Any, wanted: str, path: Path) -> str:
    return f"{_spoken(path)}: {value!r} is not {wanted}"


def _spoken(path: Path) -> str:
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}"
    return text.removeprefix(".")
