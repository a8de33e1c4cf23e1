"""Queues as the cluster has them, whichever scheduler keeps them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from lightkube import Client
from lightkube.generic_resource import create_global_resource

from model import queues
from model.environment import Environment
from model.quantities import Quantity
from model.scheduler import Kind

_VOLCANO = create_global_resource("scheduling.volcano.sh", "v1beta1", "Queue", "queues")
_KUEUE = create_global_resource("kueue.x-k8s.io", "v1beta2", "ClusterQueue", "clusterqueues")
_KAI = create_global_resource("scheduling.run.ai", "v2", "Queue", "queues")


@dataclass(frozen=True)
class State:
    """A queue as it is.

    Attributes:
        called: Its state, in its scheduler's words.
        used: What workloads have of it, by resource; None where the scheduler does not say.
    """

    called: str
    used: Mapping[str, Decimal] | None = field(default_factory=dict)


def states(environment: Environment, client: Client) -> dict[str, State]:
    """Give the queues of a document that are there, by path."""
    read: Mapping[Kind, Callable[[Environment, Client], dict[str, State]]]
    read = {"volcano": _of_volcano, "kueue": _of_kueue, "kai": _of_kai}
    return read[environment.scheduler.kind](environment, client)


def _all(client: Client, kind: Any) -> Iterable[tuple[str, dict[str, Any]]]:
    for found in client.list(kind):
        made = found.to_dict()
        yield made["metadata"]["name"], made.get("status") or {}


def _of_volcano(_: Environment, client: Client) -> dict[str, State]:
    return {
        name: State(status.get("state", "missing"), _amounts(status.get("allocated") or {}))
        for name, status in _all(client, _VOLCANO)
    }


def _of_kueue(environment: Environment, client: Client) -> dict[str, State]:
    found: dict[str, State] = {}
    for name, status in _all(client, _KUEUE):
        active = any(it["type"] == "Active" and it["status"] == "True" for it in status.get("conditions", ()))
        usage = [resource for flavor in status.get("flavorsUsage", ()) for resource in flavor["resources"]]
        used = _amounts({resource["name"]: resource.get("total", "0") for resource in usage})
        found[name] = State("Active" if active else "inactive", used)
    # A cohort says nothing of what its members use.
    for node in reversed(queues.flatten(environment)):
        if not node.leaf:
            parts = [
                found[part.path]
                for part in queues.flatten(environment)
                if part.parent == node.path and part.path in found
            ]
            found[node.path] = State("cohort", _sum(part.used or {} for part in parts))
    return found


def _of_kai(_: Environment, client: Client) -> dict[str, State]:
    return {name: State("there", None) for name, _ in _all(client, _KAI)}


def _amounts(written: Mapping[str, str]) -> dict[str, Decimal]:
    return {name: Quantity.parse(amount).value for name, amount in written.items()}


def _sum(parts: Iterable[Mapping[str, Decimal]]) -> dict[str, Decimal]:
    total: dict[str, Decimal] = {}
    for part in parts:
        for name, amount in part.items():
            total[name] = total.get(name, Decimal(0)) + amount
    return total
