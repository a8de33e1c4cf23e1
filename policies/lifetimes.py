"""Laws about how work ends, and how it goes on when a node goes."""

from collections.abc import Iterator

from policies import placement
from policies.fields import Field
from policies.pods import Pod
from policies.rules import Level, Report, Resource, ResourceRule, Severity, Stack, StackRule, rule
from policies.scopes import gpu_amounts

_JOBS = ("kubernetes:batch.volcano.sh/v1alpha1:Job", "kubernetes:jobset.x-k8s.io/v1alpha2:JobSet")
_ENDING = frozenset(
    {
        # Work that ends, by group and kind.
        ("core", "Pod"),
        ("batch", "Job"),
        ("batch", "CronJob"),
        ("batch.volcano.sh", "Job"),
        ("batch.volcano.sh", "CronJob"),
        ("jobset.x-k8s.io", "JobSet"),
        ("ray.io", "RayJob"),
    }
)
_LOSSES = frozenset({"*", "PodEvicted", "PodFailed"})
_KEPT = ("persistentVolumeClaim", "csi", "nfs", "cephfs", "glusterfs", "hostPath", "ephemeral")
_SPOT = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html"


@rule(
    ResourceRule,
    types=_JOBS,
    id="declared-jobs",
    severity=Severity.HIGH,
    what="A job that a stack declares does not delete itself.",
    why=(
        "What is gone the next refresh takes for lost, and the `up` after it makes it anew: weeks of training run a "
        "second time."
    ),
    fix="Leave out `ttlSecondsAfterFinished`; take the job out of the program when it is no longer wanted.",
    link="https://www.pulumi.com/docs/iac/cli/commands/pulumi_refresh/",
)
def declared_jobs(job: Field, report: Report) -> None:
    """Judge the objects of jobs. What makes jobs by the clock may have them deleted."""
    ttl = job.at("spec", "ttlSecondsAfterFinished")
    if ttl.quantity() is not None:
        report.violation(ttl, f"it is deleted {ttl} s after its end, and then made again")


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


RULES = (declared_jobs, spot_restarts, spot_volumes)
