"""How actions are added to moto."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from moto.core.responses import ActionResult, BaseResponse

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


def matches(entry: Mapping[str, Any], filters: Iterable[Mapping[str, Any]] | None, names: Mapping[str, str]) -> bool:
    """Say whether a thing in EC2 passes filters.

    Args:
        entry: The thing as its answers have it.
        filters: As the request has them.
        names: Members of the thing by the name of the filter; `tag:...` is known without.

    Raises:
        NotImplementedError: A filter is not known here.
    """
    for one in filters or ():
        name, values = one["Name"], one.get("Values") or []
        if name.startswith("tag:"):
            tags = {tag["Key"]: tag["Value"] for tag in entry.get("Tags") or ()}
            found = tags.get(name.removeprefix("tag:"))
        elif name in names:
            found = entry.get(names[name])
        else:
            raise NotImplementedError(f"filter {name}")
        if str(found) not in values:
            return False
    return True


def hexadecimal(length: int = 17) -> str:
    """Give the random end of an id, from moto's own seed."""
    from moto.moto_api._internal import mock_random

    return mock_random.get_random_hex(length)
