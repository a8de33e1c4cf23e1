"""What a change of document does to nodes on AWS."""

import pytest

from model.aws.node_changes import disruptions
from tests.model.aws.documents import BLOCK, made
from tests.model.documents import Change, drop, put

KARPENTER = put("pools.serve.provisioner", "karpenter")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([], []),
        # told by the fabric
        ([put("pools.train.fabric", "tcp")], []),
        ([put("pools.serve.size", {"min": 0, "max": 2})], []),
        ([drop("pools.serve")], [("pool serve: removed", "EKS drains its nodes and ends them")]),
        (
            [put("pools.system.size", 2)],
            [("pool system: 3 -> 2 nodes", "EKS drains 1 of its nodes and ends them, whichever it chooses")],
        ),
        (
            [put("pools.system.instance", "m7i.4xlarge")],
            [("pool system: instance type m7i.2xlarge -> m7i.4xlarge", "the node group is replaced: new nodes come")],
        ),
        (
            [put("pools.train.capacity", BLOCK | {"reservation": "cr-0123456789abcdef0"})],
            [
                (
                    "pool train: reservation cr-0a1b2c3d4e5f67890 -> cr-0123456789abcdef0",
                    "EKS drains and replaces its nodes",
                )
            ],
        ),
        (
            [put("pools.train.capacity", {"kind": "reservation", "reservation": "cr-0a1b2c3d4e5f67890"})],
            [("pool train: capacity CAPACITY_BLOCK -> ON_DEMAND", "its nodes end before new ones come")],
        ),
        (
            [put("cluster.kubernetes", "1.34")],
            [(f"pool {pool}: Kubernetes 1.35 -> 1.34", "one at a time") for pool in ("system", "train", "serve")],
        ),
        ([put("pools.system.rootVolume", "200Gi")], [("pool system: root volume 100 -> 200", "one at a time")]),
    ],
)
def test_node_groups(changes: list[Change], expected: list[tuple[str, str]]) -> None:
    found = disruptions(made(), made(*changes))
    assert all(each.drains for each in found)
    told = [(f"{each.subject}: {each.change}", each.effect) for each in found]
    assert len(told) == len(expected), told
    for (change, effect), (wanted, part) in zip(told, expected, strict=True):
        assert change == wanted
        assert part in effect


def test_karpenter_leaves_gpu_nodes_until_they_are_empty() -> None:
    before = made(KARPENTER)
    (found,) = disruptions(before, made(KARPENTER, put("pools.serve.instance", "g6e.48xlarge")))
    assert (found.subject, found.drains) == ("pool serve", False)
    assert "stay as they are until they are empty" in found.effect
    (gone,) = disruptions(before, made(drop("pools.serve")))
    assert gone.effect == "Karpenter drains its nodes and ends them"
    assert disruptions(before, made(KARPENTER, put("pools.serve.size", {"min": 0, "max": 4}))) == []


def test_a_pool_that_karpenter_takes_over_is_no_node_group_any_more() -> None:
    (found,) = disruptions(made(), made(KARPENTER))
    assert found.change == "no longer a managed node group"
