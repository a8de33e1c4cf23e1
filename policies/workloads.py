"""Laws about workloads that use GPUs."""

from model import gpu_requests, laws, pod_templates, queue_labels
from policies.fields import Field
from policies.pods import Pod
from policies.rules import PodRule, Report, rule


@rule(PodRule, laws.GPU_LIMITS)
def gpu_limits(pod: Pod, report: Report) -> None:
    """Judge the resources of each container."""
    for container in pod.containers:
        with report.reading():
            _gpu_limits(container["resources"], report)


def _gpu_limits(resources: Field, report: Report) -> None:
    amounts = {}
    for kind in ("requests", "limits"):
        with report.reading():
            amounts[kind] = {
                name: field for name, field in resources[kind].members().items() if gpu_requests.is_any_gpu(name)
            }
    whole = {}
    for kind, fields in amounts.items():
        for name, field in fields.items():
            with report.reading():
                amount = field.quantity()
                whole[kind, name] = amount
                if amount is not None and amount.value % 1:
                    report.violation(field, f"{field} is not a whole number of GPUs")
    if len(amounts) < 2:
        return  # one of the two is unknown, and noted
    for name, request in amounts["requests"].items():
        if name not in amounts["limits"]:
            report.violation(request, f"requests {request} without a limit")
        elif (
            ("requests", name) in whole
            and ("limits", name) in whole
            and whole["requests", name] != whole["limits", name]
        ):
            report.violation(request, f"requests {request}, but the limit is {amounts['limits'][name]}")


@rule(PodRule, laws.GPU_QUEUE)
def gpu_queue(pod: Pod, report: Report) -> None:
    """Judge the place where the kind of workload names its queue."""
    if pod.partial or not uses_gpus(pod, report):
        return
    with report.reading():
        labels = pod.object.at("metadata", "labels")
        if labels[queue_labels.KUEUE].text():
            return  # it holds the object back until there is room; any scheduler may bind the pods
        if labels[queue_labels.KAI].text():
            _scheduled_by(queue_labels.KAI_SCHEDULER, pod, report)
            return
    with report.reading():
        field = queue_field(pod)
        if field is None:
            report.violation("kind", f"a {pod.kind} cannot name a queue for what it makes; make the jobs themselves")
        elif not field.text():
            report.violation(field, "names no queue")
    with report.reading():
        _scheduled_by(queue_labels.VOLCANO_SCHEDULER, pod, report)


def _scheduled_by(name: str, pod: Pod, report: Report) -> None:
    scheduler = pod.spec["schedulerName"]
    if pod.group not in pod_templates.OPERATED and scheduler.text() != name:
        report.violation(scheduler, f"{scheduler.text() or 'the default scheduler'} knows no queues")


def queue_field(pod: Pod) -> Field | None:
    """Give the field in which a kind of workload names its queue; None for one that has no such field.

    Sources: ray-operator/controllers/ray/batchscheduler/volcano (RayCluster and RayJob; a RayService copies its labels
    to its clusters, a RayCronJob gives its jobs none, constructRayJob); volcano.sh/apis/pkg/apis/batch/v1alpha1;
    volcano/pkg/controllers/podgroup (pods).
    """
    match pod.group, pod.kind:
        case "ray.io", "RayCronJob":
            return None
        case "ray.io", _:
            return pod.object.at("metadata", "labels", queue_labels.VOLCANO)
        case "batch.volcano.sh", "CronJob":
            return pod.object.at("spec", "jobTemplate", "spec", "queue")
        case (("batch.volcano.sh" | "flow.volcano.sh"), _):
            return pod.object.at("spec", "queue")
        case _:
            return pod.metadata.at("annotations", queue_labels.ANNOTATION)


def uses_gpus(pod: Pod, report: Report) -> bool:
    """Whether a pod asks for GPUs, as far as is known; what is not is noted."""
    used = False
    for container in pod.containers:
        for kind in ("limits", "requests"):
            with report.reading():
                used |= any(gpu_requests.is_any_gpu(name) for name in container.at("resources", kind).members())
    return used


RULES = (
    gpu_limits,
    gpu_queue,
)
