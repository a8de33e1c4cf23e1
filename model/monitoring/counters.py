"""Which counters the DCGM exporter gives: the usual ones, which alerts and dashboards rest on, and a document's own."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog import dcgm
from model.derived import derived
from model.problems import ABSENT, NOTHING, Path, Problem, answered, known, readable

from . import counter_file
from .counter_file import Counter
from .shape import Dcgm, FurtherCounter

if TYPE_CHECKING:
    from model.environment import Environment

_AT: Path = ("monitoring", "dcgm", "counters")

USUAL = (
    # Is the GPU used, and well? GPU_UTIL is 100 as soon as any kernel runs; the ratios say how much of the chip does.
    "DCGM_FI_DEV_GPU_UTIL",
    "DCGM_FI_DEV_MEM_COPY_UTIL",
    "DCGM_FI_DEV_FB_USED",
    "DCGM_FI_DEV_FB_FREE",
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
    "DCGM_FI_PROF_SM_ACTIVE",
    "DCGM_FI_PROF_SM_OCCUPANCY",
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
    "DCGM_FI_PROF_DRAM_ACTIVE",
    "DCGM_FI_PROF_PCIE_TX_BYTES",
    "DCGM_FI_PROF_PCIE_RX_BYTES",
    "DCGM_FI_PROF_NVLINK_TX_BYTES",
    "DCGM_FI_PROF_NVLINK_RX_BYTES",
    # Is it slowed down, and why?
    "DCGM_FI_DEV_SM_CLOCK",
    "DCGM_FI_DEV_MEM_CLOCK",
    "DCGM_FI_DEV_GPU_TEMP",
    "DCGM_FI_DEV_MEMORY_TEMP",
    "DCGM_FI_DEV_SLOWDOWN_TEMP",
    "DCGM_FI_DEV_POWER_USAGE",
    "DCGM_FI_DEV_ENFORCED_POWER_LIMIT",
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
    "DCGM_FI_DEV_POWER_VIOLATION",
    "DCGM_FI_DEV_THERMAL_VIOLATION",
    "DCGM_EXP_CLOCK_EVENTS_COUNT",
    # Is it sound? Most of these are not among the exporter's own counters, and alerts on them would stay silent.
    "DCGM_FI_DEV_XID_ERRORS",
    "DCGM_EXP_XID_ERRORS_COUNT",
    "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL",
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",
    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
    "DCGM_FI_DEV_ROW_REMAP_PENDING",
    "DCGM_FI_DEV_ROW_REMAP_FAILURE",
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
    "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL",
    "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL",
    "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL",
    "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL",
    # Which driver was that?
    "DCGM_FI_DRIVER_VERSION",
)
"""The counters that every environment has, in the spelling that DCGM had before 4.6: the metric is called as the field
is spelt, and rules and dashboards everywhere know these names."""


@derived
def counters(env: "Environment") -> tuple[Counter, ...]:
    """The counters of the exporter: the usual ones, then those that the document adds; none without an exporter.

    Profiling fields are left out where the document says so.
    """
    dcgm_settings = known(env.monitoring.dcgm)
    if not isinstance(dcgm_settings, Dcgm):
        return ()
    found = {name: _described(dcgm.fields()[name]) for name in USUAL}
    found |= {counter.field: counter for counter in _further(dcgm_settings)}
    return tuple(
        counter for counter in found.values() if dcgm_settings.profiling or not dcgm.is_profiling(counter.field)
    )


def counters_file(env: "Environment") -> str:
    """The counters file of the exporter, as upstream's parser reads it."""
    return counter_file.write(counters(env))


@derived
def metrics(env: "Environment") -> frozenset[str]:
    """Names of the metrics that the exporter gives. Labels are none."""
    return frozenset(counter.field for counter in counters(env) if counter.type != "label")


def profiling(env: "Environment") -> bool:
    """Whether any counter is a profiling field, so that the exporter needs the capability SYS_ADMIN."""
    return any(dcgm.is_profiling(counter.field) for counter in counters(env))


def _read(text: str) -> tuple[tuple[Counter, ...], tuple[Problem, ...]]:
    return counter_file.read(text, _AT, verbatim=False, settled=_settled())


def _settled() -> dict[str, str]:
    """The types of the usual counters. A document may repeat one, with a help of its own: what rests on it stays."""
    return {name: dcgm.fields()[name].type for name in USUAL}


def _described(field: dcgm.Field) -> Counter:
    return Counter(field.name, field.type, field.help if field.type == "label" else f"{field.help} ({field.unit})")


def _further(settings: Dcgm) -> Iterator[Counter]:
    further = known(settings.counters)
    if isinstance(further, str):
        yield from _read(further)[0]
        return
    for name, declared in readable(further):
        described = dcgm.fields().get(name)
        usual = _described(described) if described else Counter(name, "gauge", name)
        yield Counter(name, declared.type or usual.type, declared.help or usual.help)


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with the counters that the document adds."""
    settings = known(env.monitoring.dcgm)
    if not isinstance(settings, Dcgm):
        return
    further = known(settings.counters)
    if isinstance(further, str):
        yield from _read(further)[1]
    else:
        for name, declared in readable(further):
            yield from answered(_declared, name, declared)
    yield from answered(_contradiction, settings)


def _declared(name: str, declared: FurtherCounter) -> Iterator[Problem]:
    at = (*_AT, name)
    absent = [key for key in ("type", "help") if getattr(declared, key) is None]
    if fault := counter_file.field_fault(name):
        message, meant = fault
        yield Problem(at, name, message, fix=meant, spoils=NOTHING)
    elif absent and name not in dcgm.fields():
        message = f"{' and '.join(absent)} must be given: the catalogue does not describe {name}"
        allowed = f"type: {', '.join(counter_file.TYPES)}; help: one line of text"
        given = {"type": counter_file.TYPES[0], "help": '"what it says"'}
        yield Problem(at, ABSENT, message, allowed, ", ".join(f"{key}: {given[key]}" for key in absent), spoils=NOTHING)
    yield from answered(_type, (*at, "type"), name, declared)
    yield from answered(_help, (*at, "help"), declared)


def _type(at: Path, name: str, declared: FurtherCounter) -> Iterator[Problem]:
    kind = known(declared.type)
    if kind is not None and (problem := counter_file.type_fault(name, kind, _settled())):
        yield replace(problem, path=at)


def _help(at: Path, declared: FurtherCounter) -> Iterator[Problem]:
    text = known(declared.help)
    if text is not None and (problem := counter_file.help_fault(text)):
        yield replace(problem, path=at)


def _contradiction(settings: Dcgm) -> Iterator[Problem]:
    if settings.profiling:
        return
    for counter in _further(settings):
        if dcgm.is_profiling(counter.field):
            at = _AT if isinstance(settings.counters, str) else (*_AT, counter.field)
            message = f"{counter.field} is a profiling field, and profiling is false"
            yield Problem(at, counter.field, message, fix="remove it, or profiling: true", spoils=NOTHING)
