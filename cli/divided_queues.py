"""Queues that get their first parts while work is in them.

Volcano places nothing in the whole cluster while a queue with parts has any work, be it over (its capacity plugin gives
up, buildHierarchicalQueueAttrs), and refuses the first part of a queue with pods.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from model import queues
from model.waiting.seen import Group

from . import clusters, seeing
from .output import console
from .refusals import RefusedError

if TYPE_CHECKING:
    from model.environment import Environment

    from .upping import Place


def look_ahead(place: "Place", environment: "Environment", *, refuse: bool) -> None:
    """Find work in queues that have parts in the document.

    Args:
        place: Where the environment is.
        environment: Its document.
        refuse: Whether to refuse, or only to say what would be refused.

    Raises:
        RefusedError: With each such workload.
    """
    wholes = {node.path for node in queues.flatten(environment) if not node.leaf}
    if not wholes or environment.scheduler.kind != "volcano":
        return
    with clusters.of_environment(place.stack, environment, place.engine, of_twin=place.of_twin) as client:
        if client is None:
            return
        try:
            refuse_work(seeing.groups(client, over=True), wholes)
        except RefusedError as refusal:
            if refuse:
                raise
            console.print(f"would be refused: {refusal}", style="bold yellow", markup=False, soft_wrap=True)


def refuse_work(groups: Sequence[Group], wholes: set[str]) -> None:
    """Refuse parts of queues that have work of their own.

    Args:
        groups: All work of the cluster, also what is over.
        wholes: Names of the queues with parts.

    Raises:
        RefusedError: With each workload that is in one of them.
    """
    found = sorted((group.queue, str(group.workload), group.phase.lower()) for group in groups if group.queue in wholes)
    if found:
        told = [f"  {queue}  {workload}  {phase}" for queue, workload, phase in found]
        message = "up: work is in queues that have parts; while it is there Volcano places nothing in the whole cluster"
        fix = "  fix: let it end and delete it, or make the parts those of another, new queue"
        raise RefusedError("\n".join([message, *told, fix]))
