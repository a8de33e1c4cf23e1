"""Quantities as values of a document: how they are read there, and what more must hold of cores and bytes."""

from decimal import Decimal
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator
from pydantic_core import PydanticCustomError, core_schema

from .quantities import EXAMPLES, MEBIBYTE, Quantity, QuantityError

_MEMORY = "a quantity such as 512Gi, 80G or 1.5Ti"


def schema() -> core_schema.CoreSchema:
    """Give how pydantic reads a quantity and writes it."""
    return core_schema.no_info_plain_validator_function(
        _read_any, serialization=core_schema.plain_serializer_function_ser_schema(str)
    )


def _read_any(written: Any) -> Quantity:
    return _read(written, EXAMPLES)


def _read(written: Any, examples: str) -> Quantity:
    if isinstance(written, Quantity):
        return written
    try:
        return Quantity.parse(written)
    except QuantityError as error:
        context = {"reason": error.reason, "allowed": examples, "fix": error.meant}
        raise PydanticCustomError("rule", "{reason}", context) from None


def _read_memory(written: Any) -> Quantity:
    return _read(written, _MEMORY)


def _memory(quantity: Quantity) -> Quantity:
    if quantity.value < MEBIBYTE:
        fix = f"{quantity.text[:-1]}Mi" if quantity.text.endswith("m") else None
        context = {"reason": "is less than 1Mi, so its unit is probably missing", "allowed": "1Mi or more", "fix": fix}
        raise PydanticCustomError("rule", "{reason}", context)
    return quantity


def _cpu(quantity: Quantity) -> Quantity:
    if quantity.value.quantize(Decimal("0.001")) != quantity.value:
        context = {"reason": "is finer than 1m, a thousandth of a core", "allowed": "whole millicores"}
        raise PydanticCustomError("rule", "{reason}", context)
    return quantity


Cpu = Annotated[Quantity, AfterValidator(_cpu)]
"""Cores, no finer than a thousandth."""

Memory = Annotated[Quantity, BeforeValidator(_read_memory), AfterValidator(_memory)]
"""Bytes, at least 1Mi (below that it is nearly always a mistyped suffix)."""
