"""Laws about how work ends, and how it goes on when a node goes."""

from collections.abc import Iterator

from policies import placement
from policies.fields import Field
from policies.pods import Pod
from policies.rules import Level, Report, Resource, ResourceRule, Severity, Stack, StackRule, rule
from policies.scopes import gpu_amounts

_JOBS = (
    "kubernetes:batch/v1:Job",
    "kubernetes:batch.volcano.sh/v1alpha1:Job",
    "kubernetes:jobset.x-k8s.io/v1alpha2:JobSet",
)
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
_KEPT = ("persistentVolumeClaim", "csi", "nfs", "cephfs", "glusterfs")
"""Volumes that are more than their pod or its node. Where an inline one of CSI is, only its driver knows."""
_TIRELESS = "RestartJobSetAndIgnoreMaxRestarts"
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
        "Job and RayJob: `backoffLimit` of 1 or more. JobSet: `failurePolicy: {maxRestarts: 3}`. Make a Job in place "
        "of a bare pod."
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
            if spec["backoffLimit"].whole() == 0:
                return spec["backoffLimit"], "the job ends with its first lost pod"
        case "jobset.x-k8s.io", "JobSet":
            jobs = [job.at("template", "spec", "backoffLimit") for job in spec["replicatedJobs"].items()]
            ending = [limit for limit in jobs if limit.whole() == 0]
            if ending and not _set_restarts(spec):
                return ending[0], "the job ends with its first lost pod, and the set with the job"
        case "ray.io", "RayJob":
            if not spec["backoffLimit"].whole():
                return spec["backoffLimit"], "the job ends with its first lost node"
        case "batch.volcano.sh", "Job":
            places = [spec["policies"], *(task["policies"] for task in spec["tasks"].items())]
            if not any(_restarts(policy) for place in places for policy in place.items()):
                return spec["policies"], "nothing starts the job anew when a pod is lost"
    return None


def _set_restarts(spec: Field) -> bool:
    policy = spec["failurePolicy"]
    return bool(policy["maxRestarts"].whole()) or any(
        each["action"].text() == _TIRELESS for each in policy["rules"].items()
    )


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
            kept = any(volume[kind].value is not None for volume in volumes.items() for kind in _KEPT)
            # Volcano puts claims of the job into all of its pods.
            if not kept and not (pod.group == "batch.volcano.sh" and _claims(pod.object["spec"])):
                report.violation(volumes, "nothing here is left when the pods are gone", resource.urn)


def _claims(spec: Field) -> bool:
    spec = spec.at("jobTemplate", "spec") if spec["jobTemplate"].value is not None else spec
    return bool(spec["volumes"].items())


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

    names = placement.chosen(placement.terms(pod.spec), placing.labels(env))
    return bool(names) and all(env.pools[name].capacity.kind == "spot" for name in names)


RULES = (declared_jobs, spot_restarts, spot_volumes)
