"""Volcano Jobs whose last run was ended, and that have no PodGroup for a next one yet.

How Volcano does it: pkg/controllers/job/job_controller_actions.go (killPods, syncJob) and pkg/controllers/job/state of
https://github.com/volcano-sh/volcano, release 1.15.1. It deletes the pods and then the PodGroup, and counts pods again
at an event only: where the last pod is gone before the PodGroup is, none comes, and the job stays in Restarting.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from .seen import Group, Pod, Seen
from .words import Reason, since

ROUND = timedelta(seconds=30)
"""Longer than Volcano needs for a look at all that waits."""
PHASES = ("Restarting", "Aborting", "Aborted", "Completing", "Terminating")
"""Phases of a job that has no PodGroup because its run was ended, and is not over (volcano.sh/apis, batch/v1alpha1)."""
_MOST = 8


def reasons(seen: Seen, group: Group) -> Iterator[Reason]:
    """Say why a job has no next run; nothing where it has a PodGroup, or never had a run."""
    if group.name or group.phase not in PHASES:
        return
    namespace, name = group.workload.namespace, group.workload.name
    resume = f"vcctl job resume --namespace {namespace} --name {name}"
    left = [pod for pod in seen.pods if pod.namespace == namespace and pod.group == group.former]
    if group.phase == "Aborted":
        message = "it is suspended (Aborted), by somebody or by its own policies: nothing starts until it is resumed"
        yield Reason("stopped", message, fix=resume)
    elif left:
        yield _ending(seen, group, left)
    elif group.phase != "Restarting":
        yield Reason("stopped", f"it is {group.phase}: its pods are gone, and it does not start again")
    elif seen.now - group.changed < ROUND:
        yield Reason("stopped", "it is Restarting: the pods of its last run are gone, and its next PodGroup comes")
    else:
        ago = since(seen.now, group.changed)
        message = f"Volcano left it in Restarting {ago} ago: the pods of its last run are gone and so is its PodGroup"
        message += ", and nothing makes Volcano look again"
        yield Reason("stopped", message, fix=resume)


def _ending(seen: Seen, group: Group, left: Sequence[Pod]) -> Reason:
    away = {node.name: node.away for node in seen.nodes}
    lost = {pod.name: away.get(pod.node, "gone") for pod in left if pod.node}
    details = [
        f"{pod.name}{f' on {pod.node}' if pod.node else ''}{f', which is {why}' if (why := lost.get(pod.name)) else ''}"
        for pod in left
    ]
    if len(details) > _MOST:
        details = [*details[:_MOST], f"and {len(details) - _MOST} more"]
    stuck = next((name for name, why in lost.items() if why), None)
    fix = f"where its node never comes back: kubectl -n {group.workload.namespace} delete pod {stuck} --force"
    message = f"it is {group.phase}: {len(left)} pod{'' if len(left) == 1 else 's'} of its last run must end first"
    return Reason("stopped", message, tuple(details), fix if stuck else None)
