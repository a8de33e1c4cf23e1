"""Laws about queues: among themselves, against the pools, and towards the workloads that name them."""

from policies import queue_objects
from policies.fields import Field, UnreadableError
from policies.queue_objects import Queues
from policies.rules import Level, Report, Resource, Severity, Stack, StackRule, rule
from policies.workloads import naming, queue_fields


@rule(
    StackRule,
    id="queue-sums",
    severity=Severity.HIGH,
    what="Queues can keep what they promise: to themselves, to their parts, and out of the pools.",
    why=(
        "Volcano refuses a queue that contradicts its parent only when it is created, halfway through an update. More "
        "than the pools hold it accepts: then no queue can have its share, and reclaiming never ends."
    ),
    fix="Lower the amount that is named, or raise the one that bounds it.",
    link="https://volcano.sh/en/docs/hierarchical_queue/",
)
def queue_sums(stack: Stack, report: Report) -> None:
    """Judge all Queue objects together by the model's rules."""
    found = queue_objects.read(stack, report)
    if found.above:
        # Not at the top: the model behind it would double the time that the pack needs to start.
        from policies import queue_tree

        queue_tree.judge(stack, found, report)


@rule(
    StackRule,
    id="queue-claims",
    severity=Severity.MEDIUM,
    level=Level.ADVISORY,
    what="A queue without parts deserves GPUs alone, or cores alone, and of others only what is guaranteed to it.",
    why=(
        "Volcano lets a queue take back while it is within its share in any resource, and takes from it while it is "
        "above in any. Two queues above their share of GPUs and within in memory evict each other's gangs for ever."
    ),
    fix="Leave the others out of `deserved`; `capability` bounds them.",
    link="https://github.com/volcano-sh/volcano/blob/v1.15.1/docs/user-guide/how_to_use_capacity_plugin.md",
)
def queue_claims(stack: Stack, report: Report) -> None:
    """Judge by the model's rule what each Queue object deserves."""
    found = queue_objects.read(stack, report)
    if found.above and found.complete:  # else one may be a part that is not known yet
        # Not at the top: the model behind it would double the time that the pack needs to start.
        from policies import queue_tree

        queue_tree.judge_claims(found, report)


@rule(
    StackRule,
    id="queue-exists",
    severity=Severity.HIGH,
    what="A workload names a queue of this stack, and one without parts.",
    why=(
        "Volcano refuses the gang, KubeRay only logs that, and a pod waits without a word: nothing ever runs, and "
        "`up` looks well."
    ),
    fix="Name a leaf of the queue tree.",
    link="https://volcano.sh/en/docs/queue/",
)
def queue_exists(stack: Stack, report: Report) -> None:
    """Judge the queue that each workload names. A stack without queues uses those of another one."""
    found = queue_objects.read(stack, Report())
    if not found.above and found.complete:
        return
    for resource in stack.resources:
        for pod in resource.pods.pods:
            with report.reading(resource.urn):
                for field in queue_fields(pod, naming("volcano", pod)):
                    _queue_exists(field, found, resource, report)


def _queue_exists(field: Field, found: Queues, resource: Resource, report: Report) -> None:
    name = field.text()
    if not name or name == queue_objects.DEFAULT:
        return
    if found.below(name):
        report.violation(field, f"{field} has parts, and work goes to the parts", resource.urn)
    elif name not in found.above and found.complete:
        report.violation(field, f"{field} is no queue of this stack", resource.urn)
    elif name not in found.above:
        raise UnreadableError(field, f"names {field}, and not all queues are known yet")


RULES = (
    queue_claims,
    queue_exists,
    queue_sums,
)
