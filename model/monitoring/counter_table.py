"""The reference of the usual counters, generated so that it cannot lag behind them."""

from catalog import dcgm

from .counters import USUAL

_HEAD = """\
# Counters

What the DCGM exporter gives in every environment, as metrics of these names. Generated from
`model/monitoring/counters.py` and `catalog/dcgm.yaml`, where the sources stand. Those marked with P are profiling
counters: without `monitoring.dcgm.profiling` they are left out.

| metric | type | unit | P | says |
|---|---|---|---|---|
"""


def counter_table() -> str:
    """The reference page, in Markdown."""
    return _HEAD + "".join(_row(dcgm.fields()[name]) for name in USUAL)


def _row(field: dcgm.Field) -> str:
    mark = "P" if dcgm.is_profiling(field.name) else ""
    return f"| `{field.name}` | {field.type} | {field.unit} | {mark} | {field.help} |\n"
