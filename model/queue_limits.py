"""What a queue may ever use: less than its capability, where the queue above keeps something for its other parts.

As Volcano's capacity plugin has it (realCapability in checkHierarchicalQueue, release 1.15,
https://github.com/volcano-sh/volcano/blob/v1.15.1/pkg/scheduler/plugins/capacity/capacity.go). Its root is infinite, so
among the top queues nothing is taken off. Kueue's cohorts come to the same.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from . import queues, quotas
from .problems import lost

if TYPE_CHECKING:
    from .environment import Environment

Amounts = Mapping[str, Decimal]
"""Amounts by resource in base units."""


@dataclass(frozen=True)
class Limit:
    """What a queue may ever use of a resource.

    Attributes:
        queue: Its path.
        resource: As Kubernetes calls it.
        amount: The most it may use.
        kept: Whether that is less than what is declared, since parts beside it are guaranteed something.
    """

    queue: str
    resource: str
    amount: Decimal
    kept: bool


def below(above: Amounts, promised: Amounts, guarantee: Amounts, capability: Amounts) -> dict[str, Decimal]:
    """What a queue may ever use, of the resources that are limited at all.

    Args:
        above: What the queue above may ever use; nothing at the top.
        promised: What all parts of that are guaranteed in sum, this one too.
        guarantee: What this one is guaranteed.
        capability: Its own limits.
    """
    nothing = Decimal(0)
    most = {
        resource: max(nothing, amount - promised.get(resource, nothing)) + guarantee.get(resource, nothing)
        for resource, amount in above.items()
    }
    for resource, amount in capability.items():
        most[resource] = min(amount, most.get(resource, amount))
    return most


def own(above: Amounts, most: Amounts) -> dict[str, Decimal]:
    """Of what a queue may ever use that which is less than what the one above may: else that one is to be named."""
    return {name: amount for name, amount in most.items() if name not in above or amount < above[name]}


def limits(env: "Environment", path: str) -> Iterator[Limit]:
    """What limits a workload in a queue: the queue and those above it, each where it has less than the one above.

    What could not be read takes nothing off.
    """
    above: Amounts = {}
    for node in reversed(list(queues.branch(env, path))):
        beside = () if node.parent == queues.ROOT else queues.by_path(env)[node.parent].queue.queues.values()
        capability = _amounts(node.queue.capability)
        promised: dict[str, Decimal] = {}
        for part in beside:
            for resource, amount in () if lost(part) else _amounts(part.guarantee).items():
                promised[resource] = promised.get(resource, Decimal(0)) + amount
        most = below(above, promised, _amounts(node.queue.guarantee), capability)
        for resource, amount in own(above, most).items():
            yield Limit(node.path, resource, amount, amount != capability.get(resource))
        above = most


def _amounts(quota: quotas.Quota) -> dict[str, Decimal]:
    if lost(quota):
        return {}
    return {resource: amount.value for resource, amount in quotas.resolved(quota).items() if not lost(amount)}
