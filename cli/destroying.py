"""`destroy`: takes down what `up` made, and says what stays."""

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from model import aws
from model.environment import Environment
from model.storage import claims, existing, remote

from . import clusters, environments, terminating
from .output import console
from .refusals import RefusedError
from .upping import Force, InTwin, Place, Yes, place_of, require_consent

_HOLDS = {
    "aws:fsx/lustreFileSystem:LustreFileSystem": "the shared file system, with all files",
    "aws:efs/fileSystem:FileSystem": "the shared file system, with all files",
    "aws:s3/bucket:Bucket": "the archive, with all versions of its objects",
    "aws:kms/key:Key": "without it nobody reads what it encrypts, ever",
    "aws:eks/cluster:Cluster": "the cluster, with all work in it",
}
"""Why something is kept, by type."""


def destroy(
    environment: environments.Name = "twin", twin: InTwin = False, yes: Yes = False, force: Force = False
) -> None:
    """Take down what `up` made: workloads, queues, operators, in this order.

    What holds people's work stays: custom resource definitions with their objects, the scheduler's own queues.
    The next `up` adopts them again. Queues that have work of others in them are not removed, and the work is listed.
    A cluster that `up` made itself goes with all that is in it, and so do the file system and the bucket that it made,
    unless the document keeps them (`data: keep`): then nothing is taken down.
    """
    from . import queue_removal, rendering

    loaded = rendering.load(environment, clock=None)
    made_here = aws.here(loaded)
    place = place_of(environment, loaded, twin=twin)
    if place.of_twin and made_here:
        # A cluster that the twin's cloud forgot may have been at another address: what was in it went with it.
        settings = {**place.engine.settings, "PULUMI_K8S_DELETE_UNREACHABLE": "true"}
        place = replace(place, engine=replace(place.engine, settings=settings))
    if not place.of_twin:
        require_consent("destroy", yes)
    exported = place.state()
    refuse_protected(exported, environments.file(environment))
    going = queue_removal.departure(exported)
    arguments = ["--yes", "--skip-preview"] if place.of_twin else ["--yes"] if yes else []
    if going.queues:
        lost = place.of_twin and made_here
        with queue_removal.watched(place, loaded, going, "destroy", force=force, unreachable=lost):
            take_down(place, loaded, exported, arguments)
    else:
        take_down(place, loaded, exported, arguments)
    for sentence in left(loaded):
        console.print(sentence)
    if made_here and not place.of_twin:
        console.print("The cluster is gone, with all that was in it.")
        return
    console.print(
        "Custom resource definitions with their objects, and the scheduler's own queues, stay: work lives there."
    )
    if place.of_twin:
        console.print("The twin's control plane still runs: ./gangline twin stop ends it.")


def take_down(place: Place, environment: Environment, exported: str, arguments: list[str]) -> None:
    """Have the engine do it, and say what it waited for in vain."""
    try:
        place.run("destroy", *arguments)
    except RefusedError as failed:
        kept: list[str] = []
        # A cluster of its own may be gone already.
        with (
            suppress(RefusedError),
            clusters.of_environment(place.stack, environment, place.engine, of_twin=place.of_twin) as client,
        ):
            kept = list(terminating.remaining(client, exported)) if client else []
        if not kept:
            raise
        told = [str(failed), "  still there, and deleted only when whoever set their finalizers clears them:"]
        fix = "  fix: run that operator again, or, if it is gone for good, take the finalizer off; then destroy again"
        raise RefusedError("\n".join([*told, *(f"  {line}" for line in kept), fix])) from None


def refuse_protected(exported: str, file: Path) -> None:
    """Refuse to take down a part of what must stay as a whole.

    Args:
        exported: The state of the stack as the engine exports it.
        file: The environment's file.

    Raises:
        RefusedError: With all that is protected, and the way to lift it.
    """
    state: dict[str, Any] = json.loads(exported)
    protected = [
        "  ".join(["", resource["urn"].rpartition("::")[2], *filter(None, (resource.get("id"), _why(resource)))])
        for resource in (state.get("deployment") or {}).get("resources") or ()
        if resource.get("protect")
    ]
    if protected:
        what = "1 resource is" if len(protected) == 1 else f"{len(protected)} resources are"
        raise RefusedError(
            "\n".join(
                [
                    f"destroy: {what} protected, since {file} says data: keep, or does not say otherwise",
                    *protected,
                    "  Nothing is taken down: the network and the keys that they need stay with them.",
                    "  fix: data: delete, and an up that lifts the protection; then destroy again",
                ]
            )
        )


def _why(resource: dict[str, Any]) -> str | None:
    why = _HOLDS.get(resource.get("type", ""))
    return f"({why})" if why else None


def left(loaded: Environment) -> list[str]:
    """Give what a `destroy` leaves of data that it did not make, as sentences."""
    storage = loaded.storage
    shared = storage.shared if existing.kind(loaded) else None
    stays = [
        *([f"the files of the shared file system ({shared.kind})"] if shared else []),
        *(["the objects of the archive"] if storage.archive and remote.existing(loaded) else []),
    ]
    said = [f"Data stays: {' and '.join(stays)}. Gone is only what led there."] if stays else []
    if claims.kept(loaded):
        said.append("The namespaces of tenants stay, with their claims: their volumes would go with them.")
    return said
