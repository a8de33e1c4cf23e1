"""A document of a cluster on AWS, and changes of it."""

from datetime import UTC, datetime
from typing import Any

from model import document
from model.environment import Environment
from model.problems import Problem
from tests.model.documents import Change, by_path, changed

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
RESERVATION = "cr-0a1b2c3d4e5f67890"
BLOCK = {"kind": "block", "reservation": RESERVATION, "ends": "2026-12-20T11:30:00Z"}

VALUE: dict[str, Any] = {
    "cluster": {"name": "atlas", "provider": "aws", "kubernetes": "1.35", "zones": ["us-east-2a", "us-east-2b"]},
    "pools": {
        "system": {"instance": "m7i.2xlarge", "size": 3},
        "train": {
            "instance": "p5en.48xlarge",
            "size": 16,
            "zone": "us-east-2a",
            "fabric": "efa",
            "capacity": BLOCK,
            "taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}],
        },
        "serve": {"instance": "g6e.12xlarge", "size": {"min": 0, "max": 8}, "capacity": {"kind": "spot"}},
    },
}


def on_aws(*changes: Change) -> dict[str, Any]:
    """The document's value after some changes."""
    return changed(VALUE, *changes)


def made(*changes: Change) -> Environment:
    """The environment of the changed document."""
    return document.load(on_aws(*changes))


def found(*changes: Change, severity: str = "error", now: datetime | None = None) -> dict[str, Problem]:
    """What is wrong with the changed document, by path without the root's name."""
    problems = document.judge(on_aws(*changes), now=now).problems
    return by_path(problem for problem in problems if problem.severity == severity)


def only(*changes: Change, severity: str = "error", now: datetime | None = None) -> tuple[str, Any]:
    """The one thing that is wrong with the changed document: its path and itself."""
    ((path, problem),) = found(*changes, severity=severity, now=now).items()
    return path, problem
