"""When an alert is raised, as a document declares it."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from pydantic.alias_generators import to_camel

from model.base import Declared
from model.problems import Path, Problem, answered

if TYPE_CHECKING:
    from model.environment import Environment

_AT: Path = ("monitoring", "alerts")
_NO_URL = r"""\s?#"<>\\^`|{}"""
_BASE = re.compile(rf"https?://[^{_NO_URL}/]+(/[^{_NO_URL}]*)?")


class Temperatures(Declared):
    """Degrees Celsius. Which are too high depends on the GPU: its data sheet, or `nvidia-smi -q -d TEMPERATURE`."""

    warning: int = 85
    """A GPU is hot: for five minutes above this."""
    critical: int = 90
    """A GPU is about to slow itself down or to shut down: for a minute above this."""
    memory: int = 95
    """Its memory is hot: for five minutes above this."""


class Throttling(Declared):
    """Percent of the time in which a GPU may run slower than it could."""

    thermal: int = 10
    """Because of heat, over ten minutes."""
    power: int = 90
    """Because of its power limit, over half an hour. Under full load a GPU is often at its limit, as it should be."""


class Errors(Declared):
    """Errors that are corrected. The hardware makes some; many of them slow a GPU down and announce worse."""

    single_bit: int = 100
    """Single-bit memory errors of a GPU per hour."""
    pcie_replays: int = 31
    """Transfers over PCIe that were sent again, of a GPU per minute. 31 is one error in 10^12 bits of a link of 16
    lanes of generation 5, which is where DCGM's own health check draws the line; 16 is that of generation 4."""
    nvlink_crc: int = 100
    """NVLink checksum errors of a GPU per second. Fewer do not matter: the limit of DCGM's own health check."""


class Idle(Declared):
    """GPUs that a pod holds but does not use."""

    activity: int = 5
    """Percent of the time in which a GPU is busy; less is idle."""
    minutes: int = 60
    """For how long before it is told. Loading a model or waiting for the rest of a gang is not idling."""


class Alerts(Declared):
    """When alerts are raised. Each alert and what to do about it: docs/guides/monitoring.md."""

    synonyms: ClassVar[dict[str, str]] = {"runbookUrl": "runbooks", "temperatures": "temperature"}

    runbooks: str | None = None
    """Where the pages of docs/runbooks can be read by who is woken up; alerts link to `<runbooks>/<alert>.md`. Without
    it they name the file."""
    temperature: Temperatures = Temperatures()
    """Degrees Celsius."""
    throttling: Throttling = Throttling()
    """Percent of the time."""
    errors: Errors = Errors()
    """Corrected errors."""
    idle: Idle = Idle()
    """Unused GPUs."""
    memory: int = 95
    """Percent of the memory of a time-sliced GPU in use: nothing keeps one container's memory from another, so when it
    is full the next allocation fails, whoever makes it. Elsewhere memory that is full is nobody else's trouble."""


_BOUNDS = {
    "temperature": dict.fromkeys(("warning", "critical", "memory"), (40, 120, "degrees Celsius")),
    "throttling": dict.fromkeys(("thermal", "power"), (1, 99, "percent")),
    "errors": {
        "single_bit": (1, 1_000_000, "errors per hour"),
        "pcie_replays": (1, 1_000_000, "per minute"),
        "nvlink_crc": (1, 1_000_000, "errors per second"),
    },
    "idle": {"activity": (1, 99, "percent"), "minutes": (10, 1440, "minutes")},
}


def values(env: "Environment") -> Iterator[Problem]:
    """Thresholds that no GPU can cross, or that each always does."""
    alerts = env.monitoring.alerts
    yield from answered(_runbooks, alerts)
    for part, bounds in _BOUNDS.items():
        for field, bound in bounds.items():
            yield from answered(_within, (*_AT, part), alerts, part, field, bound)
    yield from answered(_bound, (*_AT, "memory"), alerts.memory, (1, 99, "percent"))


def limits(env: "Environment") -> Iterator[Problem]:
    """A warning that comes no earlier than the alert it warns of."""
    temperature = env.monitoring.alerts.temperature
    warning, critical = temperature.warning, temperature.critical
    if warning >= critical:
        at = (*_AT, "temperature")
        message = f"the warning at {warning} comes no earlier than the critical alert at {critical}"
        yield Problem((*at, "warning"), warning, message, f"less than {critical}", spoils=(at,))


def _within(at: Path, alerts: Alerts, part: str, field: str, bound: tuple[int, int, str]) -> Iterator[Problem]:
    yield from _bound((*at, to_camel(field)), getattr(getattr(alerts, part), field), bound)


def _bound(at: Path, value: int, bound: tuple[int, int, str]) -> Iterator[Problem]:
    least, most, unit = bound
    if not least <= value <= most:
        yield Problem(at, value, "is out of range", f"{least} to {most} {unit}")


def _runbooks(alerts: Alerts) -> Iterator[Problem]:
    base = alerts.runbooks
    if base is not None and not _BASE.fullmatch(base):
        braces = "{" in base or "}" in base
        message = "is a template for Prometheus, not a link" if braces else "is no place that alerts could link to"
        allowed = "a URL such as https://wiki.example.com/runbooks, without ? # { }"
        yield Problem((*_AT, "runbooks"), base, message, allowed)
