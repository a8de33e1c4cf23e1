"""What Kueue is told: the same queues as cohorts and cluster queues, where nodes stand, and what its manager watches.

Kueue admits whole workloads and leaves placing to kube-scheduler. A quota of a cluster queue is per flavour of nodes,
while a quota of ours is a sum over all pools: so all pools are one flavour, and pods are kept on their pool by its
label. Places are given by topology-aware scheduling, down to the host: it looks at the room that is left on each node,
so that a gang is admitted whole or not at all. Facts: https://github.com/kubernetes-sigs/kueue v0.17.0,
apis/kueue/v1beta2, pkg/cache/scheduler/{resource_node,tas_flavor_snapshot}.go.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from . import nodes, queue_places, queues, tenants
from .derived import derived
from .namespaces import KUEUE
from .quantities import written
from .queues import QueueNode
from .quotas import UNCOUNTED, Quota, resolved
from .topology import HOSTNAME, level_name

if TYPE_CHECKING:
    from .environment import Environment
    from .workloads import Within

NAME = "gangline"
"""How the names of the one flavour and of its topology begin."""
EVERY_NODE: Mapping[str, str] = {"kubernetes.io/os": "linux"}
"""What all nodes of the flavour carry: one with a topology must name some label."""
DEFAULT = "default"
"""The local queue of workloads that name none (feature gate LocalQueueDefaulting, on)."""
FRAMEWORKS = tuple(f"{group}/{kind.lower()}" for group, kind in queue_places.WATCHED)
"""The kinds that Kueue watches, as its configuration calls them."""
_REQUIRED = "kueue.x-k8s.io/podset-required-topology"
_PREFERRED = "kueue.x-k8s.io/podset-preferred-topology"
_GROUP = "kueue.x-k8s.io/podset-group-name"


@dataclass(frozen=True)
class LocalQueue:
    """A queue as a namespace sees it.

    Attributes:
        namespace: The namespace.
        name: What workloads name.
        queue: Path of the queue behind it.
    """

    namespace: str
    name: str
    queue: str


def levels(env: "Environment") -> tuple[str, ...]:
    """The node labels of the topology from the widest level to the host itself."""
    return (*env.topology.node_labels, HOSTNAME)


def flavor(env: "Environment") -> str:
    """The name of the flavour and of its topology.

    It changes with the levels: those of a topology, and the topology of a flavour, cannot be changed.
    """
    above = env.topology.node_labels
    return f"{NAME}-{hashlib.sha256(' '.join(above).encode()).hexdigest()[:8]}" if above else NAME


def topology_spec(env: "Environment") -> dict[str, Any]:
    """The `spec` of the Topology."""
    return {"levels": [{"nodeLabel": label} for label in levels(env)]}


def flavor_spec(env: "Environment") -> dict[str, Any]:
    """The `spec` of the ResourceFlavor."""
    return {"nodeLabels": dict(EVERY_NODE), "topologyName": flavor(env)}


@derived
def governed(env: "Environment") -> tuple[str, ...]:
    """The resources of which some queue says how much, sorted."""
    found = {name for node in queues.flatten(env) for quota in _quotas(node) for name in resolved(quota)}
    return tuple(sorted(found))


def _quotas(node: QueueNode) -> tuple[Quota, Quota, Quota]:
    return node.queue.guarantee, node.queue.deserved, node.queue.capability


def cluster_queue_spec(env: "Environment", node: QueueNode) -> dict[str, Any]:
    """The `spec` of a leaf's ClusterQueue.

    It takes workloads of the namespaces of those teams that may use the queue.
    """
    scheduler, namespaces = env.scheduler, _namespaces(env, node.path)
    spec: dict[str, Any] = {
        "cohortName": node.parent,
        "queueingStrategy": "BestEffortFIFO",
        "preemption": {
            "reclaimWithinCohort": "Any" if scheduler.reclaim else "Never",
            "withinClusterQueue": "LowerPriority" if scheduler.preempt else "Never",
        },
        "resourceGroups": [_group(env, _amounts(env, node))],
    }
    if namespaces:
        expression = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": list(namespaces)}
        spec["namespaceSelector"] = {"matchExpressions": [expression]}
    return spec


def cohort_spec(env: "Environment", node: QueueNode) -> dict[str, Any]:
    """The `spec` of the Cohort of a queue with parts."""
    spec: dict[str, Any] = {"parentName": node.parent}
    if governed(env):
        spec["resourceGroups"] = [_group(env, _amounts(env, node))]
    return spec


def root_spec(env: "Environment") -> dict[str, Any]:
    """The `spec` of the Cohort above all queues: it has what the pools offer and no queue deserves."""
    offered = nodes.most_offered(env)
    left = {
        resource: {"nominalQuota": written(resource, max(Decimal(0), offered[resource] - claimed))}
        for resource, claimed in ((name, _deserved(env.queues.values(), name)) for name in governed(env))
    }
    return {"resourceGroups": [_group(env, left)]} if left else {}


def _group(env: "Environment", amounts: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    resources = [{"name": name, **quota} for name, quota in amounts.items()]
    return {"coveredResources": list(amounts), "flavors": [{"name": flavor(env), "resources": resources}]}


def _amounts(env: "Environment", node: QueueNode) -> dict[str, dict[str, str]]:
    """Quotas by resource.

    A leaf has to name whatever its workloads may ask for. What no queue speaks of it may use without limit: it gets
    all there is, so that it never borrows that, and a queue takes back GPUs for a job within what it deserves of them.
    """
    found = {resource: _amount(node, resource) for resource in governed(env)}
    if node.leaf:
        for resource, offered in sorted(nodes.most_offered(env).items()):
            found.setdefault(resource, {"nominalQuota": written(resource, offered)})
    return found


def _amount(node: QueueNode, resource: str) -> dict[str, str]:
    guarantee, deserved, capability = (
        quota[resource].value if resource in quota else None for quota in map(resolved, _quotas(node))
    )
    share = deserved or Decimal(0)
    # What a cohort names is beside what its members have.
    amount = {"nominalQuota": written(resource, share - _deserved(node.queue.queues.values(), resource))}
    if capability is not None:
        amount["borrowingLimit"] = written(resource, capability - share)
    if guarantee:
        amount["lendingLimit"] = written(resource, share - guarantee)
    return amount


def _deserved(parts: Iterable[queues.Queue], resource: str) -> Decimal:
    amounts = (resolved(part.deserved).get(resource) for part in parts)
    return sum((amount.value for amount in amounts if amount is not None), Decimal(0))


def _namespaces(env: "Environment", path: str) -> tuple[str, ...]:
    using = [tenant.namespaces for tenant in env.tenants.values() if tenant.may_use(path)]
    return tuple(sorted(namespace for namespaces in using for namespace in namespaces))


def local_queues(env: "Environment") -> list[LocalQueue]:
    """The local queues: in each namespace of a team those that it may use, by their path, and the default one."""
    found = []
    for namespace, owner in sorted(tenants.by_namespace(env).items()):
        tenant = env.tenants[owner]
        usable = {path: path for path in queues.leaves(env) if tenant.may_use(path)}
        if tenant.default_queue:
            usable[DEFAULT] = tenant.default_queue
        found += [LocalQueue(namespace, name, path) for name, path in sorted(usable.items())]
    return found


def placing(env: "Environment", within: "Within | None", *, parts: int) -> dict[str, str]:
    """Annotations of the pods of a workload that must stay close together; of all its parts, when there are two.

    Args:
        env: The environment.
        within: How close; None for anywhere.
        parts: Of how many kinds its pods are. Two are placed as one.
    """
    if within is None:
        return {}
    label = next(label for label in env.topology.node_labels if level_name(label) == within.level)
    found = {_REQUIRED if within.mode == "hard" else _PREFERRED: label}
    return found | ({_GROUP: "gang"} if parts == 2 else {})


def manager_configuration() -> dict[str, Any]:
    """The manager's configuration file (`controller_manager_config.yaml`) as a value."""
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": ":8081"},
        "metrics": {"bindAddress": ":8443", "enableClusterQueueResources": True},
        "webhook": {"port": 9443},
        "leaderElection": {
            "leaderElect": True,
            "resourceName": "c1f6bfd2.kueue.x-k8s.io",
            "resourceNamespace": KUEUE,
        },
        "controller": {"groupKindConcurrency": {"Job.batch": 5, "Workload.kueue.x-k8s.io": 5}},
        "clientConnection": {"qps": 50, "burst": 100},
        "integrations": {"frameworks": list(FRAMEWORKS)},
        # A cluster queue refuses what it does not cover, and no pool says how much of this it has.
        "resources": {"excludeResourcePrefixes": [UNCOUNTED]},
    }
