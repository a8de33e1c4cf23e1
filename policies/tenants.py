"""Laws about teams: where their work runs, how large it may be, and who may go before whom."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

from policies import placement
from policies.fields import Field
from policies.pods import Pod
from policies.rules import Report, Resource, Severity, Stack, StackRule, rule
from policies.scopes import gpu_amounts, namespace, of_system
from policies.workloads import naming, queue_fields

if TYPE_CHECKING:
    from model.environment import Environment

_CLASS = "kubernetes:scheduling.k8s.io/v1:PriorityClass"
_SYSTEM = "system-"


@rule(
    StackRule,
    id="tenant-namespace",
    severity=Severity.HIGH,
    what="Work with GPUs runs in a namespace of a team.",
    why=(
        "A namespace that is nobody's has no quota, no default queue and no group of people: its GPUs are on nobody's "
        "account, and what holds for teams does not hold there."
    ),
    fix="Move the workload to a namespace of its team, or give the team this one: `tenants.<team>.namespaces`.",
    link="https://kubernetes.io/docs/concepts/security/multi-tenancy/",
)
def tenant_namespace(stack: Stack, report: Report) -> None:
    """Judge the namespaces of pods with GPUs, where the document has teams."""
    for resource in stack.resources:
        for pod in resource.pods.pods:
            with report.reading(resource.urn):
                if (
                    pod.partial
                    or not any(gpu_amounts(container) for container in pod.containers)
                    or of_system(pod, report)
                ):
                    continue
                env = stack.environment
                metadata = pod.object["metadata"]
                if env is not None and env.tenants and not _owned(namespace(metadata), env):
                    message = f"{namespace(metadata)} is no namespace of a team"
                    report.violation(metadata["namespace"], message, resource.urn)


def _owned(name: str, env: "Environment") -> bool:
    from model import tenants

    return name in tenants.by_namespace(env)


@rule(
    StackRule,
    id="gang-fits",
    severity=Severity.HIGH,
    what="The GPUs of a gang fit its queue and its pools.",
    why=(
        "A gang starts whole or not at all. One that is larger than what its queue may use, or than its pools are at "
        "their largest, waits for ever, and the scheduler does not say that it is for ever."
    ),
    fix="Make the gang smaller, or the queue's `capability` or the pool larger.",
    link="https://volcano.sh/en/docs/podgroup/",
)
def gang_fits(stack: Stack, report: Report) -> None:
    """Judge gangs of Volcano Jobs and of Ray clusters by the least that must start together."""
    for resource in stack.resources:
        for pod in resource.pods.pods[:1]:
            with report.reading(resource.urn):
                found = _gang(pod)
                env = stack.environment if found else None
                if env is None:
                    continue
                for name, (field, amount) in found.items():
                    fields = queue_fields(pod, naming(env.scheduler.kind, pod))
                    for message in _too_large(name, amount, resource, env, fields):
                        report.violation(field, message, resource.urn)


def _gang(pod: Pod) -> dict[str, tuple[Field, Decimal]]:
    """What a gang asks for of GPUs at least: where its size is said, and how many, by resource."""
    spec = pod.object["spec"]
    match pod.group, pod.kind:
        case "batch.volcano.sh", "Job":
            least, tasks = spec["minAvailable"].whole(), spec["tasks"].items()
            groups = [(task["replicas"], _together(task), task.at("template", "spec")) for task in tasks]
            if least is not None and least < sum(number for _, number, _ in groups):
                return {}  # which of the pods are the gang is Volcano's choice
        case "ray.io", "RayCluster" | "RayJob":
            cluster = spec if pod.kind == "RayCluster" else spec["rayClusterSpec"]
            key = "minReplicas" if cluster["enableInTreeAutoscaling"].boolean() else "replicas"
            groups = [
                (group[key], group[key].whole() or 0, group.at("template", "spec"))
                for group in cluster["workerGroupSpecs"].items()
            ]
            groups.append((spec, 1, cluster.at("headGroupSpec", "template", "spec")))
        case _:
            return {}
    total: dict[str, tuple[Field, Decimal]] = {}
    for field, number, template in groups:
        for container in template["containers"].items():
            for name, asked in gpu_amounts(container).items():
                amount = asked.quantity()
                first, before = total.get(name, (field, Decimal(0)))
                total[name] = first, before + number * (amount.value if amount is not None else 0)
    return total


def _together(task: Field) -> int:
    """How many pods of a task start together."""
    least = task["minAvailable"].whole()
    return (task["replicas"].whole() or 0) if least is None else least


def _too_large(name: str, amount: Decimal, resource: Resource, env: "Environment", named: list[Field]) -> Iterator[str]:
    from model import nodes, placing, queue_limits

    path = next((said for field in named if (said := field.text())), None)
    for limit in queue_limits.limits(env, path) if path else ():
        if limit.resource == name and amount > limit.amount:
            kept = ", the rest of the queue above being guaranteed to others" if limit.kept else ""
            yield f"the gang asks for {amount:f} of {name}, queue {limit.queue} may use {limit.amount:f}{kept}"
            return
    chosen: dict[str, None] = {}
    for pod in resource.pods.pods:
        if any(name in gpu_amounts(container) for container in pod.containers):
            chosen |= dict.fromkeys(placement.chosen(placement.terms(pod.spec), placing.labels(env)) or env.pools)
    most = sum((nodes.offered(env, pool).get(name, Decimal(0)) * env.pools[pool].most for pool in chosen), Decimal(0))
    if amount > most > 0:
        yield f"the gang asks for {amount:f} of {name}, {', '.join(chosen)} at the largest offer {most:f}"


@rule(
    StackRule,
    id="priority-class",
    severity=Severity.HIGH,
    what="Workloads name priority classes that exist, and none of those that the system keeps for itself.",
    why=(
        "A class that is not there has every pod refused when its operator makes it. One of the system's goes before "
        "all else: it evicts what keeps the node alive."
    ),
    fix="Name a class of the stack, or leave it out.",
    link="https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/",
)
def priority_class(stack: Stack, report: Report) -> None:
    """Judge the classes that pods and gangs name.

    A stack without classes uses those of another one; so does one on a cluster that somebody else runs.
    """
    classes: Mapping[str, None] = {}
    complete = True
    for resource in stack.of(_CLASS):
        name = None
        with report.reading(resource.urn):
            name = resource.properties.at("metadata", "name").text()
        complete = complete and name is not None
        classes = {**classes, **({name: None} if name else {})}
    for resource in stack.resources:
        for pod in resource.pods.pods:
            with report.reading(resource.urn):
                for field in _named(pod):
                    _class(field, pod, classes if complete else {}, (stack, resource), report)


def _named(pod: Pod) -> Iterator[Field]:
    yield pod.spec["priorityClassName"]
    match pod.group, pod.kind:
        case "batch.volcano.sh", "Job":
            yield pod.object.at("spec", "priorityClassName")
        case "ray.io", _:
            yield pod.object.at("metadata", "labels", "ray.io/priority-class-name")
        case _:
            pass


def _class(field: Field, pod: Pod, classes: Mapping[str, None], within: tuple[Stack, Resource], report: Report) -> None:
    stack, resource = within
    name = field.text()
    if not name:
        return
    if name.startswith(_SYSTEM):
        if pod.kind != "DaemonSet" and not of_system(pod, report):
            report.violation(field, f"{field} is for what keeps nodes and cluster alive", resource.urn)
    elif classes and name not in classes and not _made_elsewhere(name, stack):
        report.violation(field, f"{field} is no class of this stack: {', '.join(sorted(classes))}", resource.urn)


def _made_elsewhere(name: str, stack: Stack) -> bool:
    env = stack.environment
    if env is None:
        return False
    from model import kai

    return env.cluster.provider == "existing" or (env.scheduler.kind == "kai" and name in kai.PRIORITY_CLASSES)


RULES = (tenant_namespace, gang_fits, priority_class)
