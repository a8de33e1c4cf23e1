"""What KAI is told: the same queues in its own units, and where nodes stand.

KAI knows quotas of cores, memory and GPUs, and lends whatever a queue does not use. Facts:
https://github.com/NVIDIA/KAI-Scheduler v0.13.0, docs/queues/README.md, docs/topology/README.md,
deployments/kai-scheduler/{crds,values.yaml}, pkg/podgrouper/podgrouper/plugins.
"""

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from . import nodes, queues
from .quotas import Quota, resolved
from .topology import HOSTNAME, level_name

if TYPE_CHECKING:
    from .environment import Environment
    from .workloads import Within

NAME = "gangline"
"""The name of the topology."""
KINDS = {"cpu": "cpu", "memory": "memory", nodes.GPU: "gpu"}
"""The resources that its queues know, with their names there."""
PRIORITY_CLASSES = ("build", "build-preemptible", "inference", "train")
"""Those that its chart makes (deployments/kai-scheduler/templates/priorityclasses)."""
NO_LIMIT = -1
_UNITS = {"cpu": Decimal("0.001"), "memory": Decimal(1_000_000), nodes.GPU: Decimal(1)}
"""Thousandths of a core, megabytes and GPUs, in base units."""


def queue_spec(node: queues.QueueNode) -> dict[str, Any]:
    """The `spec` of a queue's object.

    What it does not deserve it has no claim to, and what is not limited is written as such: KAI reads a limit that is
    left out as 0.
    """
    queue = node.queue
    above = {} if node.parent == queues.ROOT else {"parentQueue": node.parent}
    amounts = {
        name: {
            "quota": _in_units(queue.deserved, resource, 0),
            "limit": _in_units(queue.capability, resource, NO_LIMIT),
            "overQuotaWeight": 1,
        }
        for resource, name in KINDS.items()
    }
    return {**above, "priority": queue.priority, "resources": amounts}


def _in_units(quota: Quota, resource: str, absent: int) -> int | float:
    """An amount as its API wants it: a JSON number.

    A float's shortest decimal form is exact for 15 digits, which are bytes of up to 999 TB.
    """
    amount = resolved(quota).get(resource)
    if amount is None:
        return absent
    number = amount.value / _UNITS[resource]
    return int(number) if number % 1 == 0 else float(number)


def topology_spec(env: "Environment") -> dict[str, Any] | None:
    """The `spec` of the Topology; None where nodes carry no labels of it."""
    if not env.topology.node_labels:
        return None
    return {"levels": [{"nodeLabel": label} for label in (*env.topology.node_labels, HOSTNAME)]}


def placing(env: "Environment", within: "Within | None") -> dict[str, str]:
    """Annotations of a workload that must stay close together."""
    if within is None:
        return {}
    label = next(label for label in env.topology.node_labels if level_name(label) == within.level)
    kind = "required" if within.mode == "hard" else "preferred"
    return {"kai.scheduler/topology": NAME, f"kai.scheduler/topology-{kind}-placement": label}


def chart_values(env: "Environment") -> dict[str, Any]:
    """What its chart is told."""
    strategy = {"pack": "binpack", "spread": "spread"}[env.scheduler.placement]
    return {"scheduler": {"placementStrategy": strategy}}
