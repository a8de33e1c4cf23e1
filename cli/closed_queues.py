"""Queues that somebody closed, and what the document would have start in them.

Volcano refuses what is new in a queue that is not open. Of a job that says so at once; of what KubeRay makes only its
operator's log does, and a run would wait for it in vain.
"""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from lightkube import Client

from model.waiting.seen import Workload

from . import explaining, queue_removal, seeing
from .refusals import RefusedError

if TYPE_CHECKING:
    from model.environment import Environment


def starting(environment: "Environment", exported: str) -> dict[Workload, str]:
    """Give the workloads that a run would start, with the paths of their queues.

    Args:
        environment: Its document.
        exported: The state of its stack: what it holds is in its queue already.
    """
    there = queue_removal.departure(exported).workloads
    return {workload: queue for workload, queue in _queues_of(environment).items() if workload not in there}


def _queues_of(environment: "Environment") -> dict[Workload, str]:
    from model import workloads

    found = workloads.every(environment)
    return {workload: each.value.queue for workload, each in zip(explaining.declared(environment), found, strict=True)}


def refuse_closed(client: Client, new: Mapping[Workload, str]) -> None:
    """Refuse to start workloads in queues that are closed.

    Args:
        client: A client of the cluster.
        new: The workloads with the paths of their queues.

    Raises:
        RefusedError: A queue, or one above it, is closed, and not by a run of ours, which opens it again.
    """
    found = {queue["metadata"]["name"]: queue for queue in seeing.objects(client, seeing.Queue)}
    waiting: dict[str, list[str]] = {}
    for workload, path in new.items():
        closed = [name for name in _branch(path, found) if _is_closed(found[name])]
        if closed:
            waiting.setdefault(closed[-1], []).append(str(workload))
    if waiting:
        told = [
            f"  {name} is {found[name]['status']['state']}: {', '.join(sorted(listed))}\n"
            f"  fix: vcctl queue operate --name {name} --action open, or another queue"
            for name, listed in sorted(waiting.items())
        ]
        raise RefusedError("\n".join(["up: queues are closed, and nothing new starts in them", *told]))


def _branch(path: str, found: Collection[str]) -> list[str]:
    """Give a queue and those above it, as far as they are there, from the bottom."""
    names = path.split(".")
    paths = [".".join(names[:length]) for length in range(len(names), 0, -1)]
    return [each for each in paths if each in found]


def _is_closed(queue: Mapping[str, Any]) -> bool:
    state = (queue.get("status") or {}).get("state")
    return state in ("Closed", "Closing") and not queue_removal.closed_by_us(queue)
