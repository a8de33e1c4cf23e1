"""The JSON Schema of a stack file, for editors: completion and checks while a person types."""

from typing import Any

from . import fields
from .engine_names import DOCUMENT_KEY
from .environment import Environment

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """The schema of a whole stack file (`Pulumi.<environment>.yaml`).

    It knows shapes: keys, types, allowed words. Rules that relate values are the business of `check`.
    """
    document = Environment.model_json_schema(by_alias=True, mode="validation")
    definitions = document.pop("$defs")
    for shape in fields.shapes(Environment):
        described = document if shape is Environment else definitions[shape.__name__]
        for key, text in fields.descriptions(shape).items():
            described["properties"][key]["description"] = text
    _plain([document, *definitions.values()])
    return {
        "$schema": _DIALECT,
        "title": "Gangline environment",
        "description": "A Pulumi stack file whose configuration describes one GPU cluster.",
        "type": "object",
        "properties": {
            "config": {
                "type": "object",
                "description": "Pulumi configuration of the stack.",
                "properties": {DOCUMENT_KEY: {"$ref": "#/$defs/Environment"}},
                "required": [DOCUMENT_KEY],
            }
        },
        "required": ["config"],
        "$defs": {"Environment": document, **definitions},
    }


def _plain(value: Any) -> None:
    """Take out titles, which only repeat names, and the empty defaults of what may be left out."""
    if isinstance(value, dict):
        if isinstance(value.get("title"), str):
            value.pop("title")
        if not isinstance(value.get("default", ""), (str, int)):
            value.pop("default")
        for inner in value.values():
            _plain(inner)
    elif isinstance(value, list):
        for inner in value:
            _plain(inner)
