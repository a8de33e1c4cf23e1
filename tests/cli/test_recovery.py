"""What a killed run leaves behind."""

import os
import shutil
import subprocess
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import psutil
import pytest
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Secret

from cli import recovery
from cli.refusals import RefusedError


class Records:
    """A cluster that has Helm's records of some releases: namespace/name.revision: status."""

    def __init__(self, states: dict[str, str]) -> None:
        self.secrets: list[Secret] = []
        for record, status in states.items():
            namespace, _, revision = record.partition("/")
            name, _, version = revision.partition(".")
            labels = {"owner": "helm", "name": name, "version": version, "status": status}
            metadata = ObjectMeta(name=f"sh.helm.release.v1.{name}.v{version}", namespace=namespace, labels=labels)
            self.secrets.append(Secret(metadata=metadata))

    def list(self, _: Any, namespace: str, labels: dict[str, Any]) -> list[Secret]:
        return [
            secret
            for secret in self.secrets
            if secret.metadata
            and secret.metadata.labels
            and namespace in ("*", secret.metadata.namespace)
            and all(
                secret.metadata.labels[key] in ([value] if isinstance(value, str) else value)
                for key, value in labels.items()
            )
        ]


ROLLBACK = "helm rollback volcano 1 -n volcano-system"
UNINSTALL = "helm uninstall volcano -n volcano-system, and up again"
FIRST, SECOND = "volcano-system/volcano.1", "volcano-system/volcano.2"
STUCK: list[tuple[str, dict[str, str], dict[str, str]]] = [
    ("a first install", {FIRST: "pending-install"}, {"1 is pending-install": UNINSTALL}),
    ("an upgrade", {FIRST: "deployed", SECOND: "pending-upgrade"}, {"2 is pending-upgrade": ROLLBACK}),
    ("a rollback", {FIRST: "deployed", SECOND: "pending-rollback"}, {"2 is pending-rollback": ROLLBACK}),
    ("an uninstall", {FIRST: "uninstalling"}, {"1 is uninstalling": UNINSTALL}),
    ("an uninstall of the second", {FIRST: "deployed", SECOND: "uninstalling"}, {"2 is uninstalling": UNINSTALL}),
    (
        "an install after one that failed",
        {FIRST: "failed", SECOND: "pending-install"},
        {"2 is pending-install": UNINSTALL},
    ),
    (
        "an upgrade of one that failed",
        {FIRST: "failed", SECOND: "pending-upgrade"},
        {"2 is pending-upgrade": UNINSTALL},
    ),
    (
        "the latest that was deployed",
        {FIRST: "superseded", "volcano-system/volcano.9": "deployed", "volcano-system/volcano.10": "pending-upgrade"},
        {"10 is pending-upgrade": "helm rollback volcano 9 -n volcano-system"},
    ),
    (
        "its namesake elsewhere was deployed",
        {"theirs/volcano.1": "deployed", FIRST: "pending-install"},
        {"1 is pending-install": UNINSTALL},
    ),
    (
        "two",
        {FIRST: "deployed", SECOND: "pending-upgrade", "kuberay-system/kuberay-operator.1": "pending-install"},
        {
            "2 is pending-upgrade": ROLLBACK,
            "1 is pending-install": "helm uninstall kuberay-operator -n kuberay-system, and up again",
        },
    ),
    ("deployed", {FIRST: "deployed"}, {}),
    ("superseded", {FIRST: "superseded", SECOND: "deployed"}, {}),
    ("failed", {FIRST: "failed"}, {}),
    ("gone, its history kept", {FIRST: "uninstalled"}, {}),
    ("none at all", {}, {}),
]


@pytest.mark.parametrize(("states", "told"), [case[1:] for case in STUCK], ids=[case[0] for case in STUCK])
def test_a_release_in_the_middle_of_something_is_refused_with_the_way_out(
    states: dict[str, str], told: dict[str, str]
) -> None:
    client: Any = Records(states)
    with pytest.raises(RefusedError) if told else nullcontext() as refused:
        recovery.refuse_pending_releases(client)
    if refused is not None:
        lines = str(refused.value).splitlines()
        assert [line.partition("revision ")[2] for line in lines[::2]] == [
            f"{it}, so Helm refuses all else" for it in told
        ]
        assert lines[1::2] == [f"  fix: wait if somebody is at work on it; else {fix}" for fix in told.values()]


def test_plugins_of_a_killed_engine_are_ended_and_nobody_elses(tmp_path: Path) -> None:
    plugin = tmp_path / "pulumi-resource-it"
    shutil.copy(shutil.which("sleep") or "/bin/sleep", plugin)

    def orphan(back_end: str) -> psutil.Process:
        script = f"{plugin} 60 >/dev/null 2>&1 & echo $!"
        settings = {**os.environ, "PULUMI_BACKEND_URL": back_end}
        done = subprocess.run(["sh", "-c", script], env=settings, capture_output=True, text=True, check=True)
        return psutil.Process(int(done.stdout))

    ours, theirs = orphan(f"file://{tmp_path}/ours"), orphan(f"file://{tmp_path}/theirs")
    limit = time.monotonic() + 5
    while ours.name() != plugin.name and time.monotonic() < limit:
        time.sleep(0.05)
    try:
        recovery.end_orphans({"PULUMI_BACKEND_URL": f"file://{tmp_path}/ours"})
        assert not ours.is_running() or ours.status() == psutil.STATUS_ZOMBIE
        assert theirs.is_running()
        assert theirs.status() != psutil.STATUS_ZOMBIE
    finally:
        theirs.kill()
