"""The cache of datasets."""

from typing import Any

import pytest

from model.storage import caches
from tests.model.documents import Change, environment, errors, only, put, warnings

NVME = put("storage.scratch", {"kind": "nvme"})
STORE = {"kind": "s3", "bucket": "data", "endpoint": "https://objects.example.com", "secret": "archive"}
FOLDERS = {"imagenet": "datasets/imagenet/"}


def juicefs(**more: Any) -> Change:
    return put("storage.cache", {"kind": "juicefs", "secret": "jfs", "size": "8Ti", **more})


def fluid(**more: Any) -> Change:
    return put("storage.cache", {"kind": "fluid", "secret": "jfs", "size": "8Ti", "datasets": dict(FOLDERS), **more})


ALLUXIO = put("storage.cache", {"kind": "fluid", "runtime": "alluxio", "size": "8Ti", "datasets": FOLDERS})


def test_mounts_are_pinned_cache_on_the_disks_and_write_through():
    values = caches.driver_values(environment(NVME, juicefs()), "juicedata/mount:ce-v1")
    (mounts,) = values["globalConfig"]["mountPodPatch"]
    assert values["defaultMountImage"]["ce"] == mounts["ceMountImage"] == "juicedata/mount:ce-v1"
    assert [each["path"] for each in mounts["cacheDirs"]] == [caches.FOLDER]
    assert f"cache-size={8 * 1024 * 1024}" in mounts["mountOptions"]
    assert not [option for option in mounts["mountOptions"] if "writeback" in option]


@pytest.mark.parametrize("scratch", [None, {"kind": "local"}])
@pytest.mark.parametrize("cache", [juicefs(), fluid()])
def test_a_cache_is_on_an_array_of_disks(scratch: Any, cache: Change):
    assert only(errors(put("storage.scratch", scratch) if scratch else NVME, cache, put("storage.scratch", scratch)))[
        0
    ] == ("storage.cache.kind")


def test_a_tenth_of_the_disks_stays_free():
    assert not errors(NVME, juicefs(size="27640G"))
    path, problem = only(errors(NVME, juicefs(size="27650G")))
    assert path == "storage.cache.size"
    assert "of pool train" in problem.message


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (juicefs(secret="Jfs"), "storage.cache.secret"),
        (fluid(secret="Jfs"), "storage.cache.secret"),
        (fluid(secret=None), "storage.cache.secret"),
        (fluid(workers=0), "storage.cache.workers"),
        (fluid(datasets={"Imagenet": "a/"}), "storage.cache.datasets.Imagenet"),
        (fluid(datasets={"imagenet": "/a"}), "storage.cache.datasets.imagenet"),
        (fluid(datasets={"imagenet": "a/../b/"}), "storage.cache.datasets.imagenet"),
        (fluid(runtime="alluxio"), "storage.cache.secret"),
    ],
)
def test_what_cannot_be(change: Change, path: str):
    assert only(errors(NVME, put("storage.archive", dict(STORE)), change))[0] == path


def test_alluxio_reads_a_store_with_keys_and_nobody_works_on_it():
    assert only(errors(NVME, ALLUXIO))[0] == "storage.cache.runtime"
    store = put("storage.archive", dict(STORE))
    assert not errors(NVME, store, ALLUXIO)
    assert "2024" in warnings(NVME, store, ALLUXIO)["storage.cache.runtime"].message
    spec = caches.dataset(environment(NVME, store, ALLUXIO), "imagenet")
    (mount,) = spec["mounts"]
    assert mount["mountPoint"] == "s3://data/datasets/imagenet/"
    assert {key["valueFrom"]["secretKeyRef"]["name"] for key in mount["encryptOptions"]} == {"archive"}


@pytest.mark.parametrize("key", ["write", "keep"])
def test_checkpoints_do_not_go_to_a_cache(key: str):
    contract = {"write": "scratch", "keep": "shared", "every": "15m", "retain": 2, key: "cache"}
    found = errors(NVME, juicefs(), put("storage.checkpoints", contract))
    assert "cache" not in (found[f"storage.checkpoints.{key}"].allowed or "")


def test_nor_to_the_class_of_the_cache():
    sizes = [put(f"tenants.{name}.quota.storage", "1Ti") for name in ("research", "production")]
    shared = put("storage.shared", {"kind": "class", "name": "datasets", "size": "100Ti"})
    assert only(errors(NVME, juicefs(), shared, *sizes))[0] == "storage.shared.name"


def test_the_one_runtime_that_is_used_is_on():
    values = caches.fluid_values(environment(NVME, fluid()))
    assert values["runtime"] == {"juicefs": {"enabled": True}}
    kind, spec = caches.runtime(environment(NVME, fluid(workers=3)), "imagenet", "docker.io/juicedata/mount:ce-v1")
    assert (kind, spec["replicas"], spec["juicefsVersion"]["imageTag"]) == ("JuiceFSRuntime", 3, "ce-v1")
