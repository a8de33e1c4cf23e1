"""What a cluster has, or lacks, that would stop a run half-way."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from lightkube import Client
from lightkube.resources.scheduling_v1 import PriorityClass

from . import closed_queues, clusters, divided_queues, seeing
from .output import console
from .refusals import RefusedError

if TYPE_CHECKING:
    from model.environment import Environment

    from .upping import Place


def look_ahead(place: "Place", environment: "Environment", exported: str, *, refuse: bool) -> None:
    """Find all that Volcano or the API server would refuse after the run has begun, or that nothing would come of.

    Args:
        place: Where the environment is.
        environment: Its document.
        exported: The state of its stack.
        refuse: Whether to refuse, or only to say what would be refused.

    Raises:
        RefusedError: With all of it.
    """
    from model import queues, workloads

    if environment.scheduler.kind != "volcano":
        return
    new = closed_queues.starting(environment, exported)
    wholes = {node.path for node in queues.flatten(environment) if not node.leaf}
    priorities = {each.value.priority for each in workloads.every(environment) if each.value.priority}
    with clusters.of_environment(place.stack, environment, place.engine, of_twin=place.of_twin) as client:
        if client is None:
            return
        checks: list[Callable[[], None]] = [
            *([lambda: closed_queues.refuse_closed(client, new)] if new else []),
            *([lambda: divided_queues.refuse_work(seeing.groups(client, over=True), wholes)] if wholes else []),
            *([lambda: _refuse_missing(client, priorities)] if priorities else []),
        ]
        refusals = list(_refusals(checks))
    if refusals and refuse:
        raise RefusedError("\n".join(refusals))
    for refusal in refusals:
        console.print(f"would be refused: {refusal}", style="bold yellow", markup=False, soft_wrap=True)


def _refusals(checks: Iterable[Callable[[], None]]) -> Iterable[str]:
    for check in checks:
        try:
            check()
        except RefusedError as refusal:
            yield str(refusal)


def _refuse_missing(client: Client, wanted: set[str]) -> None:
    """Refuse priorities that the cluster does not know: of such a gang no pod could be made."""
    there = {found["metadata"]["name"] for found in seeing.objects(client, PriorityClass)}
    if missing := sorted(wanted - there):
        raise RefusedError(
            f"up: the cluster has no PriorityClass {', '.join(missing)}, which workloads name as their priority\n"
            f"  there are: {', '.join(sorted(there))}\n"
            f"  fix: kubectl create priorityclass {missing[0]} --value=1000, or another priority"
        )
