"""Schemas of custom resource definitions as tests need them."""

from collections.abc import Mapping
from typing import Any


def closed(schema: Any) -> Any:
    """The same schema, refusing what it does not name: the API server would drop it, without a word.

    What the API server fills in by itself may be missing.
    """
    if isinstance(schema, list):
        return [closed(entry) for entry in schema]
    if not isinstance(schema, Mapping):
        return schema
    made = {key: closed(value) for key, value in schema.items()}
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and not schema.get("x-kubernetes-preserve-unknown-fields"):
        made.setdefault("additionalProperties", False)
        filled = {name for name, it in properties.items() if isinstance(it, Mapping) and "default" in it}
        made["required"] = [name for name in schema.get("required", []) if name not in filled]
    if schema.get("x-kubernetes-int-or-string"):
        made.pop("type", None)
    return made
