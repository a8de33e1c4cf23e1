"""What a killed run leaves behind, and how the next one gets over it.

A lock of the state back end and a Helm release that stayed pending block every later run. In the twin both are
cleared, but only when the process that held the lock is gone: its state belongs to this machine alone. On a real
cluster nothing is cleared; the engine names the owner of a lock, and `pulumi cancel` is a person's decision.
"""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlparse

import psutil
from lightkube import Client
from lightkube.resources.core_v1 import Secret

from .engine import Engine
from .output import console
from .refusals import RefusedError

PENDING = ("pending-install", "pending-upgrade", "pending-rollback", "uninstalling")
"""States of a Helm release in which Helm refuses every further operation (helm.sh/helm/v3, pkg/release/status.go)."""


def recover(engine: Engine, stack: str, client: Client) -> None:
    """Make the twin's stack usable after a run that was killed.

    Raises:
        RefusedError: Another run of this checkout is still at work.
    """
    _unlock(engine, stack)
    _drop_pending_releases(client)


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
    stuck = [labels for _, labels in _pending_releases(client)]
    if stuck:
        each = "\n".join(
            f"release {labels['name']}: revision {labels['version']} is {labels['status']}, so Helm refuses all else\n"
            f"  fix: wait if somebody is at work on it; else helm rollback {labels['name']}, or helm uninstall "
            f"{labels['name']} where no revision was ever deployed"
            for labels in stuck
        )
        raise RefusedError(each)


def _pending_releases(client: Client) -> Iterator[tuple[Secret, dict[str, str]]]:
    """Give Helm's record of each release in the middle of an operation, and its labels."""
    for secret in client.list(Secret, namespace="*", labels={"owner": "helm", "status": list(PENDING)}):
        if secret.metadata and secret.metadata.labels:
            yield secret, secret.metadata.labels


def _drop_pending_releases(client: Client) -> None:
    for secret, labels in list(_pending_releases(client)):
        console.print(f"Release {labels['name']} stayed {labels['status']} at revision {labels['version']}; cleared.")
        metadata = secret.metadata
        if metadata and metadata.name:
            client.delete(Secret, metadata.name, namespace=metadata.namespace)
