"""What a killed run leaves behind, and how the next one gets over it.

A lock of the state back end and a Helm release that stayed pending block every later run. In the twin both are
cleared, but only when the process that held the lock is gone: its state belongs to this machine alone. On a real
cluster nothing is cleared; the engine names the owner of a lock, and `pulumi cancel` is a person's decision.
"""

import json
import socket
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import psutil
from lightkube import ApiError, Client
from lightkube.resources.core_v1 import Secret

from .engine import Engine
from .output import console
from .refusals import RefusedError

PROJECT = "gangline"
RELEASE = "kubernetes:helm.sh/v3:Release"
PENDING = ("pending-install", "pending-upgrade", "pending-rollback", "uninstalling")
"""States of a Helm release in which Helm refuses every further operation (helm.sh/helm/v3, pkg/release/status.go)."""


def recover(engine: Engine, stack: str, client: Client) -> None:
    """Make the twin's stack usable after a run that was killed.

    Raises:
        RefusedError: Another run of this checkout is still at work.
    """
    _unlock(engine, stack)
    interrupted = _forget_interrupted(engine, stack)
    _drop_pending_releases(client, interrupted)


def end_orphans(settings: Mapping[str, str]) -> None:
    """End plugins of the twin's engine whose engine was killed: they would go on working on the cluster.

    The engine puts each plugin into a process group of its own, so that they outlive whatever killed it.
    """
    # The stand-in for AWS ends by itself, once the call is done that it is in: what it made must be noted.
    finishing = [process for process in psutil.process_iter(["cmdline", "ppid"]) if _is_finishing(process, settings)]
    psutil.wait_procs(finishing, timeout=10)
    orphans = [process for process in psutil.process_iter(["name", "ppid"]) if _is_orphan(process, settings)]
    for process in orphans:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(orphans, timeout=10)


def _is_orphan(process: psutil.Process, settings: Mapping[str, str]) -> bool:
    if not str(process.info["name"]).startswith("pulumi-") or process.info["ppid"] != 1:
        return False
    return _is_of(process, settings)


def _is_finishing(process: psutil.Process, settings: Mapping[str, str]) -> bool:
    if "twin.aws.plugin" not in (process.info["cmdline"] or ()) or process.info["ppid"] != 1:
        return False
    return _is_of(process, settings)


def _is_of(process: psutil.Process, settings: Mapping[str, str]) -> bool:
    try:
        return process.environ().get("PULUMI_BACKEND_URL") == settings["PULUMI_BACKEND_URL"]
    except psutil.Error:
        return False


def saved_state(engine: Engine, stack: str) -> Path:
    """Give the file in which the twin's back end keeps a stack; it is there once the stack was made."""
    back_end = Path(urlparse(engine.settings["PULUMI_BACKEND_URL"]).path)
    return back_end / ".pulumi" / "stacks" / PROJECT / f"{stack}.json"


def resources(engine: Engine, stack: str) -> list[dict[str, Any]]:
    """Give the resources of a stack of the twin as its saved state has them; none before it was made."""
    saved = saved_state(engine, stack)
    return (_latest(saved).get("resources") or []) if saved.exists() else []


def holds_resources(saved: Path) -> bool:
    """Whether a saved stack has anything on the cluster, the stack itself not counted."""
    return any(resource["type"] != "pulumi:pulumi:Stack" for resource in _latest(saved).get("resources") or [])


def _latest(saved: Path) -> dict[str, Any]:
    return json.loads(saved.read_text())["checkpoint"].get("latest") or {}


def _forget_interrupted(engine: Engine, stack: str) -> list[str]:
    """Forget operations that a killed run left half-done, and give the names of the Helm releases among them.

    The next `up` does them again and takes over what is there; a real cluster's would ask a person.
    """
    pending = _latest(saved_state(engine, stack)).get("pending_operations") or []
    if not pending:
        return []
    console.print(f"{len(pending)} operations of a killed run were half-done; they are done again.")
    exported = json.loads(engine.read("stack", "export", "--stack", stack))
    exported["deployment"].pop("pending_operations", None)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(exported, file)
        file.flush()
        engine.read("stack", "import", "--stack", stack, "--file", file.name)
    known = {resource["urn"] for resource in exported["deployment"].get("resources", [])}
    missed = [operation["resource"] for operation in pending if operation["resource"]["urn"] not in known]
    return [resource["inputs"]["name"] for resource in missed if resource["type"] == RELEASE]


def _unlock(engine: Engine, stack: str) -> None:
    back_end = Path(urlparse(engine.settings["PULUMI_BACKEND_URL"]).path)
    locks = list((back_end / ".pulumi" / "locks").rglob(f"{stack}/*.json"))
    for lock in locks:
        owner = json.loads(lock.read_text())
        if owner.get("hostname") == socket.gethostname() and psutil.pid_exists(owner["pid"]):
            raise RefusedError(
                f"stack {stack}: process {owner['pid']} has been at work on it since {owner.get('timestamp')}\n"
                "  fix: wait for it to end"
            )
    if locks:
        console.print(f"An earlier run on stack {stack} was killed; its lock is removed.")
        engine.read("cancel", "--yes", "--stack", stack)


def refuse_pending_releases(client: Client) -> None:
    """Refuse to begin on a real cluster while a Helm release is in the middle of an operation.

    Raises:
        RefusedError: With each such release and the ways out. Helm itself would fail half-way through the update.
    """
    each = [
        f"release {labels['name']}: revision {labels['version']} is {labels['status']}, so Helm refuses all else\n"
        f"  fix: wait if somebody is at work on it; else {_way_out(client, secret, labels)}"
        for secret, labels in _pending_releases(client)
    ]
    if each:
        raise RefusedError("\n".join(each))


def _way_out(client: Client, secret: Secret, labels: Mapping[str, str]) -> str:
    """Give the command that ends an operation that nobody is at: back to what was deployed, or away with it.

    Helm marks the revision before as superseded only once the new one is deployed (helm.sh/helm/v3, pkg/action).
    """
    namespace = secret.metadata.namespace if secret.metadata else None
    found = client.list(
        Secret, namespace=namespace, labels={"owner": "helm", "name": labels["name"], "status": "deployed"}
    )
    revisions = [int(it.metadata.labels["version"]) for it in found if it.metadata and it.metadata.labels]
    if revisions and labels["status"] != "uninstalling":
        return f"helm rollback {labels['name']} {max(revisions)} -n {namespace}"
    return f"helm uninstall {labels['name']} -n {namespace}, and up again"


def _pending_releases(client: Client) -> Iterator[tuple[Secret, dict[str, str]]]:
    """Give Helm's record of each release in the middle of an operation, and its labels."""
    for secret in client.list(Secret, namespace="*", labels={"owner": "helm", "status": list(PENDING)}):
        if secret.metadata and secret.metadata.labels:
            yield secret, secret.metadata.labels


def _drop_pending_releases(client: Client, interrupted: Collection[str]) -> None:
    """Delete Helm's records of releases that are in the middle of an operation, or whose making the engine missed.

    Their objects stay and carry the release's name, so that Helm takes them over when it installs it again.
    """
    stuck = list(_pending_releases(client))
    for name in interrupted:
        found = client.list(Secret, namespace="*", labels={"owner": "helm", "name": name})
        stuck += [(secret, secret.metadata.labels) for secret in found if secret.metadata and secret.metadata.labels]
    for secret, labels in stuck:
        metadata = secret.metadata
        if metadata and metadata.name:
            console.print(f"Release {labels['name']} was {labels['status']} at revision {labels['version']}; cleared.")
            with suppress(ApiError):  # found twice
                client.delete(Secret, metadata.name, namespace=metadata.namespace)
