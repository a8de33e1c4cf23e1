"""Settings of alerts that nothing comes of, since the alerts are not made."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from model.problems import Path, Problem, known
from model.sharing import SharingPlan

from .shape import Dcgm, Prometheus
from .thresholds import Alerts

if TYPE_CHECKING:
    from model.environment import Environment
    from model.pools import Pool

_AT: Path = ("monitoring", "alerts")


def limits(env: "Environment") -> Iterator[Problem]:
    """Alerts that nobody measures or evaluates, and a threshold for the memory of GPUs that are not time-sliced."""
    settings, usual = known(env.monitoring.alerts), Alerts()
    if (reason := _unmade(env)) and settings != usual:
        written = settings.model_dump(by_alias=True, exclude_defaults=True)
        yield _idle(_AT, written, reason)
    elif not reason and settings.memory != usual.memory and not any(map(_sliced, known(env.pools).values())):
        yield _idle((*_AT, "memory"), settings.memory, "it is for GPUs that are time-sliced, and no pool has them")


def _sliced(pool: "Pool") -> bool:
    plan = known(known(pool).sharing)
    return isinstance(plan, SharingPlan) and known(plan.time_slicing) is not None


def _unmade(env: "Environment") -> str | None:
    """Why no alerts are made; None when they are."""
    if not isinstance(known(env.monitoring.dcgm), Dcgm):
        return "alerts rest on what the exporter measures, and dcgm is none"
    if not isinstance(known(env.monitoring.prometheus), Prometheus):
        return "alerts are objects of the Prometheus Operator, and prometheus is none"
    return None


def _idle(at: Path, value: object, reason: str) -> Problem:
    return Problem(at, value, f"has no effect: {reason}", fix="leave it out", severity="warning")
