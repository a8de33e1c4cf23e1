"""Volcano Jobs that people write by hand, with what is wrong with each: for the model, and for the real webhook."""

from typing import Any, NamedTuple


def template(limits_only: bool = False) -> dict[str, Any]:
    """A pod with a GPU."""
    amounts = {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "1"}
    resources = {"limits": amounts} if limits_only else {"limits": amounts, "requests": amounts}
    container = {"name": "main", "image": "busybox:1.36.1", "resources": resources}
    return {"spec": {"restartPolicy": "Never", "containers": [container]}}


def task(name: str, replicas: int, **more: Any) -> dict[str, Any]:
    """A task."""
    return {"name": name, "replicas": replicas, "template": template(), **more}


class Written(NamedTuple):
    """A job.

    Attributes:
        spec: Its `spec`, without the queue.
        at: Where its fault is; None where there is none.
        refused: Whether Volcano refuses it.
        name: Its name.
    """

    spec: dict[str, Any]
    at: tuple[str | int, ...] | None = None
    refused: bool = True
    name: str = "written"


TWO = [task("a", 4), task("b", 4)]
RESTART = {"event": "PodFailed", "action": "RestartJob"}
JOBS: dict[str, Written] = {
    "more than there are": Written({"minAvailable": 9, "tasks": TWO}, ("minAvailable",)),
    "more of a task than it has": Written({"tasks": [task("a", 4, minAvailable=5)]}, ("tasks", 0, "minAvailable")),
    "fewer than none": Written({"minAvailable": -1, "tasks": TWO}, ("minAvailable",)),
    "no tasks": Written({"minAvailable": 1, "tasks": []}, ("tasks",)),
    "two of a name": Written({"tasks": [task("a", 1), task("a", 1)]}, ("tasks", 1, "name")),
    "fewer than the tasks want": Written(
        {"minAvailable": 1, "tasks": [task("a", 4, minAvailable=2), task("b", 4, minAvailable=3)]},
        ("minAvailable",),
        refused=False,
    ),
    "nothing said": Written({"tasks": TWO}, None, refused=False),
    "a negative number": Written({"tasks": [task("a", -1)]}, ("tasks", 0, "replicas")),
    "a name with a dot": Written({"tasks": [task("a.b", 1)]}, ("tasks", 0, "name")),
    "no event": Written({"tasks": TWO, "policies": [{"action": "RestartJob"}]}, ("policies", 0)),
    "an event of the controller's own": Written(
        {"tasks": TWO, "policies": [{"event": "PodRunning", "action": "RestartJob"}]}, ("policies", 0)
    ),
    "an event twice": Written({"tasks": TWO, "policies": [RESTART, RESTART]}, ("policies", 1)),
    "every event and another": Written(
        {"tasks": TWO, "policies": [{"event": "*", "action": "AbortJob"}, RESTART]}, ("policies",)
    ),
    "success as a reason": Written(
        {"tasks": TWO, "policies": [{"exitCode": 0, "action": "RestartJob"}]}, ("policies", 0, "exitCode")
    ),
    "event and exit code": Written({"tasks": TWO, "policies": [{**RESTART, "exitCode": 3}]}, ("policies", 0)),
    "an action of the controller's own": Written(
        {"tasks": TWO, "policies": [{"event": "PodFailed", "action": "SyncJob"}]}, ("policies", 0, "action")
    ),
    "no such plugin": Written({"tasks": TWO, "plugins": {"horovod": []}}, ("plugins", "horovod")),
    "mpi without a master": Written({"tasks": TWO, "plugins": {"mpi": []}}, ("plugins", "mpi")),
    "mpi with one": Written(
        {"tasks": [task("launcher", 1), task("worker", 2)], "plugins": {"mpi": ["--master=launcher"]}},
        None,
        refused=False,
    ),
    "two highest tiers": Written(
        {"tasks": TWO, "networkTopology": {"mode": "hard", "highestTierAllowed": 1, "highestTierName": "rack"}},
        ("networkTopology",),
    ),
    "no highest tier": Written(
        {"tasks": TWO, "networkTopology": {"mode": "hard"}}, ("networkTopology",), refused=False
    ),
    "GPUs under limits only": Written(
        {"tasks": [{**task("a", 1), "template": template(limits_only=True)}]},
        ("tasks", 0, "template", "spec", "containers", 0, "resources", "limits"),
        refused=False,
    ),
    "pods with long names": Written({"tasks": [task("worker", 100)]}, ("tasks", 0, "name"), False, "a" * 54),
}
