"""Volcano Jobs: what a training job is to Volcano, all but the templates of its pods."""

from typing import TYPE_CHECKING, Any

from . import topology
from .counts import fewest, most
from .training import TrainingJob

if TYPE_CHECKING:
    from .environment import Environment

REPLACED = (
    "spec.queue",
    "spec.maxRetry",
    "spec.minSuccess",
    "spec.networkTopology",
    "spec.plugins",
    "spec.policies",
    "spec.tasks[*].name",
    "spec.tasks[*].policies",
    "spec.tasks[*].template",
)
"""What Volcano lets nobody change in a job that is there (pkg/webhooks/admission/jobs/validate, validateJobUpdate)."""
COUNTED = ("spec.minAvailable", "spec.tasks[*].replicas", "spec.tasks[*].minAvailable")
"""What it lets change: the numbers of pods."""


def replaced(job: TrainingJob) -> tuple[str, ...]:
    """What of its object cannot be changed in place.

    Pods that know how many they are would go on with the old number: WORLD_SIZE and MPI_HOST are in their environment.
    """
    return REPLACED if job.framework == "none" else (*REPLACED, *COUNTED)


def spec(env: "Environment", job: TrainingJob) -> dict[str, Any]:
    """The `spec` of its Volcano object without `tasks`.

    A job that no pod leads is complete when all its workers are: the first one that has ended would otherwise end those
    that still write.
    """
    count = job.workers.count
    together = fewest(count) + (1 if job.launcher else 0)
    found: dict[str, Any] = {
        "schedulerName": "volcano",
        "queue": job.queue,
        "minAvailable": together,
        # Volcano gives up when it has restarted as often as this, the first start included.
        "maxRetry": job.restarts + 1,
        "plugins": _plugins(job),
        "policies": [{"events": ["PodEvicted", "PodFailed"], "action": "RestartJob"}],
    }
    if fewest(count) < most(count):
        # Those that never found room would keep it from being complete.
        found["minSuccess"] = together
    if job.priority:
        # Volcano gives it to the gang and to the pods.
        found["priorityClassName"] = job.priority
    if job.within:
        levels = topology.levels(env)
        tier = next(level.tier for level in levels if level.name == job.within.level)
        found["networkTopology"] = {"mode": job.within.mode, "highestTierAllowed": tier}
    return found


def _plugins(job: TrainingJob) -> dict[str, list[str]]:
    """Volcano's job plugins. Those that a framework brings by itself are written out: they would show as a change."""
    # Workers look for each other before any of them is ready.
    found: dict[str, list[str]] = {"env": [], "svc": ["--publish-not-ready-addresses=true"]}
    if job.framework == "mpi":
        found |= {"mpi": [f"--master={job.leader}", "--worker=worker"], "ssh": []}
    elif job.framework == "pytorch":
        found["pytorch"] = ["--master=master", "--worker=worker"]
    return found


def tasks(job: TrainingJob) -> dict[str, dict[str, Any]]:
    """Its tasks by name, in order, without their templates.

    All numbers are written out, since Volcano writes those that are left out, and they would show as a change.
    """
    least, whole = job.tasks(fewest(job.workers.count)), job.tasks(most(job.workers.count))
    return {
        name: {
            "name": name,
            "replicas": replicas,
            "minAvailable": least[name],
            **({"policies": [{"event": "TaskCompleted", "action": "CompleteJob"}]} if name == job.leader else {}),
        }
        for name, replicas in whole.items()
    }
