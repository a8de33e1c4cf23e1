"""Read the AWS SDK's own classes and write `sdk.json`: `python -m twin.aws.sdk_source`."""

import ast
import importlib
import importlib.metadata
import inspect
import json
import re
import typing
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from pulumi import _types

from twin.aws import functions, sdk
from twin.aws.rows import ROWS
from twin.schema import _plain as plain

_NAMES: Mapping[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
# `:param pulumi.Input[_builtins.str] name: ... forces a new resource ...`
_REPLACES = re.compile(
    r":param pulumi\.Input\[.*\] (\w+): (?=.*(?:[Ff]orces? (?:a )?new |resource replacement|recreat))"
)


def text() -> str:
    """Give what the file should hold."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the SDK warns of old types when it is imported
        return _text()


def _text() -> str:
    objects: dict[str, Any] = {}
    content = {
        "version": importlib.metadata.version("pulumi-aws"),
        "resources": {token: _resource(token, objects) for token in sorted(ROWS)},
        "functions": {token: _function(token, objects) for token in sorted(functions.FUNCTIONS)},
        "objects": objects,
    }
    return json.dumps(content, indent=1, sort_keys=True) + "\n"


def _module(token: str) -> Any:
    """aws:ec2/vpc:Vpc is in pulumi_aws/ec2/vpc.py."""
    module, name = token.split(":")[1].split("/")
    folder = "pulumi_aws" if module == "index" else f"pulumi_aws.{module}"
    file = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    parent = importlib.import_module(folder)
    # A function has the name of its file, and hides it.
    found = inspect.getmodule(getattr(parent, token.rpartition(":")[2], None) or getattr(parent, file, None))
    return found or importlib.import_module(f"{folder}.{file}")


def _resource(token: str, objects: dict[str, Any]) -> dict[str, Any]:
    module, name = _module(token), token.rpartition(":")[2]
    outputs = getattr(module, name)
    # A nested type may have the name that the inputs would have.
    arguments = getattr(module, f"{name}InitArgs", None) or getattr(module, f"{name}Args")
    spelt = _types.input_type_py_to_pulumi_names(arguments)
    inputs = {spelt.get(key, key): kind for key, kind in _types.input_type_types(arguments).items()}
    told = inspect.getdoc(arguments.__init__) or ""
    secret = re.search(r"additional_secret_outputs=(\[[^]]*\])", inspect.getsource(outputs))
    return {
        "inputs": {key: _type(kind, objects) for key, kind in inputs.items()},
        "required": sorted(_types._required_property_names(arguments)),
        "outputs": {key: _type(kind, objects) for key, kind in _types.resource_types(outputs).items()},
        "secret": ast.literal_eval(secret[1]) if secret else [],
        "replaces": sorted(spelt.get(name) or name for name in _REPLACES.findall(told)),
    }


def _function(token: str, objects: dict[str, Any]) -> dict[str, Any]:
    module, name = _module(token), token.rpartition(":")[2]
    result = getattr(module, f"{name[0].upper()}{name[1:]}Result")
    source = inspect.getsource(module)
    return {
        "inputs": sorted(set(re.findall(r"__args__\['(\w+)'\]", source))),
        "outputs": {key: _type(kind, objects) for key, kind in _types.output_type_types(result).items()},
    }


def _type(kind: Any, objects: dict[str, Any]) -> sdk.Type:
    kind = plain(kind)
    if _types._is_union_type(kind):
        # A closed list of words beside plain text.
        return "string" if str in typing.get_args(kind) else "any"
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"map": _type(inner[1], objects)}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return {"list": _type(inner[0], objects)}
    if isinstance(kind, type) and (_types.is_input_type(kind) or _types.is_output_type(kind)):
        return {"object": _object(kind, objects)}
    return _NAMES.get(kind, "any")


def _object(cls: type, objects: dict[str, Any]) -> str:
    """Inputs and outputs have classes with the same properties: one entry stands for both."""
    name = f"{cls.__module__.split('.')[1]}.{cls.__name__.removesuffix('Args')}"
    entry = objects.setdefault(name, {})
    if _types.is_input_type(cls):
        spelt = _types.input_type_py_to_pulumi_names(cls)
        found = {spelt.get(key, key): kind for key, kind in _types.input_type_types(cls).items()}
    else:
        found = _types.output_type_types(cls)
    for key, kind in found.items():
        if key not in entry:
            entry[key] = "any"  # types may hold themselves
            entry[key] = _type(kind, objects)
    return name


if __name__ == "__main__":
    sdk.FILE.write_text(text())
