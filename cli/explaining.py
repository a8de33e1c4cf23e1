"""`why`: says why a workload waits, or where it runs."""

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Annotated

import typer
from lightkube import Client
from lightkube.resources.core_v1 import Event

from model.problems import nearest
from model.waiting import reasons, words
from model.waiting.seen import Group, Seen, Workload

from . import environments, seeing
from .output import console
from .refusals import RefusedError
from .upping import InTwin

if TYPE_CHECKING:
    from model.environment import Environment

Named = Annotated[
    str,
    typer.Argument(
        metavar="WORKLOAD",
        help="A workload of the document, or NAME or NAMESPACE/NAME of a job, Ray cluster, PodGroup or pod.",
    ),
]


def why(workload: Named, environment: environments.Name = "twin", twin: InTwin = False) -> None:
    """Say why a workload waits: its queue, its namespace's quota, the nodes, the topology, or who is before it.

    Or where it runs. Everything is read from the cluster now; the document says what people call things.
    """
    from . import rendering

    loaded = rendering.load(environment, clock=None)
    _refuse_others(loaded)
    with _cluster(environment, loaded, twin=twin) as client:
        seen = seeing.cluster(client)
        group = find(seen, workload, declared(loaded))
        told = _last_warning(client, group)
    scheduler = loaded.scheduler
    answer = reasons.explain(
        seen,
        group,
        levels(loaded),
        reclaim=scheduler.reclaim,
        preempt=scheduler.preempt,
        fair=scheduler.order == "fair",
    )
    show(seen, answer, told)


def _refuse_others(environment: "Environment") -> None:
    kind: str = environment.scheduler.kind
    if kind != "volcano":
        raise RefusedError(
            f"why: the scheduler of this environment is {kind}, and what is told here is how Volcano decides\n"
            f"  fix: {OTHERS.get(kind, 'see its own status')}"
        )


OTHERS = {
    "kueue": "kubectl get workloads -A, then kubectl describe: its conditions say why it is not admitted",
    "kai": "kubectl describe podgroups.scheduling.run.ai: its events and conditions say why it is not placed",
}
"""Where other schedulers tell it themselves."""


def _cluster(name: str, environment: "Environment", *, twin: bool) -> "AbstractContextManager[Client]":
    from twin.paths import CONTEXT

    from . import clusters, local
    from .engine import Engine

    if twin or local.lives_in_twin(environment):
        return clusters.connected(local.twin().environment(), CONTEXT)
    if context := environment.cluster.context:
        return clusters.connected(os.environ, context)
    return clusters.required(Engine.of_user(), name)


def levels(environment: "Environment") -> dict[int, str]:
    """Give the names of the topology levels by tier."""
    from model import topology

    return {level.tier: level.name for level in topology.levels(environment)}


KINDS = {
    ("ray", "clusters"): "RayCluster",
    ("ray", "jobs"): "RayJob",
    ("ray", "services"): "RayService",
    ("training", "jobs"): "Job",
}
"""The kinds of objects that the workloads of a document become, by where they stand in it."""


def declared(environment: "Environment") -> list[Workload]:
    """Give the workloads of a document."""
    from model import workloads

    return [
        Workload(KINDS[str(each.at[0]), str(each.at[1])], each.value.namespace, each.name)
        for each in workloads.every(environment)
    ]


def find(seen: Seen, name: str, known: Sequence[Workload]) -> Group:
    """Give the work that a person means.

    Args:
        seen: The cluster.
        name: As it was given.
        known: The workloads of the document.

    Raises:
        RefusedError: There is no such work, or there are several.
    """
    namespace, _, plain = name.rpartition("/")
    meant = [each for each in known if each.name == plain and namespace in ("", each.namespace)]
    pods = {(pod.namespace, pod.group) for pod in seen.pods if pod.name == plain and namespace in ("", pod.namespace)}
    found = [
        group
        for group in seen.groups
        if (plain in (group.workload.name, group.name) and namespace in ("", group.workload.namespace))
        or (group.workload.namespace, group.name) in pods
    ]
    # What the document has is meant rather than what somebody else calls so.
    found = [group for group in found if group.workload in meant] or found
    if len(found) == 1:
        return found[0]
    if found:
        allowed = ", ".join(f"{group.workload.namespace}/{group.name or group.workload.name}" for group in found)
        raise RefusedError(f"why {name}: there are several\n  allowed: {allowed}")
    if meant:
        raise RefusedError(
            f"why {name}: {meant[0]} has no PodGroup, so the scheduler does not know it\n"
            "  fix: an up, when it was not brought up; else kubectl describe it: its operator says what it lacks"
        )
    raise RefusedError(_unknown(seen, name, plain, known))


def _unknown(seen: Seen, name: str, plain: str, known: Sequence[Workload]) -> str:
    every = {each.name: f"{each.namespace}/{each.name}" for each in [*(it.workload for it in seen.groups), *known]}
    meant = nearest(plain, every)
    fix = f"        fix: {every[meant]}" if meant else ""
    listed = sorted(every.values())
    rest = f" and {len(listed) - 12} more" if len(listed) > 12 else ""
    message = "queues have no such work; what is over, or was never submitted, is not in them"
    return f"why {name}: {message}\n  allowed: {', '.join(listed[:12]) or 'there is none'}{rest}{fix}"


def _last_warning(client: Client, group: Group) -> str | None:
    """Give the last warning that the cluster has about it: what only its operator or an admission webhook knows."""
    names = {group.workload.name, group.name}
    events = [
        event
        for event in seeing.objects(client, Event, namespace=group.workload.namespace, fields={"type": "Warning"})
        if (event.get("involvedObject") or {}).get("name") in names
    ]
    last = max(events, key=_when, default=None)
    return " ".join(str(last.get("message") or last.get("reason")).split()) if last else None


def _when(event: "dict[str, object]") -> str:
    return str(event.get("lastTimestamp") or event.get("eventTime") or "")


def show(seen: Seen, answer: reasons.Answer, warning: str | None = None) -> None:
    """Print how a workload is doing."""
    group = answer.group
    size = [f"{group.members} pod{'' if group.members == 1 else 's'}", words.amounts(group.asks)]
    about = ", ".join([f"queue {group.queue}", f"priority {group.priority}", *filter(None, size)])
    _print(f"{group.workload} {answer.verdict} ({about}; since {words.since(seen.now, group.created)})")
    for number, reason in enumerate(answer.reasons, start=1):
        mark = f"{number}. " if answer.verdict == "waits" and len(answer.reasons) > 1 else ""
        _print(f"  {mark}{reason.says}")
        for detail in reason.details:
            _print(f"       {detail}")
        if reason.fix:
            _print(f"     fix: {reason.fix}")
    if warning and answer.verdict == "waits":
        _print(f"  the cluster's last warning about it: {warning}")


def _print(line: str) -> None:
    console.print(line, markup=False, soft_wrap=True)
