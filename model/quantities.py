"""Kubernetes quantities as exact values.

Source of the grammar: k8s.io/apimachinery, pkg/api/resource/quantity.go (`<number><suffix>`, suffixes
Ki..Ei, n u m k M G T P E and decimal exponents). Values are Decimals, never floats: `4096Gi` and `4096G`
differ by 7.4 % and must compare so.
"""

import re
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import total_ordering
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import core_schema

KIBIBYTE = Decimal(1024)
MEBIBYTE = Decimal(1024) ** 2
GIBIBYTE = Decimal(1024) ** 3

_BINARY = {f"{letter}i": Decimal(1024) ** power for power, letter in enumerate("KMGTPE", start=1)}
_DECIMAL = {"n": Decimal("1e-9"), "u": Decimal("1e-6"), "m": Decimal("1e-3"), "": Decimal(1)} | {
    letter: Decimal(1000) ** power for power, letter in enumerate("kMGTPE", start=1)
}
_SUFFIXES = _BINARY | _DECIMAL
_NUMBER, _SUFFIX = r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+", r"[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,3}|"
_GRAMMAR = re.compile(f"({_NUMBER})({_SUFFIX})")
PATTERN = f"(?:{_NUMBER})(?:{_SUFFIX})"
"""The grammar as a regular expression."""
BYTES = ("memory", "ephemeral-storage", "hugepages-2Mi")
"""Resources that are counted in bytes."""
EXAMPLES = "a quantity such as 8, 500m or 512Gi"
_LARGEST = Decimal(2**63 - 1)
"""The API server caps what is larger (quantity.go, maxAllowed)."""


class QuantityError(ValueError):
    """Something that is no quantity: `reason` says why not, `meant` what was probably meant."""

    def __init__(self, written: object, reason: str, meant: str | None = None) -> None:
        self.reason = reason
        self.meant = meant
        super().__init__(f"{written!r} {reason}{f'; did you mean {meant}?' if meant else ''}")


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
            raise QuantityError(written, "is not a quantity; write it as text or as a whole number")
        text = str(written)
        match = _GRAMMAR.fullmatch(text)
        if match is None:
            raise _error(text)
        number, suffix = match.groups()
        with localcontext(prec=60):
            unit = _SUFFIXES.get(suffix)
            value = Decimal(number) * (Decimal(f"1{suffix}") if unit is None else unit)
        if value > _LARGEST:
            raise QuantityError(text, "is more than Kubernetes can hold (2^63-1)")
        return cls(value, text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.value == other.value

    def __lt__(self, other: "Quantity") -> bool:
        return self.value < other.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __str__(self) -> str:
        return self.text

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: "GetCoreSchemaHandler") -> "core_schema.CoreSchema":
        # Not at the top: the policy pack reads quantities but no documents, and pydantic is a quarter of its start.
        from .amounts import schema

        return schema()

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: "core_schema.CoreSchema", handler: "GetJsonSchemaHandler"
    ) -> dict[str, Any]:
        return {
            "anyOf": [
                {"type": "integer", "minimum": 0},
                {"type": "string", "pattern": f"^{PATTERN}$"},
            ],
            "description": "A Kubernetes quantity such as 8, 500m, 512Gi.",
        }


def _error(text: str) -> QuantityError:
    if text.startswith("-"):
        return QuantityError(text, "must be >= 0")
    plain = text.replace(" ", "").removeprefix("+")
    if re.fullmatch(r"[0-9.]+[kKMGTPE]i?B", plain):
        plain = plain[:-1]
    if re.fullmatch(r"[0-9.]+K", plain):
        plain = plain[:-1] + "k"
    meant = plain if plain != text and _GRAMMAR.fullmatch(plain) else None
    return QuantityError(text, "is not a quantity", meant)


def written(resource: str, amount: Decimal) -> str:
    """An amount in base units as a quantity: `4128Gi`, `223.37`, `32`."""
    if resource in BYTES and amount and amount % 1 == 0:
        for suffix in reversed(_BINARY):
            if amount % _BINARY[suffix] == 0:
                return f"{int(amount / _BINARY[suffix])}{suffix}"
    return f"{amount.normalize():f}"


_TENTHS = 10


def readable(resource: str, amount: Decimal) -> str:
    """An amount in base units for a message: `96Ti`, and `63.1Ti` where its exact form has too many digits to grasp.

    Rounded down, so that what is read as allowed is allowed.
    """
    exact = written(resource, amount)
    if resource not in BYTES or len(exact) <= len("9999Gi"):
        return exact
    suffix, unit = next((it for it in reversed(_BINARY.items()) if amount >= it[1]), ("", Decimal(1)))
    return f"{(amount * _TENTHS // unit / _TENTHS).normalize():f}{suffix}"


def beside(resource: str, one: Quantity, other: Quantity) -> tuple[str, str]:
    """Two amounts as they were written; where their units differ, with what they are in base units.

    `4096G` and `4096Gi` look alike, and `96Ti` and `98304Gi` do not.
    """
    if _unit(one) == _unit(other):
        return one.text, other.text
    called = " bytes" if resource in BYTES else ""
    first, second = (f"{amount} ({amount.value.normalize():f}{called})" for amount in (one, other))
    return first, second


def _unit(amount: Quantity) -> str:
    return amount.text.lstrip("0123456789.")


def request_fault(resource: str, request: Quantity | None, limit: Quantity | None) -> str | None:
    """What is wrong with what a container requests of a resource beside its limit; None when it may stand.

    Extended resources such as GPUs are whole and cannot be overcommitted, so a request equals its limit. Of others a
    request is at most the limit; both are told in base units, since `4096G` and `4096Gi` look alike
    (https://kubernetes.io/docs/tasks/configure-pod-container/extended-resource/).
    """
    if "/" in resource:
        return _extended_fault(resource, request, limit)
    if request is None or limit is None or request.value <= limit.value:
        return None
    return f"requests {_exactly(request)} of {resource}, more than the limit {_exactly(limit)}"


def _extended_fault(resource: str, request: Quantity | None, limit: Quantity | None) -> str | None:
    for amount in (request, limit):
        if amount is not None and amount.value % 1:
            return f"{amount} of {resource} is not a whole number; parts of a GPU come from a pool that shares them"
    if request is None or request == limit:
        return None
    return f"requests {request} of {resource}, {'without a limit' if limit is None else f'but the limit is {limit}'}"


def _exactly(amount: Quantity) -> str:
    return f"{amount} ({amount.value.normalize():f})"
