"""Dashboards for Grafana: the cluster, one node, tenants and queues.

The layout of the JSON is Grafana's schema version 39 (https://github.com/grafana/grafana-foundation-sdk, dashboard).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from . import recordings
from .exporter import JOB
from .series import DEVICE, GPU, HELD, metrics

if TYPE_CHECKING:
    from model.environment import Environment

_COLUMNS = 24
_DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
_ALL = ".*"


@dataclass(frozen=True)
class Panel:
    """A panel.

    Attributes:
        title: What it shows.
        queries: What it asks, in PromQL, each with what its curves or rows are called: a template of Grafana.
        unit: Grafana's name of the unit.
        kind: Curves over time, one number, or a table of what is now.
        width: Columns of 24.
        help: What is not plain from the title.
        most: The end of the scale, where there is one.
        stacked: Whether curves stand on each other.
    """

    title: str
    queries: Mapping[str, str]
    unit: str = "short"
    kind: Literal["timeseries", "stat", "table"] = "timeseries"
    width: int = 12
    help: str = ""
    most: int | None = None
    stacked: bool = False


@dataclass(frozen=True)
class Dashboard:
    """A dashboard.

    Attributes:
        uid: Its name in links, which never changes.
        title: Its title.
        panels: Its panels, in reading order.
        variables: What one chooses from at the top: name, and the query that lists the values.
    """

    uid: str
    title: str
    panels: Sequence[Panel]
    variables: Mapping[str, str] = field(default_factory=dict)


def dashboards(env: "Environment") -> tuple[Dashboard, ...]:
    """All dashboards of an environment, with those panels whose series somebody gives; none where nobody does."""
    given = recordings.given(env)
    found: list[Dashboard] = []
    for board in (_cluster(env), _node(env), _teams(env)):
        panels = [panel for panel in board.panels if all(metrics(query) <= given for query in panel.queries.values())]
        if panels:
            found.append(Dashboard(board.uid, board.title, panels, board.variables))
    return tuple(found)


_POOL = 'pool=~"$pool"'
_NODE = 'node="$node"'
_POOLS = {"pool": "label_values(pool:devices:count, pool)"}
_CARD = "GPU {{gpu}}"
_DEVICE = "GPU {{gpu}} {{GPU_I_PROFILE}} {{GPU_I_ID}}"


def _ratio(title: str, query: str, legend: str, **more: Any) -> Panel:
    return Panel(title, {legend: query}, "percentunit", most=1, **more)


def _cluster(_: "Environment") -> Dashboard:
    watts = f"max by ({GPU}) (DCGM_FI_DEV_POWER_USAGE{{{_POOL}}})"
    heat = f"increase(gpu:slowed_by_heat_nanoseconds:total{{{_POOL}}}[10m])"
    panels = [
        Panel("Devices", {"": f"sum(pool:devices:count{{{_POOL}}})"}, kind="stat", width=4),
        Panel("Held by pods", {"": f"sum(pool:devices_held:count{{{_POOL}}})"}, kind="stat", width=4),
        _ratio("Busy", f"avg(device:activity:ratio{{{_POOL}}})", "", kind="stat", width=4),
        _ratio("Tensor cores busy", f"avg(device:tensor_activity:ratio{{{_POOL}}})", "", kind="stat", width=4),
        Panel("Power", {"": f"sum({watts})"}, "watt", kind="stat", width=4),
        Panel("Exporters that answer", {"": f'sum(up{{job="{JOB}", {_POOL}}})'}, kind="stat", width=4),
        Panel(
            "Alerts",
            {"": 'ALERTS{alertname=~"Gpu.*|Rdma.*", alertstate="firing"}'},
            kind="table",
            width=24,
        ),
        _ratio("Busy, by pool", f"pool:activity:ratio{{{_POOL}}}", "{{pool}}"),
        _ratio("Tensor cores busy, by pool", f"pool:tensor_activity:ratio{{{_POOL}}}", "{{pool}}"),
        Panel(
            "Devices, by pool",
            {
                "{{pool}}: all": f"pool:devices:count{{{_POOL}}}",
                "{{pool}}: held": f"pool:devices_held:count{{{_POOL}}}",
            },
            help="GPUs, or instances of them under MIG. Held are those that a pod has, busy or not.",
        ),
        _ratio("Memory in use, by pool", f"pool:memory_used:ratio{{{_POOL}}}", "{{pool}}"),
        Panel("Power, by pool", {"{{pool}}": f"sum by (pool) ({watts})"}, "watt"),
        Panel(
            "Hottest GPU, by pool",
            {
                "{{pool}}": f"max by (pool) (DCGM_FI_DEV_GPU_TEMP{{{_POOL}}})",
                "{{pool}}: memory": f"max by (pool) (DCGM_FI_DEV_MEMORY_TEMP{{{_POOL}}})",
            },
            "celsius",
        ),
        Panel(
            "GPUs slowed down by heat, by pool",
            {"{{pool}}": f"sum by (pool) ({heat} > bool 0)"},
            help="GPUs that were held down at all within ten minutes.",
        ),
        Panel(
            "Xid errors within five minutes",
            {"": f"max by (pool, node, gpu, xid) (DCGM_EXP_XID_ERRORS_COUNT{{{_POOL}}}) > 0"},
            kind="table",
        ),
    ]
    return Dashboard("gangline-cluster", "GPUs: cluster", panels, _POOLS)


def _of_card(title: str, metric: str, unit: str, **more: Any) -> Panel:
    return Panel(title, {_DEVICE: f"max by ({DEVICE}) ({metric}{{{_NODE}}})"}, unit, **more)


def _node(_: "Environment") -> Dashboard:
    def in_an_hour(counter: str) -> str:
        return f"increase(gpu:{counter}:total{{{_NODE}}}[1h])"

    panels = [
        _ratio("Busy", f"device:activity:ratio{{{_NODE}}}", _DEVICE),
        _ratio("Tensor cores busy", f"device:tensor_activity:ratio{{{_NODE}}}", _DEVICE),
        _of_card("Multiprocessors busy", "DCGM_FI_PROF_SM_ACTIVE", "percentunit", most=1),
        _of_card("Memory busy", "DCGM_FI_PROF_DRAM_ACTIVE", "percentunit", most=1),
        _ratio("Memory in use", f"device:memory_used:ratio{{{_NODE}}}", _DEVICE),
        Panel(
            "Who holds what",
            {"": f"group by (gpu, GPU_I_ID, GPU_I_PROFILE, namespace, pod) (DCGM_FI_DEV_FB_USED{{{_NODE}, {HELD}}})"},
            kind="table",
        ),
        _of_card("NVLink, sending", "DCGM_FI_PROF_NVLINK_TX_BYTES", "Bps"),
        _of_card("NVLink, receiving", "DCGM_FI_PROF_NVLINK_RX_BYTES", "Bps"),
        _of_card("PCIe, sending", "DCGM_FI_PROF_PCIE_TX_BYTES", "Bps"),
        _of_card("PCIe, receiving", "DCGM_FI_PROF_PCIE_RX_BYTES", "Bps"),
        _of_card("Temperature", "DCGM_FI_DEV_GPU_TEMP", "celsius"),
        _of_card("Temperature of the memory", "DCGM_FI_DEV_MEMORY_TEMP", "celsius"),
        _of_card("Power", "DCGM_FI_DEV_POWER_USAGE", "watt"),
        _of_card("Clock of the multiprocessors", "DCGM_FI_DEV_SM_CLOCK", "rotmhz"),
        Panel(
            "Slowed down, share of the time",
            {
                f"{_CARD}: {why}": f"rate(gpu:slowed_by_{why}_nanoseconds:total{{{_NODE}}}[5m]) / 1000000000"
                for why in ("heat", "power")
            },
            "percentunit",
            most=1,
        ),
        Panel(
            "Memory errors per hour",
            {
                f"{_CARD}: corrected": in_an_hour("ecc_single_bit"),
                f"{_CARD}: not corrected": in_an_hour("ecc_double_bit"),
            },
        ),
        Panel(
            "Rows of memory that were replaced",
            {
                f"{_CARD}: after errors that were not corrected": (
                    f"max by ({GPU}) (DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS{{{_NODE}}})"
                ),
                f"{_CARD}: wait for a reset": f"max by ({GPU}) (DCGM_FI_DEV_ROW_REMAP_PENDING{{{_NODE}}})",
            },
        ),
        Panel(
            "Errors of links per hour",
            {
                f"{_CARD}: PCIe, sent again": in_an_hour("pcie_replays"),
                f"{_CARD}: NVLink, sent again": in_an_hour("nvlink_replays"),
                f"{_CARD}: NVLink, brought up again": in_an_hour("nvlink_recoveries"),
            },
        ),
    ]
    variables = {**_POOLS, "node": f"label_values(device:memory_used:ratio{{{_POOL}}}, node)"}
    return Dashboard("gangline-node", "GPUs: node", panels, variables)


def _holder(holder: str) -> Iterator[Panel]:
    legend = f"{{{{{holder}}}}} on {{{{pool}}}}"
    yield _ratio(
        f"Busy, by {holder}",
        f"{holder}:activity:ratio",
        legend,
        help="Mean of the devices that it holds. A device that several share is whole in each.",
    )
    yield _ratio(f"Tensor cores busy, by {holder}", f"{holder}:tensor_activity:ratio", legend)
    yield _ratio(f"Memory in use, by {holder}", f"{holder}:memory_used:ratio", legend)


def _teams(env: "Environment") -> Dashboard:
    active = recordings.activity_metric(env)
    pod = f"avg by (namespace, pod) (avg_over_time({active.metric}{{{HELD}}}[1h]))"
    panels = [
        Panel(
            "Devices held, by tenant",
            {"{{tenant}} on {{pool}}": "tenant:devices_held:count"},
            stacked=True,
            help="A device that pods of several tenants share counts for each.",
        ),
        *_holder("tenant"),
        Panel("Devices held, by queue", {"{{queue}} on {{pool}}": "queue:devices_held:count"}, stacked=True),
        Panel(
            "Held and deserved, by queue",
            {
                "{{queue}}: held": "sum by (queue) (queue:devices_held:count)",
                "{{queue}}: deserved": "queue:devices:declared",
            },
        ),
        *_holder("queue"),
        Panel(
            "Pods that use least of what they hold, last hour",
            {"": f"bottomk(20, {pod}){' / 100' if active.percent == 1 else ''}"},
            "percentunit",
            kind="table",
            width=24,
        ),
    ]
    return Dashboard("gangline-teams", "GPUs: tenants and queues", panels)


def render(board: Dashboard) -> dict[str, Any]:
    """A dashboard as Grafana imports it."""
    return {
        "uid": board.uid,
        "title": board.title,
        "tags": ["gangline", "gpu"],
        "schemaVersion": 39,
        "editable": False,
        "graphTooltip": 1,  # one crosshair on all panels
        "refresh": "1m",
        "timezone": "browser",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [_SOURCE, *(_variable(name, query) for name, query in board.variables.items())]},
        "panels": list(_laid_out(board.panels)),
    }


_SOURCE = {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}


def _variable(name: str, query: str) -> dict[str, Any]:
    several = name == "pool"
    return {
        "name": name,
        "type": "query",
        "datasource": _DATASOURCE,
        "query": {"query": query, "refId": name},
        "refresh": 2,  # when the time range changes
        "sort": 1,
        "multi": several,
        "includeAll": several,
        **({"allValue": _ALL, "current": {"text": "All", "value": "$__all"}} if several else {}),
    }


_HEIGHTS = {"stat": 4, "table": 8, "timeseries": 8}


def _laid_out(panels: Sequence[Panel]) -> Iterator[dict[str, Any]]:
    """Panels from left to right, a new row where one does not fit or is of another height."""
    across, down, height = 0, 0, 0
    for number, panel in enumerate(panels, start=1):
        own = _HEIGHTS[panel.kind]
        if across + panel.width > _COLUMNS:
            across, down, height = 0, down + height, 0
        yield _panel(panel) | {"id": number, "gridPos": {"x": across, "y": down, "w": panel.width, "h": own}}
        across, height = across + panel.width, max(height, own)


def _panel(panel: Panel) -> dict[str, Any]:
    defaults: dict[str, Any] = {"unit": panel.unit}
    if panel.most is not None:
        defaults |= {"min": 0, "max": panel.most}
    if panel.kind == "timeseries":
        stacking = {"mode": "normal", "group": "A"} if panel.stacked else {"mode": "none"}
        defaults["custom"] = {"fillOpacity": 10, "stacking": stacking, "spanNulls": False}
    return {
        "title": panel.title,
        "description": panel.help,
        "type": panel.kind,
        "datasource": _DATASOURCE,
        "targets": [
            _target(panel, *named, letter) for named, letter in zip(panel.queries.items(), "ABCDEF", strict=False)
        ],
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "options": _OPTIONS[panel.kind],
        **({"transformations": _WITHOUT_TIME} if panel.kind == "table" else {}),
    }


_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "timeseries": {
        "legend": {"displayMode": "list", "placement": "bottom"},
        "tooltip": {"mode": "multi", "sort": "desc"},
    },
    "stat": {"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "value", "graphMode": "area"},
    "table": {"showHeader": True},
}
_WITHOUT_TIME = [{"id": "organize", "options": {"excludeByName": {"Time": True, "__name__": True, "instance": True}}}]


def _target(panel: Panel, legend: str, query: str, letter: str) -> dict[str, Any]:
    now = {"instant": True, "format": "table"} if panel.kind == "table" else {"range": True}
    return {"refId": letter, "datasource": _DATASOURCE, "expr": query, "legendFormat": legend, **now}
