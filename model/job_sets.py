"""What JobSet is told: a training job for schedulers that have no kind of their own for one.

Facts: https://github.com/kubernetes-sigs/jobset v0.11.1, api/jobset/v1alpha2 and pkg/webhooks/jobset_webhook.go.
"""

from typing import TYPE_CHECKING, Any

from . import submission
from .counts import most
from .names import LABEL
from .training import WORKING, TrainingJob

if TYPE_CHECKING:
    from .environment import Environment

PORT = 23456
"""Where the first worker is met, as with Volcano's plugin."""
INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
"""The field of a pod that has its number (https://kubernetes.io/docs/concepts/workloads/controllers/job/)."""
_RANDOM = "-abcde"


def longest_pod(name: str, job: TrainingJob) -> str:
    """The longest name of a pod, as JobSet's webhook counts it."""
    return f"{name}-{WORKING}-0-{most(job.workers.count) - 1}{_RANDOM}"


def fits(name: str, job: TrainingJob) -> bool:
    """Whether JobSet takes a job of this name."""
    return len(longest_pod(name, job)) <= LABEL


def variables(name: str, job: TrainingJob) -> dict[str, str]:
    """The variables by which workers find each other; the rank is a field of the pod (`INDEX`)."""
    if job.framework != "pytorch":
        return {}
    return {
        # Pods have the name of the JobSet as subdomain.
        "MASTER_ADDR": f"{name}-{WORKING}-0-0.{name}",
        "MASTER_PORT": str(PORT),
        "WORLD_SIZE": str(most(job.workers.count)),
    }


def fields(job: TrainingJob) -> dict[str, str]:
    """Variables whose value is a field of the pod."""
    return {"RANK": INDEX} if job.framework == "pytorch" else {}


def metadata(env: "Environment", job: TrainingJob) -> dict[str, Any]:
    """Labels and annotations of the JobSet."""
    sent = submission.of(env, job)
    return {"labels": dict(sent.labels), "annotations": dict(sent.annotations)}


def spec(job: TrainingJob, template: Any) -> dict[str, Any]:
    """The `spec` of the JobSet around the template of its pods.

    A pod that fails fails its job, and with that all of the JobSet starts anew, so often as the document says.
    """
    workers = most(job.workers.count)
    inner = {
        "parallelism": workers,
        "completions": workers,
        "completionMode": "Indexed",
        "backoffLimit": 0,
        "template": template,
    }
    return {
        "failurePolicy": {"maxRestarts": job.restarts},
        # In order KAI makes a gang of each of its jobs, not of all of them.
        "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
        "replicatedJobs": [{"name": WORKING, "replicas": 1, "template": {"spec": inner}}],
    }
