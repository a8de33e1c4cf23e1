"""Queues that get their first parts while work is in them.

Volcano places nothing in the whole cluster while a queue with parts has any work, be it over (its capacity plugin gives
up, buildHierarchicalQueueAttrs), and refuses the first part of a queue with pods.
"""

from collections.abc import Sequence

from model.waiting.seen import Group

from .refusals import RefusedError


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
