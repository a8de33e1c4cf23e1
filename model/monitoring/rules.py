"""The rules of an environment as Prometheus reads them."""

from typing import TYPE_CHECKING, Any

from .alerts import Alert, alerts, annotations
from .recordings import Recording, recordings

if TYPE_CHECKING:
    from model.environment import Environment

RECORDINGS = "gangline-recordings"
ALERTS = "gangline-alerts"


def groups(env: "Environment") -> list[dict[str, Any]]:
    """The groups of a rule file, or of a PrometheusRule's `spec`; none where nobody measures GPUs.

    Recordings are one group, since the rules of a group are evaluated in order and they build on each other.
    """
    found = {
        RECORDINGS: [_recording(recording) for recording in recordings(env)],
        ALERTS: [_alert(env, alert) for alert in alerts(env)],
    }
    return [{"name": name, "rules": rules} for name, rules in found.items() if rules]


def _recording(recording: Recording) -> dict[str, Any]:
    labels = {"labels": dict(recording.labels)} if recording.labels else {}
    return {"record": recording.name, "expr": recording.expression, **labels}


def _alert(env: "Environment", alert: Alert) -> dict[str, Any]:
    rule: dict[str, Any] = {"alert": alert.name, "expr": alert.expression}
    # Left out rather than 0s: the Operator's definition of the kind takes no empty durations, and 0s is the default.
    if alert.held:
        rule["for"] = alert.held
    if alert.stays:
        rule["keep_firing_for"] = alert.stays
    return {**rule, "labels": {"severity": alert.severity}, "annotations": annotations(env, alert)}
