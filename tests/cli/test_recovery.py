"""What a killed run leaves behind."""

import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Secret

from cli import recovery
from cli.refusals import RefusedError


class Records:
    """A cluster that has Helm's records of some releases."""

    def __init__(self, **states: str) -> None:
        self.secrets = [
            Secret(
                metadata=ObjectMeta(
                    name=f"sh.helm.release.v1.{name}.v2",
                    namespace="there",
                    labels={"owner": "helm", "name": name, "version": "2", "status": status},
                )
            )
            for name, status in states.items()
        ]

    def list(self, _: Any, namespace: str, labels: dict[str, Any]) -> list[Secret]:
        assert namespace == "*"
        return [
            secret
            for secret in self.secrets
            if secret.metadata
            and secret.metadata.labels
            and all(
                secret.metadata.labels[key] in ([value] if isinstance(value, str) else value)
                for key, value in labels.items()
            )
        ]


@pytest.mark.parametrize("status", ["pending-install", "pending-upgrade", "pending-rollback", "uninstalling"])
def test_a_release_in_the_middle_of_something_is_refused_with_both_ways_out(status: str) -> None:
    with pytest.raises(RefusedError) as refused:
        recovery.refuse_pending_releases(Records(volcano=status, other="deployed"))  # type: ignore[arg-type]
    assert str(refused.value) == (
        f"release volcano: revision 2 is {status}, so Helm refuses all else\n"
        "  fix: wait if somebody is at work on it; else helm rollback volcano, or helm uninstall volcano "
        "where no revision was ever deployed"
    )


def test_deployed_releases_are_no_hindrance() -> None:
    recovery.refuse_pending_releases(Records(volcano="deployed", old="superseded"))  # type: ignore[arg-type]


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
