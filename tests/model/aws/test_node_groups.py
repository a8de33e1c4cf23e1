"""What EKS is asked for, per pool."""

import email
from typing import Any

import pytest
import yaml

from catalog import reader as catalog
from model.aws import blocks
from model.aws.node_groups import EksTaint, autoscaler_tags, node_group
from tests.model.aws.documents import BLOCK, RESERVATION, made
from tests.model.documents import drop, put

AUTOSCALER = "k8s.io/cluster-autoscaler/node-template"


def test_a_block_has_its_three_parts() -> None:
    group = node_group(made(), "train")
    assert (group.capacity, group.reservation, group.zones) == ("CAPACITY_BLOCK", RESERVATION, ("us-east-2a",))
    assert not group.placement
    assert group.replaces_first


@pytest.mark.parametrize(
    ("capacity", "kind", "placement", "first"),
    [
        ({"kind": "on-demand"}, "ON_DEMAND", True, False),
        ({"kind": "spot"}, "SPOT", True, False),
        ({"kind": "reservation", "reservation": RESERVATION}, "ON_DEMAND", False, True),
        (BLOCK, "CAPACITY_BLOCK", False, True),
    ],
)
def test_kinds_of_capacity(capacity: dict[str, Any], kind: str, placement: bool, first: bool) -> None:
    group = node_group(made(put("pools.train.capacity", capacity)), "train")
    assert (group.capacity, group.placement, group.replaces_first) == (kind, placement, first)


def test_a_reservation_may_be_in_a_placement_group() -> None:
    capacity = {"kind": "reservation", "reservation": RESERVATION, "placementGroup": "wing-a"}
    group = node_group(made(put("pools.train.capacity", capacity)), "train")
    assert (group.placement, group.placement_group) == (False, "wing-a")


def test_without_efa_nodes_are_put_anywhere() -> None:
    group = node_group(made(), "serve")
    assert not group.placement
    assert group.interfaces == ()
    assert group.zones == ("us-east-2a", "us-east-2b")


@pytest.mark.parametrize(
    ("instance", "image", "ami"),
    [
        ("p5en.48xlarge", None, "AL2023_x86_64_NVIDIA"),
        ("p5en.48xlarge", "bottlerocket-nvidia", "BOTTLEROCKET_x86_64_NVIDIA"),
        ("m7i.2xlarge", None, "AL2023_x86_64_STANDARD"),
        ("m7g.2xlarge", None, "AL2023_ARM_64_STANDARD"),
        ("m7g.2xlarge", "bottlerocket", "BOTTLEROCKET_ARM_64"),
    ],
)
def test_the_image_follows_from_accelerator_and_architecture(instance: str, image: str | None, ami: str) -> None:
    pool = {"instance": instance, "size": 1, **({"image": image} if image else {})}
    assert node_group(made(put("pools.one", pool)), "one").ami_type == ami


@pytest.mark.parametrize(
    ("size", "ends"),
    [
        (3, (3, 3, 3)),
        (0, (0, 1, 0)),
        ({"min": 0, "max": 0}, (0, 1, 0)),
        ({"min": 1, "max": 5, "desired": 2}, (1, 5, 2)),
    ],
)
def test_sizes_as_eks_wants_them(size: object, ends: tuple[int, int, int]) -> None:
    group = node_group(made(put("pools.serve.size", size)), "serve")
    assert (group.fewest, group.most, group.initial) == ends
    assert group.autoscaled == isinstance(size, dict)


def test_labels_and_taints_in_eks_s_spelling() -> None:
    taints = [
        {"key": "a", "value": "1", "effect": "NoSchedule"},
        {"key": "b", "effect": "NO_EXECUTE"},
        {"key": "c", "value": "3", "effect": "PreferNoSchedule"},
    ]
    group = node_group(made(put("pools.train.taints", taints), put("pools.train.labels", {"acme.io/x": "y"})), "train")
    assert group.taints == (
        EksTaint("a", "1", "NO_SCHEDULE"),
        EksTaint("b", "", "NO_EXECUTE"),
        EksTaint("c", "3", "PREFER_NO_SCHEDULE"),
    )
    assert group.labels == {"acme.io/x": "y", "gangline.dev/pool": "train"}


def test_the_autoscaler_knows_nodes_that_are_not_there() -> None:
    changes = [
        put("pools.serve.labels", {"team": "a"}),
        put("pools.serve.taints", [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}]),
        put("pools.serve.sharing", {"timeSlicing": {"replicas": 4}}),
    ]
    assert autoscaler_tags(made(*changes), "serve") == {
        f"{AUTOSCALER}/label/team": "a",
        f"{AUTOSCALER}/label/gangline.dev/pool": "serve",
        f"{AUTOSCALER}/taint/nvidia.com/gpu": "true:NoSchedule",
        f"{AUTOSCALER}/resources/nvidia.com/gpu.shared": "16",
        f"{AUTOSCALER}/resources/ephemeral-storage": "3800G",
    }


def test_the_autoscaler_knows_efa() -> None:
    tags = autoscaler_tags(made(), "train")
    assert tags[f"{AUTOSCALER}/resources/vpc.amazonaws.com/efa"] == "16"
    assert tags[f"{AUTOSCALER}/resources/nvidia.com/gpu"] == "8"


def node_config(pool: str, *changes: Any) -> dict[str, Any]:
    message = email.message_from_string(node_group(made(*changes), pool).user_data)
    (part,) = [part for part in message.walk() if not part.is_multipart()]
    assert message.is_multipart()
    assert part.get_content_type() == "application/node.eks.aws"
    return yaml.safe_load(str(part.get_payload()))


def test_nodeadm_is_told_of_disks_and_pods() -> None:
    config = node_config("train", put("pools.train.maxPods", 100))
    assert (config["apiVersion"], config["kind"]) == ("node.eks.aws/v1alpha1", "NodeConfig")
    assert config["spec"] == {
        "kubelet": {"config": {"maxPods": 100}},
        "instance": {"localStorage": {"strategy": "RAID0"}},
    }
    assert "instance" not in node_config("system")["spec"]


def test_disks_are_an_array_or_volumes_and_never_both() -> None:
    local = put("storage.scratch", {"kind": "local", "pools": ["train"], "path": "/mnt/fast"})
    mounted = {"localStorage": {"strategy": "Mount", "mountPath": "/mnt/fast"}}
    fixed = put("pools.serve.size", 2)
    assert node_config("train", local, fixed)["spec"]["instance"] == mounted
    assert node_config("serve", local, fixed)["spec"]["instance"] == {"localStorage": {"strategy": "RAID0"}}
    array = put("storage.scratch", {"kind": "nvme", "pools": ["train"]})
    assert node_config("train", array)["spec"]["instance"] == {"localStorage": {"strategy": "RAID0"}}


def test_bottlerocket_is_told_in_its_own_words() -> None:
    import tomllib

    changes = [put("pools.serve.image", "bottlerocket-nvidia"), put("pools.serve.sharing", {"mps": {"replicas": 8}})]
    group = node_group(made(*changes), "serve")
    settings = tomllib.loads(group.user_data)["settings"]
    assert settings["kubernetes"]["max-pods"] == 110
    assert settings["kubelet-device-plugins"]["nvidia"]["mps"]["replicas"] == 8
    assert ["apiclient", "ephemeral-storage", "init"] in settings["bootstrap-commands"]["k8s-ephemeral-storage"][
        "commands"
    ]
    assert group.root_device == "/dev/xvdb"


def test_root_volumes() -> None:
    assert node_group(made(), "train").root_volume == 100
    assert node_group(made(put("pools.train.rootVolume", "1Ti")), "train").root_volume == 1024


def test_the_end_of_a_block_is_told_to_whoever_drains() -> None:
    assert blocks.drains(made()) == {
        "train": {
            "drain": "2026-12-20T10:50:00Z",
            "ending": "2026-12-20T11:00:00Z",
            "ends": "2026-12-20T11:30:00Z",
        }
    }
    assert blocks.drains(made(drop("pools.train"))) == {}


@pytest.mark.parametrize("name", sorted(name for name, it in catalog.instances().items() if it.efa))
def test_each_efa_type_makes_a_group_with_its_interfaces(name: str) -> None:
    env = made(put("pools.train.instance", name), put("pools.train.capacity", {"kind": "on-demand"}))
    group = node_group(env, "train")
    assert len([it for it in group.interfaces if it.kind == "efa-only"]) == catalog.instances()[name].efa
