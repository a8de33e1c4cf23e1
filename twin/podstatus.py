"""The status of a pod whose container is a process here, in the words of a kubelet."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Facts:
    """What is known of the process behind a pod.

    Attributes:
        address: The pod's address in the cluster.
        running: Whether a process was started.
        ready: Whether it answers.
        problem: Why it is not ready.
        restarts: How often it was started again.
        finished: Exit code of a container that has ended for good, or None.
    """

    address: str
    running: bool
    ready: bool
    problem: str
    restarts: int
    finished: int | None


def status(pod: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    """Give the status to patch into a pod (as a strategic merge patch)."""
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    started = pod["status"].get("startTime") or now
    container = pod["spec"]["containers"][0]
    entry: dict[str, Any] = {
        "name": container["name"],
        "image": container["image"],
        "imageID": "",
        "ready": facts.ready,
        "started": facts.running and facts.finished is None,
        "restartCount": facts.restarts,
    }
    if facts.finished is not None:
        phase, reason = ("Succeeded", "PodCompleted") if facts.finished == 0 else ("Failed", "PodFailed")
        entry["state"] = {
            "terminated": {
                "exitCode": facts.finished,
                "reason": "Completed" if facts.finished == 0 else "Error",
                "message": facts.problem,
                "startedAt": started,
                "finishedAt": now,
            }
        }
    elif facts.running:
        phase, reason = "Running", "ContainersNotReady"
        entry["state"] = {"running": {"startedAt": started}}
    else:
        phase, reason = "Pending", "ContainersNotReady"
        entry["state"] = {"waiting": {"reason": "ContainerCreating", "message": facts.problem}}
    ready = "True" if facts.ready else "False"
    condition = {"status": ready, "lastTransitionTime": now}
    if not facts.ready:
        condition |= {"reason": reason, "message": facts.problem}
    else:
        condition |= {"reason": "", "message": ""}
    return {
        "phase": phase,
        "startTime": started,
        "podIP": facts.address,
        "podIPs": [{"ip": facts.address}],
        "conditions": [
            {"type": "Initialized", "status": "True", "lastTransitionTime": started},
            {"type": "ContainersReady", **condition},
            {"type": "Ready", **condition},
        ],
        "containerStatuses": [entry],
    }
