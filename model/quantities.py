"""Kubernetes quantities as exact values.

Source of the grammar: k8s.io/apimachinery, pkg/api/resource/quantity.go (`<number><suffix>`, suffixes
Ki..Ei, n u m k M G T P E and decimal exponents). Values are Decimals, never floats: `4096Gi` and `4096G`
differ by 7.4 % and must compare so.
"""

import re
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import total_ordering
from typing import Annotated, Any, Self

from pydantic import AfterValidator, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import PydanticCustomError, core_schema

_BINARY = {f"{letter}i": Decimal(1024) ** power for power, letter in enumerate("KMGTPE", start=1)}
_DECIMAL = {"n": Decimal("1e-9"), "u": Decimal("1e-6"), "m": Decimal("1e-3"), "": Decimal(1)} | {
    letter: Decimal(1000) ** power for power, letter in enumerate("kMGTPE", start=1)
}
_SUFFIXES = _BINARY | _DECIMAL
_GRAMMAR = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?P<suffix>[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,3}|)")

KIBIBYTE = Decimal(1024)
MEBIBYTE = Decimal(1024) ** 2


class QuantityError(ValueError):
    """A text that is no quantity; the message says what is wrong and what was probably meant."""


@total_ordering
@dataclass(frozen=True, eq=False)
class Quantity:
    """A non-negative amount: its exact value in base units (cores, bytes, items) and the text that was written.

    Two quantities are equal when their values are: `1.5Gi` equals `1536Mi`. The text is kept so that what a
    person wrote is what is rendered.
    """

    value: Decimal
    text: str

    @classmethod
    def parse(cls, written: str | int) -> Self:
        """Read a quantity.

        Raises:
            QuantityError: The text is none. Floats and booleans never are: YAML would already have rounded them.
        """
        if isinstance(written, bool) or not isinstance(written, (str, int)):
            raise QuantityError(f"{written!r} is not a quantity; write it as text or as a whole number")
        text = str(written)
        match = _GRAMMAR.fullmatch(text)
        if match is None:
            raise QuantityError(_explain(text))
        suffix = match["suffix"]
        with localcontext(prec=60):
            unit = _SUFFIXES.get(suffix)
            if unit is None:
                unit = Decimal(f"1{suffix}")
            return cls(Decimal(match["number"]) * unit, text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.value == other.value

    def __lt__(self, other: "Quantity") -> bool:
        return self.value < other.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __str__(self) -> str:
        return self.text

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        def read(value: Any) -> Quantity:
            if isinstance(value, Quantity):
                return value
            try:
                return cls.parse(value)
            except QuantityError as error:
                raise PydanticCustomError("quantity", "{reason}", {"reason": str(error)}) from None

        return core_schema.no_info_plain_validator_function(
            read, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {
            "anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": f"^(?:{_json_pattern()})$"}],
            "description": "A Kubernetes quantity such as 8, 500m, 512Gi.",
        }


def _json_pattern() -> str:
    return _GRAMMAR.pattern.replace("?P<number>", "?:").replace("?P<suffix>", "?:")


def _explain(text: str) -> str:
    if text.startswith("-"):
        return f"{text} is negative; a quantity must be >= 0"
    stripped = text.replace(" ", "")
    meant = None
    if re.fullmatch(r"[0-9.]+[KMGTPE]i?B", stripped):
        meant = stripped[:-1].replace("K", "k") if "i" not in stripped else stripped[:-1]
    elif re.fullmatch(r"[0-9.]+K", stripped):
        meant = stripped[:-1] + "k"
    elif stripped != text and _GRAMMAR.fullmatch(stripped):
        meant = stripped
    hint = f"; did you mean {meant}?" if meant else "; examples: 8, 500m, 512Gi"
    return f"{text!r} is not a quantity{hint}"


def _memory(quantity: Quantity) -> Quantity:
    if quantity.value < MEBIBYTE:
        meant = f"; did you mean {quantity.text[:-1]}Mi?" if quantity.text.endswith("m") else ""
        raise PydanticCustomError("quantity", "{reason}", {"reason": f"{quantity} is less than 1Mi of memory{meant}"})
    return quantity


def _cpu(quantity: Quantity) -> Quantity:
    if (quantity.value * 1000) % 1:
        raise PydanticCustomError("quantity", "{reason}", {"reason": f"{quantity} is finer than 1m of a core"})
    return quantity


Cpu = Annotated[Quantity, AfterValidator(_cpu)]
"""Cores, no finer than a thousandth."""

Memory = Annotated[Quantity, AfterValidator(_memory)]
"""Bytes, at least 1Mi (below that it is nearly always a mistyped suffix)."""

GIBIBYTE = Decimal(1024) ** 3


def written(resource: str, amount: Decimal) -> str:
    """An amount in base units as a quantity: `4128Gi`, `223.37`, `32`."""
    if resource in ("memory", "ephemeral-storage") and amount % 1 == 0:
        for suffix in ("Ei", "Pi", "Ti", "Gi", "Mi", "Ki"):
            if amount and amount % _BINARY[suffix] == 0:
                return f"{int(amount / _BINARY[suffix])}{suffix}"
        return str(int(amount))
    return f"{amount.normalize():f}"
