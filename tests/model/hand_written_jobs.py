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


def parts(total: int, size: int, **more: Any) -> dict[str, Any]:
    """Eight pods in partitions, with what else is said of the task."""
    least = {key: more.pop(key) for key in ("minPartitions", "networkTopology") if key in more}
    return task("a", 8, partitionPolicy={"totalPartitions": total, "partitionSize": size, **least}, **more)


def waiting(name: str, *others: str) -> dict[str, Any]:
    """A task that waits for others."""
    return task(name, 1, dependsOn={"name": list(others)})


TWO = [task("a", 4), task("b", 4)]
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
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
    "partitions": Written({"tasks": [parts(4, 2, minPartitions=3)]}, refused=False),
    "partitions of other numbers": Written({"tasks": [parts(4, 3)]}, ("tasks", 0, "partitionPolicy")),
    "no partitions": Written({"tasks": [parts(0, 8)]}, ("tasks", 0, "partitionPolicy", "totalPartitions")),
    "partitions of nothing": Written({"tasks": [parts(8, 0)]}, ("tasks", 0, "partitionPolicy", "partitionSize")),
    "fewer partitions than none": Written(
        {"tasks": [parts(4, 2, minPartitions=-1)]}, ("tasks", 0, "partitionPolicy", "minPartitions")
    ),
    "more partitions than there are": Written(
        {"tasks": [parts(4, 2, minPartitions=5)]}, ("tasks", 0, "partitionPolicy", "minPartitions")
    ),
    "partitions that the task contradicts": Written(
        {"tasks": [parts(4, 2, minPartitions=3, minAvailable=8)]}, ("tasks", 0, "partitionPolicy", "minPartitions")
    ),
    "partitions that the task leaves open": Written({"tasks": [parts(4, 2, minAvailable=7)]}, refused=False),
    "partitions that are fewer than the job wants": Written(
        {"minAvailable": 4, "tasks": [parts(4, 2, minPartitions=2)]}, refused=False
    ),
    "two highest tiers of partitions": Written(
        {"tasks": [parts(4, 2, networkTopology={"highestTierAllowed": 1, "highestTierName": "rack"})]},
        ("tasks", 0, "partitionPolicy", "networkTopology"),
    ),
    "volumes": Written(
        {
            "tasks": TWO,
            "volumes": [{"mountPath": "/a", "volumeClaim": CLAIM}, {"mountPath": "/b", "volumeClaimName": "b.c"}],
        },
        refused=False,
    ),
    "a volume without a place": Written(
        {"tasks": TWO, "volumes": [{"mountPath": "", "volumeClaimName": "a"}]}, ("volumes", 0, "mountPath")
    ),
    "a volume at two places": Written(
        {"tasks": TWO, "volumes": [{"mountPath": "/a:/b", "volumeClaimName": "a"}]}, ("volumes", 0, "mountPath")
    ),
    "two volumes at a place": Written(
        {"tasks": TWO, "volumes": [{"mountPath": "/a", "volumeClaimName": name} for name in ("a", "b")]},
        ("volumes", 1, "mountPath"),
    ),
    "a volume without a claim": Written({"tasks": TWO, "volumes": [{"mountPath": "/a"}]}, ("volumes", 0)),
    "a volume with two claims": Written(
        {"tasks": TWO, "volumes": [{"mountPath": "/a", "volumeClaim": CLAIM, "volumeClaimName": "a"}]}, ("volumes", 0)
    ),
    "a claim of no name": Written(
        {"tasks": TWO, "volumes": [{"mountPath": "/a", "volumeClaimName": "A"}]}, ("volumes", 0, "volumeClaimName")
    ),
    "an order": Written({"tasks": [task("a", 1), waiting("b", "a"), waiting("c", "b", "a")]}, refused=False),
    "an order of tasks without names": Written(
        {"tasks": [{"replicas": 1, "template": template()}, waiting("b", "default0")]}, refused=False
    ),
    "waiting for nobody": Written({"tasks": [task("a", 1), waiting("b", "z")]}, ("tasks", 1, "dependsOn")),
    "waiting for itself": Written({"tasks": [waiting("a", "a")]}, ("tasks", 0, "dependsOn")),
    "waiting in a circle": Written(
        {"tasks": [task("a", 1), waiting("b", "d"), waiting("c", "b"), waiting("d", "a", "c")]},
        ("tasks", 1, "dependsOn"),
    ),
    "waiting twice": Written({"tasks": [task("a", 1), waiting("b", "a", "a")]}, ("tasks", 1, "dependsOn")),
    "pods with long names": Written({"tasks": [task("worker", 100)]}, ("tasks", 0, "name"), False, "a" * 54),
}
