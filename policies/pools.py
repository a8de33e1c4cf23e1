"""Laws about pods and the pools of the document that they are meant for."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from model import gpu_requests, queue_labels
from policies import agents, placement
from policies.fields import Field
from policies.pods import Pod
from policies.rules import Level, PodRule, Report, Resource, Severity, Stack, StackRule, rule
from policies.scopes import EFA, RDMA, of_system

if TYPE_CHECKING:
    from model.environment import Environment
    from model.placing import Requirement

_TAINTS = "https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/"
_SELECTORS = "https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/"


@rule(
    StackRule,
    id="agent-tolerations",
    severity=Severity.HIGH,
    what="A DaemonSet tolerates the taints of every pool that it is meant for.",
    why=(
        "Kubernetes counts a node that repels a pod of a DaemonSet as one that needs none: it says that all are ready. "
        "The node then has no GPUs, no metrics or no network, and nobody is told."
    ),
    fix="Add the toleration: `{key: …, operator: Exists, effect: …}` for each taint of the pool.",
    link=_TAINTS,
)
def agent_tolerations(stack: Stack, report: Report) -> None:
    """Judge DaemonSets that choose pools, by labels that the document speaks of, or serve the devices of some."""
    for resource, pod, env in _pods(stack):
        if pod.kind == "DaemonSet":
            with report.reading(resource.urn):
                _tolerated(pod, _chosen(pod, env) or agents.served(pod, env), env, resource, report)


@rule(
    StackRule,
    id="workload-tolerations",
    severity=Severity.HIGH,
    what="A workload tolerates the taints of the pools that it asks for.",
    why="No node takes its pods: they wait for ever, and the gang with them.",
    fix="Add the toleration: `{key: …, operator: Exists, effect: …}` for each taint of the pool.",
    link=_TAINTS,
)
def workload_tolerations(stack: Stack, report: Report) -> None:
    """Judge all other pods that choose pools. What Kueue admits gets tolerations with its flavor."""
    for resource, pod, env in _pods(stack):
        if pod.kind != "DaemonSet" and not pod.partial:
            with report.reading(resource.urn):
                if not pod.object.at("metadata", "labels", queue_labels.KUEUE).text():
                    _tolerated(pod, _chosen(pod, env), env, resource, report)


def _chosen(pod: Pod, env: "Environment") -> list[str]:
    from model import placing

    return placement.chosen(placement.terms(pod.spec), placing.labels(env))


def _tolerated(pod: Pod, names: Iterable[str], env: "Environment", resource: Resource, report: Report) -> None:
    from model import placing

    tolerations = placement.tolerations(pod.spec)
    kept = {name: placing.repelling(env.pools[name].taints, tolerations) for name in names}
    for taint in dict.fromkeys(taint for taints in kept.values() for taint in taints):
        pools = ", ".join(name for name, taints in kept.items() if taint in taints)
        said = f"{taint.key}={taint.value}" if taint.value else taint.key
        message = f"the nodes of {pools} have the taint {said}:{taint.effect}, which it does not tolerate"
        report.violation(pod.spec.path + ".tolerations" if pod.spec.path else "tolerations", message, resource.urn)


@rule(
    StackRule,
    id="pool-labels",
    severity=Severity.HIGH,
    what="A pod asks for nodes that some pool of the document has.",
    why="A selector with a slip of the pen means no node at all: the pod waits for ever, and `up` has succeeded.",
    fix="Select by `gangline.dev/pool`, with the name of a pool.",
    link=_SELECTORS,
)
def pool_labels(stack: Stack, report: Report) -> None:
    """Judge selectors by labels that the document speaks of; others are for nodes that it knows nothing of."""
    for resource, pod, env in _pods(stack):
        with report.reading(resource.urn):
            _some_pool(pod, env, resource, report)


def _some_pool(pod: Pod, env: "Environment", resource: Resource, report: Report) -> None:
    found = [_unmet(term, env) for term in placement.terms(pod.spec)]
    for field, message in found[0] if all(found) else ():
        report.violation(field, message, resource.urn)


def _unmet(term: "Sequence[tuple[Requirement, Field]]", env: "Environment") -> list[tuple[Field, str]]:
    """What of a term no pool meets: where, and why. One pool must meet all that the document speaks of."""
    from model import nodes, placing

    if env.cluster.provider == "existing" and all(requirement.key != nodes.POOL_LABEL for requirement, _ in term):
        return []  # a cluster that is there already may have nodes of no pool
    told, pools = placing.told(env), placing.labels(env).values()
    if any(all(placing.may_meet(requirement, labels, told) for requirement, _ in term) for labels in pools):
        return []
    alone = [it for it in term if not any(placing.may_meet(it[0], labels, told) for labels in pools)]
    why = "no pool has it" if alone else "no pool has all that the pod asks for"
    return [(field, f"{why}; {it.key} is {_values(it.key, pools)}") for it, field in alone or term[:1]]


def _values(key: str, pools: Iterable[Mapping[str, str]]) -> str:
    return ", ".join(sorted({labels[key] for labels in pools if key in labels})) or "on no node"


@rule(
    StackRule,
    id="device-advertised",
    severity=Severity.HIGH,
    what="What a pod asks for of GPUs and NICs, a node of its pool offers.",
    why=(
        "A resource that no device plugin advertises, or more of it than one node has, is no error to anybody: the pod "
        "waits for ever."
    ),
    fix="Ask for what the pool offers: its `sharing` and `fabric` decide the names (docs/reference/environment.md).",
    link="https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/",
)
def device_advertised(stack: Stack, report: Report) -> None:
    """Judge what the containers of a pod ask for in all, against each pool that it may go to."""
    for resource, pod, env in _pods(stack):
        with report.reading(resource.urn):
            if asked := _devices(pod, report, resource.urn):
                _offered(pod, asked, env, resource, report)


def _devices(pod: Pod, report: Report, urn: str) -> dict[str, tuple[Field, Decimal]]:
    """What a pod asks for of devices: where it is said first, and how many at once.

    That is the sum of its containers and sidecars, or what one init container asks for beside the sidecars that have
    started before it, if that is more (https://kubernetes.io/docs/concepts/workloads/pods/init-containers/).
    """
    sidecars: dict[str, Decimal] = {}
    most: dict[str, tuple[Field, Decimal]] = {}
    with report.reading(urn):
        for container in pod.spec["initContainers"].items():
            stays = container["restartPolicy"].text() == "Always"
            for name, (field, amount) in _asked(container).items():
                before = sidecars.get(name, Decimal(0))
                if stays:
                    sidecars[name] = before + amount
                _raise(most, name, field, before + amount)
    running: dict[str, tuple[Field, Decimal]] = {}
    for container in pod.spec["containers"].items():
        for name, (field, amount) in _asked(container).items():
            first, before = running.get(name, (field, sidecars.get(name, Decimal(0))))
            running[name] = first, before + amount
    for name, (field, amount) in running.items():
        _raise(most, name, field, amount)
    return most


def _raise(most: dict[str, tuple[Field, Decimal]], name: str, field: Field, amount: Decimal) -> None:
    if name not in most or amount > most[name][1]:
        most[name] = field, amount


def _asked(container: Field) -> dict[str, tuple[Field, Decimal]]:
    found: dict[str, tuple[Field, Decimal]] = {}
    for name, field in container.at("resources", "limits").members().items():
        if gpu_requests.is_gpu(name) or name == EFA or name.startswith(RDMA):
            amount = field.quantity()
            if amount is not None and amount.value > 0:
                found[name] = field, amount.value
    return found


def _offered(
    pod: Pod, asked: Mapping[str, tuple[Field, Decimal]], env: "Environment", resource: Resource, report: Report
) -> None:
    from model import nodes

    chosen = _chosen(pod, env)
    if not chosen and env.cluster.provider == "existing":
        return  # a cluster that is there already may have nodes of no pool
    names = chosen or list(env.pools)
    offers = {name: nodes.offered(env, name) for name in names}
    for device, (field, amount) in asked.items():
        most = max((offer.get(device, Decimal(0)) for offer in offers.values()), default=Decimal(0))
        if amount > most:
            where = f"pool {names[0]}" if len(names) == 1 else "any pool" if len(names) == len(env.pools) else "them"
            said = f"a node of {where} offers {most:f}" if most else f"no node of {where} offers {device}"
            report.violation(field, f"asks for {amount:f}, {said}", resource.urn)


def _pods(stack: Stack) -> "Iterator[tuple[Resource, Pod, Environment]]":
    """All pods of a stack that has a document, with the document; it is read when there is a pod."""
    for resource in stack.resources:
        for pod in resource.pods.pods:
            if (env := stack.environment) is not None:
                yield resource, pod, env


@rule(
    PodRule,
    id="wildcard-tolerations",
    severity=Severity.MEDIUM,
    level=Level.ADVISORY,
    what="Only DaemonSets and the system tolerate every taint.",
    why=(
        "Such a pod is not moved from a node that is drained or broken, and takes room on the nodes that a taint keeps "
        "for others."
    ),
    fix="Name the taints: `{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}`.",
    link=_TAINTS,
)
def wildcard_tolerations(pod: Pod, report: Report) -> None:
    """Judge tolerations without a key."""
    if pod.kind == "DaemonSet":
        return
    for toleration in pod.spec["tolerations"].items():
        with report.reading():
            if (
                toleration["operator"].text() == "Exists"
                and not toleration["key"].text()
                and not of_system(pod, report)
            ):
                report.violation(toleration, "tolerates every taint")


RULES = (agent_tolerations, workload_tolerations, pool_labels, device_advertised, wildcard_tolerations)
