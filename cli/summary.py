"""What a cluster looks like after `up`: pools, queues, Ray clusters, and where to look next.

Everything here is read from the cluster; only the names of what to look for come from the document.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from lightkube import Client
from lightkube.models.core_v1 import Node as NodeModel
from lightkube.resources.core_v1 import Node, Pod
from rich.table import Table

from model import nodes, queues, quotas, topology
from model.environment import Environment
from model.quantities import Quantity
from model.scheduler import Kind
from twin.paths import CONTEXT

from . import queue_states
from .clusters import connected, of_environment
from .engine import Engine
from .output import console
from .tables import table

if TYPE_CHECKING:
    from twin.cluster import Twin

QUEUES: Mapping[Kind, str] = {
    "volcano": "queues,hypernodes",
    "kueue": "clusterqueues,cohorts,topologies.kueue.x-k8s.io",
    "kai": "queues.scheduling.run.ai,topologies.kai.scheduler",
}
"""What each scheduler has that says what it knows."""
BASIC = ("cpu", "memory")
UNITS = (("Ti", 40), ("Gi", 30), ("Mi", 20))


def show(stack: str, environment: Environment, engine: Engine, *, of_twin: bool) -> None:
    """Print pools, queues with their deserved and used amounts, and where each Ray cluster stands.

    Args:
        stack: The stack's name, which is the environment's.
        environment: The document that was brought up.
        engine: The engine that did it.
        of_twin: Whether that was on the twin.
    """
    with of_environment(stack, environment, engine, of_twin=of_twin) as client:
        if client is None:
            return
        found = list(client.list(Node))
        parts = [_pools(environment, found), _queues(environment, client)]
        if environment.ray.clusters:
            parts.append(_ray(environment, client, found))
    for part in [*parts, _next_steps(stack, environment, of_twin=of_twin)]:
        console.print()
        console.print(part)


def show_nodes(environment: Environment, local: "Twin", pool: str | None) -> None:
    """Print the nodes of the document beside those of the cluster, a line per pool and topology domain."""
    with connected(local.environment(), CONTEXT) as client:
        found = [node for node in client.list(Node) if pool in {None, _labels(node).get(nodes.POOL_LABEL)}]
    levels = [level for level in topology.levels(environment) if level.label]
    groups: defaultdict[tuple[str, ...], list[NodeModel]] = defaultdict(list)
    for node in found:
        groups[
            _labels(node).get(nodes.POOL_LABEL, "-"), *(_labels(node).get(level.label or "", "-") for level in levels)
        ].append(node)
    grid = table("pool", *(level.name for level in levels), "nodes", "ready", "first", "last")
    for key, members in sorted(groups.items()):
        ordered = sorted(_name(node) for node in members)
        grid.add_row(*key, str(len(members)), str(sum(map(_ready, members))), ordered[0], ordered[-1])
    console.print(grid)


def _pools(environment: Environment, found: Sequence[NodeModel]) -> Table:
    grid = table("pool", "declared", "ready", "offered")
    ready = Counter(_labels(node).get(nodes.POOL_LABEL) for node in found if _ready(node))
    for name, pool in environment.pools.items():
        resources = nodes.gpu_resources(pool)
        size = str(pool.size) if isinstance(pool.size, int) else f"{pool.size.min}..{pool.size.max}"
        members = [node for node in found if _labels(node).get(nodes.POOL_LABEL) == name]
        offered = {each: sum((_allocatable(node, each) for node in members), Decimal()) for each in resources}
        parts = [f"{amount:f} {resource}" for resource, amount in offered.items()]
        grid.add_row(name, size, str(ready[name]), ", ".join(parts) or "-")
    return grid


def _queues(environment: Environment, client: Client) -> Table:
    resources = [*sorted(nodes.advertised(environment)), *BASIC]
    grid = table("queue", "state", *(f"{called(resource)} used/deserved" for resource in resources))
    live = queue_states.states(environment, client)
    for node in queues.flatten(environment):
        state, deserved = live.get(node.path, queue_states.State("missing")), quotas.resolved(node.queue.deserved)
        amounts = [_of(resource, state.used, deserved.get(resource)) for resource in resources]
        grid.add_row(node.path, state.called, *amounts)
    return grid


def called(resource: str) -> str:
    """The name of a resource as the head of a column: `GPUs`, `gpu.shared`, `mig-1g.10gb`, `cpu`."""
    return "GPUs" if resource == nodes.GPU else resource.removeprefix("nvidia.com/")


def _of(resource: str, used: Mapping[str, Decimal] | None, deserved: Quantity | None) -> str:
    now = "?" if used is None else _amount(resource, used.get(resource, Decimal()))
    return f"{now} / {_amount(resource, deserved.value) if deserved else '-'}"


def _ray(environment: Environment, client: Client, found: Sequence[NodeModel]) -> Table:
    grid = table("Ray cluster", "queue", "pods running", "placed on")
    by_name = {_name(node): node for node in found}
    levels = [level for level in topology.levels(environment) if level.label]
    for name, cluster in environment.ray.clusters.items():
        pods = list(client.list(Pod, namespace=cluster.namespace, labels={"ray.io/cluster": name}))
        running = [pod for pod in pods if pod.status and pod.status.phase == "Running"]
        hosts = [by_name[pod.spec.nodeName] for pod in running if pod.spec and pod.spec.nodeName in by_name]
        places = []
        for level in levels:
            domains = sorted({_labels(node).get(level.label or "", "-") for node in hosts})
            places.append(f"{len(domains)} {level.name}{'' if len(domains) == 1 else 's'} ({', '.join(domains)})")
        distinct = len({_name(node) for node in hosts})
        places.append(f"{distinct} node{'' if distinct == 1 else 's'}")
        grid.add_row(name, cluster.queue, f"{len(running)} of {len(pods)}", "; ".join(places))
    return grid


def _next_steps(stack: str, environment: Environment, *, of_twin: bool) -> Table:
    grid = Table(box=None, show_header=False, pad_edge=False, title="Where to look next", title_justify="left")
    grid.add_column(no_wrap=True)
    grid.add_column(style="dim")
    if of_twin:
        grid.add_row('eval "$(./gangline twin env)"', "then kubectl and plain pulumi speak to the twin")
    grid.add_row(f"kubectl get {QUEUES[environment.scheduler.kind]}", "what the scheduler knows")
    for name, cluster in environment.ray.clusters.items():
        grid.add_row(f"kubectl -n {cluster.namespace} get raycluster {name} -o wide", "the Ray cluster")
    if of_twin:
        grid.add_row("./gangline twin status", "processes, memory, and what is simulated")
        grid.add_row(_destroy(stack, environment), "takes it all down")
    return grid


def _destroy(stack: str, environment: Environment) -> str:
    words = ["./gangline", "destroy"]
    if stack != "twin":
        words.append(stack)
    if environment.cluster.context != CONTEXT:
        words.append("--twin")
    return " ".join(words)


def _labels(node: NodeModel) -> dict[str, str]:
    return (node.metadata.labels if node.metadata else None) or {}


def _name(node: NodeModel) -> str:
    return (node.metadata.name if node.metadata else None) or "?"


def _ready(node: NodeModel) -> bool:
    conditions = (node.status.conditions if node.status else None) or []
    return any(condition.type == "Ready" and condition.status == "True" for condition in conditions)


def _allocatable(node: NodeModel, resource: str) -> Decimal:
    return _value(((node.status.allocatable if node.status else None) or {}).get(resource, "0"))


def _value(text: str) -> Decimal:
    return Quantity.parse(text).value


def _amount(resource: str, value: Decimal) -> str:
    if resource != "memory" or not value:
        return f"{value.normalize():f}"
    for unit, power in UNITS:
        if value % (1 << power) == 0:
            return f"{value / (1 << power):f}{unit}"
    return f"{value / (1 << 30):.1f}Gi"
