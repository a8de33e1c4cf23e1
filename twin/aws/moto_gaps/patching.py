"""How actions are added to moto."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from moto.core.responses import ActionResult, BaseResponse
from moto.ec2.exceptions import InvalidFilter
from moto.ec2.utils import simple_aws_filter_to_re

_MARK = "_gangline"


def add(responses: type[BaseResponse], *actions: Callable[[Any], Any]) -> None:
    """Add actions to the responses of a service, under the functions' names."""
    for action in actions:
        if hasattr(responses, action.__name__) and not hasattr(getattr(responses, action.__name__), _MARK):
            raise RuntimeError(
                f"moto has {responses.__name__}.{action.__name__} by now: the gap is closed, remove it here"
            )
        setattr(action, _MARK, True)
        setattr(responses, action.__name__, action)


def wrap(owner: type, name: str, wrapper: Callable[..., Any]) -> None:
    """Put a function around a method of moto; it gets the method before its arguments."""
    inner = getattr(owner, name)
    if hasattr(inner, _MARK):
        return

    def wrapped(*arguments: Any, **named: Any) -> Any:
        return wrapper(inner, *arguments, **named)

    wrapped.__name__ = name
    setattr(wrapped, _MARK, True)
    setattr(owner, name, wrapped)


def body(response: BaseResponse) -> dict[str, Any]:
    """Give the JSON body of a request."""
    return json.loads(response.body or "{}")


def paged(name: str, entries: Iterable[Any]) -> ActionResult:
    """Answer a list, all in one page."""
    return ActionResult({name: list(entries)})


def picked(source: Mapping[str, Any], names: str) -> dict[str, Any]:
    """Give the entries of those names that are there."""
    return {name: source[name] for name in names.split() if source.get(name) is not None}


def ec2_tags(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Give the tags of a creation in EC2."""
    return {
        tag["Key"]: tag.get("Value", "")
        for specification in parameters.get("TagSpecifications") or ()
        for tag in specification.get("Tags") or ()
    }


def ec2_tags_of(backend: Any, identity: str) -> list[dict[str, str]]:
    """Give the tags of a thing in EC2 as its answers have them."""
    found = backend.describe_tags(filters={"resource-id": [identity]})
    return [{"Key": tag["key"], "Value": tag["value"]} for tag in found]


def filtered(
    entries: Iterable[Mapping[str, Any]], filters: Iterable[Mapping[str, Any]] | None, names: str
) -> list[Mapping[str, Any]]:
    """Give the things in EC2 that pass filters.

    Args:
        entries: The things as their answers have them.
        filters: As the request has them. In their values `*` and `?` stand for others
            (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Filtering.html).
        names: All filters that the API has for these things, by its reference, but for those by tags: each is a member
            of the thing, spelled otherwise.

    Raises:
        InvalidFilter: The API has no such filter.
    """
    filters = list(filters or ())
    for one in filters:
        if not one["Name"].startswith("tag:") and one["Name"] not in ("tag-key", *names.split()):
            raise InvalidFilter(one["Name"], error_type="InvalidParameterValue")
    return [entry for entry in entries if all(_passes(entry, one) for one in filters)]


def _passes(entry: Mapping[str, Any], one: Mapping[str, Any]) -> bool:
    name, tags = one["Name"], {tag["Key"]: tag["Value"] for tag in entry.get("Tags") or ()}
    if name == "tag-key":
        found = list(tags)
    elif name.startswith("tag:"):
        found = [tags.get(name.removeprefix("tag:"))]
    else:
        found = [entry.get(name.title().replace("-", ""))]
    said = [value.isoformat() if isinstance(value, datetime) else str(value) for value in found if value is not None]
    wanted = [simple_aws_filter_to_re(value) for value in one.get("Values") or ()]
    return any(re.match(pattern, value) for pattern in wanted for value in said)


def hexadecimal(length: int = 17) -> str:
    """Give the random end of an id, from moto's own seed."""
    from moto.moto_api._internal import mock_random

    return mock_random.get_random_hex(length)
