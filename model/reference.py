"""The reference of the document, generated from the shapes so that it cannot lag behind them."""

import types
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from catalog import reader as catalog

from . import fields
from .base import Declared
from .durations import Duration
from .environment import Environment
from .quantities import Quantity

_HEAD = """\
# The document

What may stand under `gangline:environment` in a stack file. Generated from `model/`; `./gangline schema` has the same
for editors, and `./gangline check` judges what relates one value to another.
"""

_WORDS = {
    str: "text",
    int: "whole number",
    bool: "true or false",
    Decimal: "number",
    date: "day",
    datetime: "point in time",
    Any: "anything",
    Duration: "length of time",
    Quantity: "quantity",
}


def reference() -> str:
    """The reference page, in Markdown."""
    return "\n".join([_HEAD, *(_section(shape) for shape in fields.shapes(Environment)), _catalogue()])


def _catalogue() -> str:
    """The names that documents take from the catalogue."""
    servers = [
        (
            f"`{server.name}`",
            f"{server.gpus} x `{server.gpu}`",
            f"{server.cpu}{_often(server)}",
            f"{server.memory}{_often(server)}",
        )
        for server in catalog.servers().values()
    ]
    gpus = [
        (
            f"`{gpu.name}`",
            gpu.memory,
            ".".join(map(str, gpu.compute)),
            ", ".join(f"`{profile}`" for profile in gpu.mig) or "none",
            f"`{gpu.product}`",
        )
        for gpu in catalog.gpus().values()
    ]
    images = [
        (f"`{image.name}`", image.title, ", ".join(image.brings) or "nothing") for image in catalog.images().values()
    ]
    products = [
        (f"`{release.name}`", release.version, release.repository or _images(release))
        for release in catalog.releases().values()
    ]
    return "\n".join(
        [
            "## The catalogue",
            "",
            "Sources of these facts stand beside them in `catalog/`.",
            "",
            *_table(("server", "GPUs", "cores", "memory installed"), servers),
            *_table(("GPU", "memory", "compute capability", "MIG profiles", "label `nvidia.com/gpu.product`"), gpus),
            *_table(("image", "what it is", "brings"), images),
            *_table(("product", "version", "source"), products),
        ]
    )


def _images(release: catalog.Release) -> str:
    return ", ".join(f"`{image.format(version=release.version)}`" for image in release.images.values())


def _often(server: catalog.Server) -> str:
    return " (others differ)" if server.board else ""


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    return [_row(*head), _row(*("---" for _ in head)), *(_row(*row) for row in rows), ""]


def _section(shape: type[Declared]) -> str:
    summary = "\n".join(line.strip() for line in (shape.__doc__ or "").strip().splitlines())
    described = fields.descriptions(shape)
    rows = [
        (f"`{key}`", _kind(field.annotation), _default(field), described.get(key, ""))
        for key, field in ((field.alias or name, field) for name, field in shape.model_fields.items())
    ]
    return "\n".join([f"## {shape.__name__}", "", summary, "", *_table(("key", "value", "default", "meaning"), rows)])


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(value, (str, int)):
        return f"`{str(value).lower() if isinstance(value, bool) else value}`" if value != "" else "empty"
    return "none"


def _kind(annotation: Any) -> str:
    """A type in words, with a link where it has a section of its own."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Declared):
        return f"[{annotation.__name__}](#{annotation.__name__.lower()})"
    if origin is Literal:
        return " or ".join(f"`{word}`" for word in arguments)
    if origin is dict:
        return (
            f"{_kind(arguments[1])} by name"
            if arguments[0] is str
            else f"{_kind(arguments[1])} by {_kind(arguments[0])}"
        )
    if origin is tuple:
        return f"list of {_kind(arguments[0])}"
    if origin in (Union, types.UnionType):
        return " or ".join(_kind(member) for member in arguments if member is not type(None))
    if arguments:  # Annotated
        return _kind(arguments[0])
    return _WORDS[annotation]
