"""What the workers of a Ray cluster get of the tiers, and what is refused."""

from typing import Any

import pytest

from model import gangs
from model.environment import Environment
from model.storage import mounts
from model.storage.mounts import DIR, EVERY, KEEP, RETAIN, Mounts
from tests.model.documents import Change, drop, only, put
from tests.model.storage.documents import AT, environment, errors

WORKERS: dict[str, Any] = {"count": 2, "cpu": 96, "memory": "1Ti", "gpus": 8}
CLUSTER: dict[str, Any] = {
    "namespace": "research",
    "queue": "research",
    "pool": "train",
    "ray": "2.52.0",
    "head": {"cpu": 8, "memory": "32Gi"},
    "workers": WORKERS,
    "checkpoints": True,
}
RAY: tuple[Change, ...] = (
    put("queues", {"research": {}}),
    put("tenants", {"research": {"namespaces": ["research"], "queues": ["research"], "quota": {"storage": "10Ti"}}}),
    put("ray.clusters.tuning", CLUSTER),
)


def _made(*changes: Change) -> tuple[Environment, Mounts]:
    env = environment(*RAY, *changes)
    found = mounts.of(env, env.ray.clusters["tuning"])
    assert found
    return env, found


def test_a_worker_gets_all_tiers() -> None:
    _, found = _made()
    assert found.environment == {DIR: "/scratch/checkpoints", EVERY: "900"}
    assert found.claim == "shared"
    assert found.account == "jobs"
    # 30 s to write, 256 to keep, 600 to archive, and 30 for the job.
    assert found.grace == 916
    assert found.scratch
    # Eight disks of 3800 GB.
    assert str(found.scratch.size) == f"{8 * 3800 * 10**9 // 2**20}Mi"
    assert found.scratch.storage_class is None


def test_the_uploader_knows_the_ways() -> None:
    _, found = _made()
    assert found.uploader.environment[KEEP] == "/shared/checkpoints"
    assert found.uploader.environment[RETAIN] == "5"
    assert found.uploader.from_config == {mounts.ARCHIVE: "archive"}
    assert (found.uploader.remote, found.uploader.secret) == ("storage", None)
    assert found.uploader.image == "docker.io/rclone/rclone:1.76.0"


def test_what_is_kept_in_the_archive_goes_there_at_once() -> None:
    _, found = _made(put(f"{AT}.keep", "archive"), put(f"{AT}.archive", None))
    assert found.uploader.from_config == {KEEP: "archive"}
    assert KEEP not in found.uploader.environment


def test_without_an_archive_nobody_needs_rights_to_it() -> None:
    _, found = _made(drop("storage.archive"), put(f"{AT}.archive", None))
    assert (found.account, found.uploader.remote, found.uploader.from_config) == (None, None, {})


def test_a_worker_with_half_the_gpus_has_half_the_disks() -> None:
    _, whole = _made()
    _, half = _made(put("ray.clusters.tuning.workers.gpus", 4))
    assert whole.scratch
    assert half.scratch
    assert whole.scratch.size.value - 2**20 <= 2 * half.scratch.size.value <= whole.scratch.size.value


def test_who_writes_to_the_shared_tier_gets_no_disk() -> None:
    _, found = _made(put(f"{AT}.write", "shared"))
    assert found.scratch is None
    assert found.environment[DIR] == "/shared/checkpoints"


def test_a_local_volume_is_a_whole_disk() -> None:
    _, found = _made(put("storage.scratch.kind", "local"))
    assert found.scratch
    assert found.scratch.storage_class == "scratch"
    assert found.scratch.size.value == 3800 * 10**9 * 9 // 10 // 2**20 * 2**20


def test_who_does_not_ask_gets_nothing() -> None:
    env = environment(*RAY, put("ray.clusters.tuning.checkpoints", False))
    assert mounts.of(env, env.ray.clusters["tuning"]) is None


def test_the_uploader_counts_when_a_gang_is_placed() -> None:
    env, _ = _made()
    gang = gangs.gang(env, ("ray", "clusters", "tuning"))
    # KubeRay leaves it out of the gang's resources, as it leaves out all init containers.
    assert gang.worker["cpu"] == 96
    assert gang.worker_pod["cpu"] == 98
    assert gang.requests["cpu"] == 8 + 2 * 96


@pytest.mark.parametrize(("cpu", "fits"), [(188, True), (191, False)])
def test_a_worker_fits_beside_its_uploader_or_not(cpu: int, fits: bool) -> None:
    found = errors(*RAY, put("ray.clusters.tuning.workers.cpu", cpu))
    assert (found == {}) is fits
    if not fits:
        path, problem = only(found)
        assert path == "ray.clusters.tuning.workers.cpu"
        assert "and its uploader for 2 of cpu" in problem.message


def test_who_asks_needs_a_contract() -> None:
    path, problem = only(errors(*RAY, drop(AT)))
    assert (path, problem.message) == ("ray.clusters.tuning.checkpoints", "there is no storage.checkpoints")


def test_who_asks_needs_the_disks_to_write_to() -> None:
    small = {**CLUSTER, "pool": "system", "head": {"cpu": 1, "memory": "1Gi"}}
    small["workers"] = {"count": 1, "cpu": 1, "memory": "1Gi"}
    path, problem = only(errors(*RAY, put("ray.clusters.tuning", small)))
    assert path == "ray.clusters.tuning.pool"
    assert "have none" in problem.message
