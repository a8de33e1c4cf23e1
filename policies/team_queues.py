"""The law about queues that the team of a namespace may use."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from model import laws, queue_labels
from policies.fields import Field
from policies.pods import Pod
from policies.rules import Report, Resource, Stack, StackRule, rule
from policies.workloads import naming, queue_fields, uses_gpus

if TYPE_CHECKING:
    from model.environment import Environment

POD_GROUPS = (
    "kubernetes:scheduling.volcano.sh/v1beta1:PodGroup",
    "kubernetes:scheduling.volcano.sh/v1beta1:PodGroupPatch",
)


@rule(StackRule, laws.QUEUE_ALLOWED)
def queue_allowed(stack: Stack, report: Report) -> None:
    """Judge the queues that objects in the namespaces of teams name."""
    workloads, groups = [it for it in stack.resources if it.pods.pods], stack.of(*POD_GROUPS)
    if not (workloads or groups) or stack.environment is None:
        return
    scheduler, teams = stack.environment.scheduler.kind, _queues_by_namespace(stack.environment)
    for resource in workloads:
        for pod in resource.pods.pods:
            with report.reading(resource.urn):
                if (allowed := teams.get(_namespace(pod.object))) is not None:
                    _of_pod(pod, scheduler, allowed, resource, report)
    for resource in groups if scheduler == "volcano" else ():
        with report.reading(resource.urn):
            group = resource.properties
            if (allowed := teams.get(_namespace(group))) is not None:
                # A group does not say whether its pods use GPUs.
                _judge(group.at("spec", "queue"), allowed, resource, report, free=False)


def _namespace(object_: Field) -> str:
    return object_.at("metadata", "namespace").text() or "default"


def _of_pod(pod: Pod, scheduler: str, allowed: tuple[str, ...], resource: Resource, report: Report) -> None:
    # What cannot be read of its containers is for `gpu-queue` to note.
    free = not uses_gpus(pod, Report())
    for field in queue_fields(pod, naming(scheduler, pod)):
        with report.reading(resource.urn):
            _judge(field, allowed, resource, report, free=free)


def _judge(field: Field, allowed: tuple[str, ...], resource: Resource, report: Report, *, free: bool) -> None:
    """Judge the name of a queue. Without GPUs nobody is deprived by what runs in the scheduler's own queue."""
    name = field.text()
    if not name or name in allowed or (free and name == queue_labels.DEFAULT):
        return
    report.violation(field, f"{field} is none of the team's queues ({', '.join(sorted(allowed))})", resource.urn)


def _queues_by_namespace(env: "Environment") -> Mapping[str, tuple[str, ...]]:
    # Not at the top: the model behind it would double the time that the pack needs to start.
    from model import tenants

    by_namespace = tenants.by_namespace(env)
    return {namespace: tenants.nameable(env, env.tenants[owner]) for namespace, owner in by_namespace.items()}


RULES = (queue_allowed,)
