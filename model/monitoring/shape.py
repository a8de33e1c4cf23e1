"""Monitoring as a document declares it."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from model.base import Declared, Mapped, Plain, PlainOrMapped

from .counter_file import Type
from .thresholds import Alerts


class FurtherCounter(Declared):
    """A counter beside the usual ones. Of a field that the catalogue describes nothing needs to be said: `{}`."""

    type: Type | None = None
    """`gauge`: goes up and down; `counter`: only grows; `label`: text that stands on all other metrics of the GPU."""
    help: str | None = None
    """What it says, in one line."""


class Dcgm(Declared):
    """NVIDIA's DCGM exporter on every GPU node, with the counters that alerts and dashboards need."""

    synonyms: ClassVar[dict[str, str]] = {"fields": "counters", "metrics": "counters", "scrapeInterval": "interval"}

    interval: str = "30s"
    """How often GPUs are read, and the exporter is asked: 1s to 60s. Alerts look at five minutes."""
    profiling: bool = True
    """Whether to read the profiling counters of the hardware (`DCGM_FI_PROF_*`), for which the exporter gets the
    capability SYS_ADMIN. Only one program on a node can read them: `false` leaves them to another."""
    counters: Annotated[
        Annotated[str, Plain] | Annotated[dict[str, FurtherCounter], Mapped],
        PlainOrMapped,
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
