"""The base of every value that a document holds."""

from collections.abc import Callable, Iterable
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag
from pydantic.alias_generators import to_camel

T = TypeVar("T")


def one_of(names: Callable[[], Iterable[str]]) -> Any:
    """Tell editors the names that may stand in a field; whether one does is a rule, with a better answer."""
    return Field(json_schema_extra=lambda schema: schema.update(enum=list(names())))


Listed = Annotated[tuple[T, ...], Field(strict=False)]
"""A list in YAML, an immutable tuple in Python. Its members are as strict as anywhere."""


class Declared(BaseModel):
    """A value that a person writes: frozen, exact types, no unknown keys, camelCase in YAML.

    Shapes only. Rules that relate fields live in `problems` functions, so that one run reports all of them.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        extra="forbid",
        frozen=True,
        strict=True,
        defer_build=True,  # one build, when the first document is read
    )

    synonyms: ClassVar[dict[str, str]] = {}
    """Keys of other tools for what has another name here."""

    parts: ClassVar[dict[str, dict[str, str]]] = {}
    """Keys of other tools for parts of what is one mapping here: by its key, each of theirs with the part it is."""

    misplaced: ClassVar[dict[str, str]] = {}
    """Keys that people look for here but that do not exist, each with what to do instead."""


def _branch(value: Any) -> str:
    return "(mapping)" if isinstance(value, (dict, Declared)) else "(plain)"


Plain = Tag("(plain)")
Mapped = Tag("(mapping)")
PlainOrMapped = Discriminator(_branch)
"""`Annotated[Annotated[int, Plain] | Annotated[Size, Mapped], PlainOrMapped]`: a plain value or a mapping. A mistake in
it is then a mistake in one of them, not in both."""


def _kind(value: Any) -> str:
    return f"({value.get('kind') if isinstance(value, dict) else getattr(value, 'kind', None)})"


KIND = Discriminator(_kind)
"""`Annotated[Annotated[Lustre, Tag("(lustre)")] | Annotated[Efs, Tag("(efs)")], KIND]`: shapes of which the key `kind`
says the one that is meant. Each has the keys that mean something for it, and no others."""
