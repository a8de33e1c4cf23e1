"""Laws about workloads that use GPUs."""

from typing import TYPE_CHECKING

from model import gpu_requests, laws, queue_labels, queue_places
from model.queue_places import Naming
from policies.fields import Field
from policies.pods import Pod
from policies.rules import PodRule, Report, Stack, StackRule, rule
from policies.scopes import namespace

if TYPE_CHECKING:
    from model.environment import Environment


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


@rule(PodRule, laws.GPU_NODE)
def gpu_node(pod: Pod, report: Report) -> None:
    """Judge the node that a pod names itself."""
    node = pod.spec["nodeName"]
    if node.text() and uses_gpus(pod, report):
        report.violation(node, f"goes to {node} past every scheduler")


@rule(StackRule, laws.GPU_QUEUE)
def gpu_queue(stack: Stack, report: Report) -> None:
    """Judge what names a queue to the scheduler of the document; without one, to the one whose label there is."""
    for resource in stack.resources:
        for pod in resource.pods.pods:
            if not pod.partial and uses_gpus(pod, report, resource.urn):
                with report.reading(resource.urn):
                    _gpu_queue(pod, stack.environment, resource.urn, report)


def _gpu_queue(pod: Pod, env: "Environment | None", urn: str, report: Report) -> None:
    labels = pod.object.at("metadata", "labels")
    if env is None and labels[queue_labels.KUEUE].text():
        return  # what Kueue watches is not known
    found = naming("kai" if env is None and labels[queue_labels.KAI].text() else scheduler_of(env), pod)
    with report.reading(urn):
        fields = queue_fields(pod, found)
        if not fields:
            report.violation("kind", f"a {pod.kind} cannot name a queue for its pods here", urn)
        elif not any(field.text() for field in fields) and not _defaulting(pod, env):
            report.violation(fields[0], "names no queue", urn)
    with report.reading(urn):
        scheduler = pod.spec["schedulerName"]
        said = scheduler.text() or (pod.object.at(*found.above).text() or found.scheduler if found.above else None)
        if found.scheduler not in (None, said):
            report.violation(scheduler, f"{said or 'the default scheduler'} knows no queues", urn)


def _defaulting(pod: Pod, env: "Environment | None") -> bool:
    """Whether no name means a queue of the team."""
    if env is None:
        return False
    # Not at the top: the model behind it would double the time that the pack needs to start.
    from model import tenants

    owner = tenants.by_namespace(env).get(namespace(pod.object["metadata"]))
    return owner is not None and queue_labels.DEFAULT in tenants.nameable(env, env.tenants[owner])


def scheduler_of(env: "Environment | None") -> str:
    """The scheduler of a document, or the one that a document has that says nothing of it."""
    return "volcano" if env is None else env.scheduler.kind


def naming(scheduler: str, pod: Pod) -> Naming:
    """How the object that makes a pod names its queue."""
    return queue_places.naming(scheduler, pod.group, pod.kind)


def queue_fields(pod: Pod, found: Naming) -> list[Field]:
    """The fields in which a pod, or the object that makes it, may name its queue."""
    # Pods do so in their metadata.
    return [pod.metadata.at(*place.path[1:]) if place.in_pods else pod.object.at(*place.path) for place in found.places]


def uses_gpus(pod: Pod, report: Report, urn: str = "") -> bool:
    """Whether a pod asks for GPUs, as far as is known; what is not is noted."""
    used = False
    for container in pod.containers:
        for kind in ("limits", "requests"):
            with report.reading(urn):
                used |= any(gpu_requests.is_any_gpu(name) for name in container.at("resources", kind).members())
    return used


RULES = (
    gpu_limits,
    gpu_queue,
    gpu_node,
)
