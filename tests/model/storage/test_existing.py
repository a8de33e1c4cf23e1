"""File systems that are there already."""

import pytest

from model.storage import existing
from tests.model.aws import documents as aws
from tests.model.documents import Change, environment, errors, only, put

SIZES = [put("tenants.research.quota.storage", "20Ti"), put("tenants.production.quota.storage", "20Ti")]


def lustre(mount: str) -> list[Change]:
    return [put("storage.shared", {"kind": "lustre", "size": "100Ti", "mount": mount}), *SIZES]


def beegfs(management: str = "10.0.0.9", path: str = "/k8s") -> list[Change]:
    shared = {"kind": "beegfs", "management": management, "path": path, "size": "100Ti"}
    return [put("storage.shared", shared), *SIZES]


@pytest.mark.parametrize(
    ("changes", "root", "handle"),
    [
        (lustre("10.0.0.5@o2ib:/scratch"), "10.0.0.5@o2ib:/scratch", "10.0.0.5@o2ib:/scratch/research"),
        (lustre("a@tcp,b@tcp1:c@tcp:/fs/x/y"), "a@tcp,b@tcp1:c@tcp:/fs/x/y", "a@tcp,b@tcp1:c@tcp:/fs/x/y/research"),
        (lustre("mgs.example.com:/fs"), "mgs.example.com:/fs", "mgs.example.com:/fs/research"),
        (beegfs(), "beegfs://10.0.0.9/k8s", "beegfs://10.0.0.9/k8s/research"),
        (beegfs("mgmt.example.com", "/"), "beegfs://mgmt.example.com/", "beegfs://mgmt.example.com/research"),
    ],
)
def test_each_namespace_has_a_folder(changes: list[Change], root: str, handle: str):
    env = environment(*changes)
    assert existing.root(env) == root
    assert existing.handle(env, "research") == handle
    assert len({existing.handle(env, namespace) for namespace in ("research", "research-dev", "production")}) == 3


@pytest.mark.parametrize(
    ("mount", "fix"),
    [
        ("10.0.0.5@o2ib", None),
        ("10.0.0.5@o2ib:scratch", None),
        ("/scratch", None),
        ("10.0.0.5@o2ib:/scratch/", "10.0.0.5@o2ib:/scratch"),
        ("10.0.0.5@o2ib:/longerthan8", None),
        ("10.0.0.5@:/scratch", None),
        ("10.0.0.5@o2ib::/scratch", None),
        ("10.0.0.5@o2ib:/scratch/a b", None),
        ("10.0.0.5@o2ib:/scratch/../etc", None),
        ("", None),
    ],
)
def test_a_mount_of_lustre_is_written_as_mount_wants_it(mount: str, fix: str | None):
    path, problem = only(errors(*lustre(mount)))
    assert path == "storage.shared.mount"
    assert problem.fix == fix


def test_elsewhere_than_on_aws_lustre_is_there():
    changes = [put("storage.shared", {"kind": "lustre", "size": "100Ti"}), *SIZES]
    assert only(errors(*changes))[0] == "storage.shared.mount"


@pytest.mark.parametrize(
    ("path", "fix"), [("k8s", "/k8s"), ("/k8s/", "/k8s"), ("/a//b", "/a/b"), ("/a/../b", None), ("/a b", None)]
)
def test_a_folder_of_beegfs_is_an_absolute_path(path: str, fix: str | None):
    place, problem = only(errors(*beegfs(path=path)))
    assert (place, problem.fix) == ("storage.shared.path", fix)


@pytest.mark.parametrize("host", ["beegfs://10.0.0.9", "Mgmt", "10.0.0.9:8008", ""])
def test_the_management_service_is_a_host(host: str):
    assert only(errors(*beegfs(management=host)))[0] == "storage.shared.management"


def test_a_handle_is_no_longer_than_drivers_take():
    path, problem = only(errors(*beegfs(path="/" + "a" * 120)))
    assert path == "storage.shared.path"
    assert "128" in (problem.allowed or "")


def test_bottlerocket_mounts_no_existing_one():
    shared = {"kind": "beegfs", "management": "10.0.0.9", "path": "/k8s", "size": "1Ti"}
    found = aws.found(put("storage.shared", shared), put("pools.train.image", "bottlerocket-nvidia"))
    assert "takes no client of beegfs" in found["pools.train.image"].message
