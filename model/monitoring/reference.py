"""The reference of alerts and recorded series, generated from the rules so that it cannot lag behind them."""

from functools import cache
from typing import Any

from model import document
from model.environment import Environment

from .alerts import Alert, alerts
from .recordings import Recording, recordings

_EXAMPLE: dict[str, Any] = {
    "cluster": {"name": "reference", "provider": "existing", "kubernetes": "1.35", "context": "reference"},
    "pools": {
        "train": {"server": "dgx-h100", "size": 16, "fabric": "infiniband"},
        "serve": {"server": "dgx-h100", "size": 2, "sharing": {"timeSlicing": {"replicas": 4}}},
    },
    "queues": {"research": {"deserved": {"gpu": 128}, "capability": {"gpu": 128}}},
    "tenants": {"research": {"namespaces": ["research"], "queues": ["research"], "defaultQueue": "research"}},
}
_HEAD = """\
# Alerts and recorded series

Generated from `model/monitoring/` for pools `train` (InfiniBand) and `serve` (time-sliced GPUs), with the thresholds
that hold unless the document says otherwise (`monitoring.alerts`). More in [the guide](../guides/monitoring.md).
"""


@cache
def example() -> Environment:
    """An environment that brings about all rules."""
    return document.load(_EXAMPLE)


def reference() -> str:
    """The reference page, in Markdown."""
    return "\n".join(
        [
            _HEAD,
            "## Alerts",
            "",
            *_table(
                ("alert", "severity", "what it means", "raised after", "stays"),
                [_alert(alert) for alert in alerts(example())],
            ),
            "",
            "## When each is raised",
            "",
            *(line for alert in alerts(example()) for line in (f"{alert.name}:", "", *_code(alert.expression), "")),
            "## Recorded series",
            "",
            "The first part of a name tells of what: a pool, a GPU, a device (a GPU, or an instance of one under MIG),",
            "a namespace, a tenant or a queue in each pool, and each device that one of these holds.",
            "",
            *_table(("series", "what it says"), list(dict.fromkeys(map(_recording, recordings(example()))))),
            "",
        ]
    )


def _alert(alert: Alert) -> tuple[str, ...]:
    link = f"[{alert.name}](../runbooks/{alert.name}.md)"
    return link, alert.severity, alert.description, alert.held or "at once", alert.stays


def _recording(recording: Recording) -> tuple[str, ...]:
    return f"`{recording.name}`", recording.help


def _code(text: str) -> list[str]:
    return [f"    {line}" for line in text.splitlines()]


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (head, tuple("---" for _ in head), *rows)]
