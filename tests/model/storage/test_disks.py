"""The NVMe disks of nodes: which pools have scratch, and how much."""

from decimal import Decimal
from typing import Any

import pytest

from catalog import reader as catalog
from model.storage import disks
from tests.model.aws import documents as aws
from tests.model.documents import Change, environment, errors, only, put

T = Decimal(10**12)


def scratch(kind: str = "nvme", **more: Any) -> Change:
    return put("storage.scratch", {"kind": kind, **more})


@pytest.mark.parametrize("name", ["dgx-a100", "dgx-h100", "dgx-h200", "dgx-b200"])
def test_nvidias_servers_have_eight_disks(name: str):
    env = environment(scratch(), put("pools.train.server", name))
    assert disks.of(env.pools["train"]) == disks.Disks(8, T * 384 / 100)


def test_boards_have_what_their_host_says():
    assert all(server.disk is None for server in catalog.servers().values() if server.board)
    host = {"cpu": 208, "memory": "2Ti"}
    board = (put("pools.train.server", "hgx-h100"), put("pools.train.host", host))
    assert only(errors(scratch(), *board))[0] == "storage.scratch.kind"
    env = environment(scratch(), board[0], put("pools.train.host", {**host, "disks": {"count": 4, "size": "7680G"}}))
    assert disks.size(env, "train") == 4 * T * 768 / 100


def test_without_a_list_all_with_disks_have_it():
    env = environment(scratch(), put("pools.serve.shape.disks", {"count": 2, "size": "1T"}))
    assert disks.pools(env) == ("train", "serve")
    assert disks.size(env, "system") == 0
    assert disks.pools(environment(scratch(pools=["train"]))) == ("train",)
    assert disks.pools(environment()) == ()


@pytest.mark.parametrize(("kind", "bytes_"), [("nvme", 8 * 3_840 * 10**9), ("local", 3_840 * 10**9)])
def test_a_pod_has_the_array_or_one_disk(kind: str, bytes_: int):
    env = environment(scratch(kind))
    assert disks.size(env, "train") == bytes_
    assert disks.volumes(env, "train") is (kind == "local")
    assert not disks.volumes(env, "system")


@pytest.mark.parametrize(
    ("pools", "path", "says"),
    [
        (["trian"], "storage.scratch.pools[0]", "no such pool"),
        (["train", "train"], "storage.scratch.pools[1]", "twice"),
        (["train", "system"], "storage.scratch.pools[1]", "no NVMe disks"),
    ],
)
def test_pools_are_there_and_have_disks(pools: list[str], path: str, says: str):
    found, problem = only(errors(scratch(pools=pools)))
    assert found == path
    assert says in problem.message


def test_a_pool_without_disks_is_told_how_to_say_that_it_has_some():
    _, problem = only(errors(scratch(pools=["system"])))
    assert problem.allowed == "train"
    assert problem.fix == "in shape of pool system: disks: {count: …, size: …}"


@pytest.mark.parametrize("count", [0, 65])
def test_a_machine_has_some_disks(count: int):
    path, _ = only(errors(put("pools.system.shape.disks", {"count": count, "size": "1T"})))
    assert path == "pools.system.shape.disks.count"


@pytest.mark.parametrize(
    ("path", "fix"),
    [
        ("mnt/disks", "/mnt/disks"),
        ("/", None),
        ("/mnt/../x", "/mnt/x"),
        ("/mnt/a b", None),
        (" ", None),
        (" /a ", "/a"),
    ],
)
def test_the_folder_of_volumes_is_an_absolute_path(path: str, fix: str | None):
    found, problem = only(errors(scratch("local", path=path)))
    assert (found, problem.fix) == ("storage.scratch.path", fix)
    assert fix is None or not errors(scratch("local", path=fix))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ([put("pools.train.image", "bottlerocket-nvidia")], "one array"),
        ([put("pools.train.provisioner", "karpenter"), put("pools.train.capacity", {"kind": "spot"})], "bring no node"),
        (
            [put("pools.train.size", {"min": 0, "max": 4}), put("pools.train.capacity", {"kind": "on-demand"})],
            "bring no node",
        ),
    ],
)
def test_on_aws_some_pools_cannot_have_volumes(changes: list[Change], says: str):
    found = aws.found(scratch("local", pools=["train"]), *changes)
    assert says in found["storage.scratch.kind"].message
    assert "storage.scratch.kind" not in aws.found(scratch(pools=["train"]), *changes)


def test_on_aws_disks_are_those_of_the_instance_type():
    env = aws.made(scratch())
    assert disks.pools(env) == ("train", "serve")
    assert disks.of(env.pools["train"]) == disks.Disks(8, T * 38 / 10)
