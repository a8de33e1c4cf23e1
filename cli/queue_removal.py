"""Queues that go: not while others' work is in them, closed before, and open again when they stay after all."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx2
from lightkube import Client
from lightkube.generic_resource import create_namespaced_resource
from lightkube.types import PatchType
from tenacity import RetryError, Retrying, retry_if_result, stop_after_delay, wait_fixed

from model.quantities import written
from model.volcano import AGREED, REMOVAL
from model.waiting.seen import Group, Workload, gpus

from . import clusters, seeing
from .output import console
from .refusals import RefusedError
from .seeing import Queue

if TYPE_CHECKING:
    from model.environment import Environment

    from .upping import Place

Command = create_namespaced_resource("bus.volcano.sh", "v1alpha1", "Command", "commands")
QUEUE_TYPE = "kubernetes:scheduling.volcano.sh/v1beta1:Queue"
WORKLOAD_TYPES = {
    "kubernetes:batch.volcano.sh/v1alpha1:Job": "Job",
    "kubernetes:ray.io/v1:RayCluster": "RayCluster",
    "kubernetes:ray.io/v1:RayJob": "RayJob",
    "kubernetes:ray.io/v1:RayService": "RayService",
}
MERGE = PatchType.MERGE
SECONDS = 30
"""For Volcano's controller to close or open a queue; it takes about one."""


@dataclass(frozen=True)
class Departure:
    """What a run would remove.

    Attributes:
        queues: Names of Queue objects, parts before what they are parts of.
        workloads: Workloads of the stack itself; they go first.
    """

    queues: tuple[str, ...] = ()
    workloads: frozenset[Workload] = frozenset()


def departure(exported: str, staying: Collection[str] = ()) -> Departure:
    """Give what a run would remove.

    Args:
        exported: The state of the stack as the engine exports it.
        staying: URNs of the resources that the program still has; none for a `destroy`.
    """
    state: dict[str, Any] = json.loads(exported)
    going = [
        resource
        for resource in (state.get("deployment") or {}).get("resources") or ()
        if resource["urn"] not in staying and not resource.get("retainOnDelete")
    ]
    queues = [_metadata(resource)["name"] for resource in going if resource["type"] == QUEUE_TYPE]
    workloads = frozenset(
        Workload(kind, _metadata(resource).get("namespace") or "default", _metadata(resource)["name"])
        for resource in going
        for kind in [WORKLOAD_TYPES.get(resource["type"])]
        if kind
    )
    return Departure(tuple(reversed(queues)), workloads)  # a state has what something depends on before it


def _metadata(resource: Mapping[str, Any]) -> Mapping[str, Any]:
    return (resource.get("outputs") or resource.get("inputs") or {})["metadata"]


@contextmanager
def watched(
    place: "Place",
    environment: "Environment",
    going: Departure,
    command: str,
    *,
    force: bool,
    unreachable: bool = False,
) -> Iterator[None]:
    """Have queues go as `closed` says while the engine works.

    Args:
        place: Where the environment is.
        environment: Its document.
        going: What goes.
        command: The command that removes them, for messages.
        force: Whether they go with work in them.
        unreachable: Whether the cluster may be gone already.

    Raises:
        RefusedError: A queue is busy, or the cluster does not answer.
    """
    with clusters.of_environment(place.stack, environment, place.engine, of_twin=place.of_twin) as client:
        if client is None or ((force or unreachable) and not _answers(client)):
            yield
            return
        reopen_abandoned(client, going)
        with closed(client, going, command, force=force):
            yield


def _answers(client: Client) -> bool:
    try:
        _queues(client)
    except httpx2.TransportError:
        return False
    return True


@contextmanager
def closed(client: Client, going: Departure, command: str, *, force: bool) -> Iterator[None]:
    """Have the queues that go closed while the engine works, and open again those that stay after all.

    Args:
        client: A client of their cluster.
        going: What goes.
        command: The command that removes them, for messages.
        force: Whether they go with work in them.

    Raises:
        RefusedError: A queue has work in it that is not of this stack, or has parts that are not.
    """
    there = [name for name in going.queues if name in _queues(client)]
    if not there:
        yield
        return
    refuse_busy(client, going, command, force=force)
    try:
        _close(client, there, command, force=force)
        # A queue that is not closed yet may have taken a job since.
        refuse_busy(client, going, command, force=force)
        yield
    finally:
        # A cluster may be gone with its queues.
        with suppress(httpx2.TransportError):
            reopen(client, there)


def refuse_busy(client: Client, going: Departure, command: str, *, force: bool) -> None:
    """Refuse to remove queues that somebody uses.

    Raises:
        RefusedError: With all work that is in them.
    """
    parts = [
        f"  {name}, a part of {parent}"
        for name, queue in _queues(client).items()
        if name not in going.queues and (parent := (queue.get("spec") or {}).get("parent")) in going.queues
    ]
    if parts:
        told = [f"{command}: queues that are not of this stack are parts of queues that go", *parts]
        raise RefusedError("\n".join([*told, "  fix: delete them first, or give them another parent"]))
    if found := [] if force else busy(seeing.groups(client), going):
        raise RefusedError(
            "\n".join(
                [
                    f"{command}: work that is not of this stack is in queues that go; it would be left without a queue",
                    *_lines(found),
                    "  fix: let it end, or move it to another queue; --force removes the queues all the same",
                ]
            )
        )


def busy(groups: Sequence[Group], going: Departure) -> list[Group]:
    """Give the work in queues that go which does not go with them, by queue."""
    found = [group for group in groups if group.queue in going.queues and group.workload not in going.workloads]
    return sorted(found, key=lambda group: (group.queue, not group.started, group.workload))


def _lines(found: Sequence[Group]) -> list[str]:
    rows = [
        (group.queue, "runs" if group.started else group.phase.lower(), str(group.workload), _size(group))
        for group in found
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return [
        "  " + "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]])
        for row in rows
    ]


def _size(group: Group) -> str:
    pods = f"{group.members} pod{'' if group.members == 1 else 's'}"
    return ", ".join([pods, *(f"{written(name, amount)} {name}" for name, amount in gpus(group.asks).items())])


def foretell(place: "Place", environment: "Environment", going: Departure) -> None:
    """Say before a preview what the run itself would refuse."""
    if not going.queues:
        return
    with clusters.of_environment(place.stack, environment, place.engine, of_twin=place.of_twin) as client:
        try:
            if client is not None:
                refuse_busy(client, going, "up", force=False)
        except RefusedError as refusal:
            console.print(f"would be refused: {refusal}", style="bold yellow", markup=False, soft_wrap=True)


def reopen_abandoned(client: Client, going: Departure) -> None:
    """Open the queues that an earlier run, which was killed, closed to remove them and that stay."""
    reopen(client, [name for name in _queues(client) if name not in going.queues])


def reopen(client: Client, names: Sequence[str]) -> None:
    """Open those of some queues that are there and that we closed; those that a person closed stay closed."""
    found = _queues(client)
    ours = [name for name in names if name in found and closed_by_us(found[name])]
    for name in _parents_first(ours, found):
        _order(client, found[name], "OpenQueue")
        if _reached(client, name, ("Open",)):
            # Not before: its webhook refuses every update of a queue that is closing.
            client.patch(Queue, name, {"metadata": {"annotations": {REMOVAL: None}}}, patch_type=MERGE)
        else:
            console.print(f"queue {name} does not open again: see the log of volcano-controllers", markup=False)


def _parents_first(names: Sequence[str], found: Mapping[str, Any]) -> list[str]:
    def depth(name: str) -> int:
        parent = (found.get(name, {}).get("spec") or {}).get("parent") or ""
        return 1 + depth(parent) if parent in found and parent != name else 0

    return sorted(names, key=depth)


def _close(client: Client, names: Sequence[str], command: str, *, force: bool) -> None:
    found = _queues(client)
    for name in names:
        # What the guard in the cluster goes by, and by what a later run knows that it was not a person who closed it.
        client.patch(Queue, name, {"metadata": {"annotations": {REMOVAL: AGREED}}}, patch_type=MERGE)
        _order(client, found[name], "CloseQueue")
    for name in names:
        if not _reached(client, name, ("Closing", "Closed")) and not force:
            raise RefusedError(
                f"{command}: queue {name} does not close, so new work could come into it\n"
                "  fix: see whether Volcano's controllers run (pod volcano-controllers); --force does not wait"
            )


def _order(client: Client, queue: Mapping[str, Any], action: str) -> None:
    """Tell Volcano's controller to open or close a queue, as its own `vcctl queue operate` does."""
    target = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "name": queue["metadata"]["name"],
        "uid": queue["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    metadata = {
        "generateName": f"{queue['metadata']['name']}-{action.lower()}-",
        "namespace": "default",
        "ownerReferences": [target],
    }
    client.create(Command.from_dict({"metadata": metadata, "action": action, "target": target}))


def _reached(client: Client, name: str, states: Collection[str]) -> bool:
    def state() -> str:
        return (_queues(client).get(name, {}).get("status") or {}).get("state", "")

    waiting = Retrying(
        retry=retry_if_result(lambda found: found not in states), stop=stop_after_delay(SECONDS), wait=wait_fixed(0.2)
    )
    try:
        waiting(state)
    except RetryError:
        return False
    return True


def closed_by_us(queue: Mapping[str, Any]) -> bool:
    """Whether a run of ours closed a queue, or somebody agreed to its removal."""
    return (queue["metadata"].get("annotations") or {}).get(REMOVAL) is not None


def _queues(client: Client) -> dict[str, dict[str, Any]]:
    """Give all Queue objects by name; none where the cluster does not know the kind."""
    return {found["metadata"]["name"]: found for found in seeing.objects(client, Queue)}
