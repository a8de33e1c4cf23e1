"""Monitoring as a document declares it."""

import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from model.base import Declared, Mapped, Plain, PlainOrMapped

from .counter_file import Type
from .thresholds import Alerts

SLOWEST = 60
"""Seconds: five minutes, which alerts look at, should hold a few values."""
_INTERVAL = re.compile(r"([1-9][0-9]{0,3})s")


def _interval(written: Any) -> str:
    match = _INTERVAL.fullmatch(written) if isinstance(written, str) else None
    if match is not None and int(match[1]) <= SLOWEST:
        return match[0]
    reason = "must be whole seconds, and few enough that five minutes, which alerts look at, hold several readings"
    number = isinstance(written, (int, str)) and re.fullmatch(r"[0-9]{1,4}", str(written))
    fix = f"{int(str(written))}s" if number and 1 <= int(str(written)) <= SLOWEST else None
    context = {"reason": reason, "allowed": f"1s to {SLOWEST}s", "fix": fix}
    raise PydanticCustomError("rule", "{reason}", context)


def _counters(written: Any) -> Any:
    if isinstance(written, (str, dict)):
        return written
    named = isinstance(written, list) and written and all(isinstance(name, str) for name in written)
    context = {
        "reason": "must be DCGM fields with what is said of them, or the text of a counters file",
        "allowed": "{DCGM_FI_DEV_FAN_SPEED: {}}, or lines FIELD, type, help",
        "fix": f"{{{', '.join(f'{name}: {{}}' for name in written)}}}" if named else "leave out counters",
    }
    raise PydanticCustomError("rule", "{reason}", context)


class FurtherCounter(Declared):
    """A counter beside the usual ones. Of a field that the catalogue describes nothing needs to be said: `{}`."""

    type: Type | None = None
    """`gauge`: goes up and down; `counter`: only grows; `label`: text that stands on all other metrics of the GPU."""
    help: str | None = None
    """What it says, in one line."""


class Dcgm(Declared):
    """NVIDIA's DCGM exporter on every GPU node, with the counters that alerts and dashboards need."""

    synonyms: ClassVar[dict[str, str]] = {"fields": "counters", "metrics": "counters", "scrapeInterval": "interval"}

    interval: Annotated[str, BeforeValidator(_interval)] = "30s"
    """How often GPUs are read, and the exporter is asked: 1s to 60s. Alerts look at five minutes."""
    profiling: bool = True
    """Whether to read the profiling counters of the hardware (`DCGM_FI_PROF_*`), for which the exporter gets the
    capability SYS_ADMIN. Only one program on a node can read them: `false` leaves them to another."""
    counters: Annotated[
        Annotated[str, Plain] | Annotated[dict[str, FurtherCounter], Mapped],
        PlainOrMapped,
        BeforeValidator(_counters),
    ] = Field(default_factory=dict)
    """More counters, by DCGM field; or the text of a counters file of the exporter."""


class Prometheus(Declared):
    """What is made for the Prometheus Operator."""

    definitions: Literal["install", "existing"] = "install"
    """The kinds ServiceMonitor and PrometheusRule: `install` where the cluster does not have them; `existing` where a
    Prometheus Operator is there already, which keeps them up to date."""
    labels: dict[str, str] = Field(default_factory=dict)
    """Labels on these objects. A Prometheus of the chart kube-prometheus-stack looks only at those with its release:
    {release: <name of the release>}."""


class Monitoring(Declared):
    """Monitoring of GPU nodes."""

    dcgm: Annotated[Annotated[Literal["none"], Plain] | Annotated[Dcgm, Mapped], PlainOrMapped] = Dcgm()
    """The exporter; `none` where something else reads DCGM, such as an exporter of your own."""
    prometheus: Annotated[Annotated[Literal["none"], Plain] | Annotated[Prometheus, Mapped], PlainOrMapped] = (
        Prometheus()
    )
    """The Prometheus Operator; `none` where something else asks the exporter."""
    alerts: Alerts = Alerts()
    """When alerts are raised."""
