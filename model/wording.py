"""What pydantic finds wrong with a value, in the words of the document."""

from collections.abc import Mapping
from typing import Any

from pydantic_core import ErrorDetails

from .problems import ABSENT, Path, Problem, nearest

_EXPECTED: Mapping[str, str] = {
    "model_type": "must be a mapping",
    "model_attributes_type": "must be a mapping",
    "dict_type": "must be a mapping",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "is too large a number",
    "bool_type": "must be true or false",
}
"""What belongs there, by pydantic's error type."""
_TRUTH: Mapping[str, str] = {
    **dict.fromkeys(["true", "yes", "on", "y"], "true"),
    **dict.fromkeys(["false", "no", "off", "n"], "false"),
}
"""What YAML 1.1 took for true and false, or what was quoted."""
BY_KIND = (*_EXPECTED, "missing", "literal_error")
"""Errors for which the field's own type says what is allowed."""


def explained(detail: ErrorDetails, path: Path, typed: str | None) -> Problem:
    """The problem of a value that is not well-formed.

    Args:
        detail: What pydantic found.
        path: Where it stands.
        typed: The value as it was typed, if known.
    """
    kind, value = detail["type"], detail["input"]
    context: dict[str, Any] = dict(detail.get("ctx", {}))
    if kind == "missing":
        return Problem(path, ABSENT, "it must be given")
    if kind == "invalid_key":
        return Problem(path, path[-1], "a key must be text", "text", f'write "{path[-1]}"')
    if kind == "string_type":
        if value is None or isinstance(value, (dict, list)):
            return Problem(path, value, "must be text", "text")
        text = typed if typed is not None else str(value).lower() if isinstance(value, bool) else str(value)
        message = f"must be text, and YAML reads this as {_called(value)}"
        return Problem(path, value, message, "text", f'write "{text}"')
    if kind == "literal_error":
        allowed = context["expected"].replace("'", "").replace(" or ", ", ")
        if value is None:
            return Problem(path, value, "nothing is written here", allowed)
        meant = nearest(str(value), allowed.split(", "))
        return Problem(path, value, "is not one of the allowed values", allowed, meant)
    if "allowed" in context or "fix" in context or kind == "rule":
        return Problem(path, value, context["reason"], context.get("allowed"), context.get("fix"))
    message = _EXPECTED.get(kind, "is not what belongs here")
    if kind in ("int_type", "int_from_float", "int_parsing") and isinstance(value, str) and value.strip().isdecimal():
        return Problem(path, value, "must be a whole number, without quotes", "a whole number", value.strip())
    fix = _TRUTH.get(str(value).lower()) if kind == "bool_type" else None
    return Problem(path, value, f"{message}, not {_called(value)}", fix=fix)


def unkind(path: Path, detail: ErrorDetails) -> Problem:
    """What is wrong with a mapping whose `kind` does not say which one it is."""
    value, tags = detail["input"], detail.get("ctx", {})["expected_tags"]
    kinds = [tag.strip("'()") for tag in tags.split(", ")]
    allowed = ", ".join(kinds)
    if not isinstance(value, dict):
        fix = f"{{kind: {meant}, …}}" if (meant := nearest(str(value), kinds)) else None
        return Problem(path, value, f"must be a mapping, not {_called(value)}", f"{{kind: {allowed}, …}}", fix)
    if (kind := value.get("kind")) is None:
        return Problem((*path, "kind"), ABSENT, "it must say what it is", allowed)
    return Problem((*path, "kind"), kind, "is not one of the allowed values", allowed, nearest(str(kind), kinds))


def _called(value: object) -> str:
    names = {
        bool: "true/false",
        int: "a number",
        float: "a number with a fraction",
        str: "text",
        dict: "a mapping",
        list: "a list",
    }
    if value is None:
        return "nothing"
    return names.get(type(value), f"a {type(value).__name__}")
