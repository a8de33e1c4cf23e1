"""Laws about how work ends, and how it goes on when a node goes."""

from collections.abc import Iterator

from policies import placement
from policies.fields import Field
from policies.pods import Pod
from policies.rules import Level, PodRule, Report, Resource, Severity, Stack, StackRule, rule
from policies.scopes import gpu_amounts

_JOBS = {
    # Where the time is after which what has ended is deleted, by group and kind.
    ("batch", "Job"): ("spec", "ttlSecondsAfterFinished"),
    ("batch", "CronJob"): ("spec", "jobTemplate", "spec", "ttlSecondsAfterFinished"),
    ("batch.volcano.sh", "Job"): ("spec", "ttlSecondsAfterFinished"),
    ("batch.volcano.sh", "CronJob"): ("spec", "jobTemplate", "spec", "ttlSecondsAfterFinished"),
    ("jobset.x-k8s.io", "JobSet"): ("spec", "ttlSecondsAfterFinished"),
}
_ENDING = frozenset({*_JOBS, ("core", "Pod"), ("ray.io", "RayJob")})
_LOSSES = frozenset({"*", "PodEvicted", "PodFailed"})
_KEPT = ("persistentVolumeClaim", "csi", "nfs", "cephfs", "glusterfs", "hostPath", "ephemeral")
_SPOT = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html"


@rule(
    PodRule,
    id="job-ttl",
    severity=Severity.LOW,
    level=Level.ADVISORY,
    what="Jobs with GPUs say when they are cleared away after their end.",
    why=(
        "A job that has ended keeps its name and its pods: thousands of them slow down the scheduler, and the next "
        "job of that name is refused."
    ),
    fix="Set `ttlSecondsAfterFinished`, such as 604800 for a week.",
    link="https://kubernetes.io/docs/concepts/workloads/controllers/ttlafterfinished/",
)
def job_ttl(pod: Pod, report: Report) -> None:
    """Judge the objects of jobs whose pods use GPUs."""
    path = _JOBS.get((pod.group, pod.kind))
    if path is None or pod.partial:
        return
    ttl = pod.object.at(*path)
    if ttl.quantity() is None and any(gpu_amounts(container) for container in pod.containers):
        report.violation(ttl, "says nothing, so it stays until somebody deletes it")


@rule(
    StackRule,
    id="spot-restarts",
    severity=Severity.HIGH,
    what="Work on spot nodes starts anew when it loses one.",
    why="A spot node goes at two minutes' notice. A job that ends with its first lost pod is sent again by hand.",
    fix=(
        "Volcano Job: `policies: [{event: PodEvicted, action: RestartJob}, {event: PodFailed, action: RestartJob}]`. "
        "Job and RayJob: `backoffLimit` of 1 or more. In place of a bare pod make a Job."
    ),
    link=_SPOT,
)
def spot_restarts(stack: Stack, report: Report) -> None:
    """Judge work that ends, on the document's spot pools."""
    for resource, pod in _on_spot(stack, report):
        with report.reading(resource.urn):
            if found := _never_again(pod):
                report.violation(*found, resource.urn)


def _never_again(pod: Pod) -> tuple[Field, str] | None:
    spec = pod.object["spec"]
    match pod.group, pod.kind:
        case "core", "Pod":
            return pod.metadata, "a bare pod is gone with its node"
        case "batch", "Job":
            limit = spec["backoffLimit"].quantity()
            if limit is not None and limit.value == 0:
                return spec["backoffLimit"], "the job ends with its first lost pod"
        case "ray.io", "RayJob":
            limit = spec["backoffLimit"].quantity()
            if limit is None or limit.value == 0:
                return spec["backoffLimit"], "the job ends with its first lost node"
        case "batch.volcano.sh", "Job":
            places = [spec["policies"], *(task["policies"] for task in spec["tasks"].items())]
            if not any(_restarts(policy) for place in places for policy in place.items()):
                return spec["policies"], "nothing starts the job anew when a pod is lost"
    return None


def _restarts(policy: Field) -> bool:
    events = {policy["event"].text() or "", *(each.text() or "" for each in policy["events"].items())}
    return bool(events & _LOSSES) and (policy["action"].text() or "").startswith("Restart")


@rule(
    StackRule,
    id="spot-volumes",
    severity=Severity.MEDIUM,
    level=Level.ADVISORY,
    what="Work on spot nodes has a volume that outlives its pods.",
    why="Without a checkpoint that is kept elsewhere it begins from nothing each time when a node goes.",
    fix="Mount a claim of the shared tier and write checkpoints there; better, `checkpoints: true` in the document.",
    link=_SPOT,
)
def spot_volumes(stack: Stack, report: Report) -> None:
    """Judge work that ends, on the document's spot pools. What writes to a bucket by itself needs no volume."""
    for resource, pod in _on_spot(stack, report):
        with report.reading(resource.urn):
            volumes = pod.spec["volumes"]
            if not any(volume[kind].value is not None for volume in volumes.items() for kind in _KEPT):
                report.violation(volumes, "nothing here is left when the pods are gone", resource.urn)


def _on_spot(stack: Stack, report: Report) -> Iterator[tuple[Resource, Pod]]:
    """Pods with GPUs, of work that ends, which may only run on spot nodes."""
    for resource in stack.resources:
        for pod in resource.pods.pods:
            if (pod.group, pod.kind) in _ENDING and not pod.partial:
                with report.reading(resource.urn):
                    if any(gpu_amounts(container) for container in pod.containers) and _only_spot(stack, pod):
                        yield resource, pod


def _only_spot(stack: Stack, pod: Pod) -> bool:
    env = stack.environment
    if env is None:
        return False
    from model import placing

    names = placement.chosen(placement.terms(pod), placing.labels(env))
    return bool(names) and all(env.pools[name].capacity.kind == "spot" for name in names)


RULES = (job_ttl, spot_restarts, spot_volumes)
