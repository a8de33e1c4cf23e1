"""Pools on AWS: what cannot be had is refused before anything is made, with the place, what is allowed and a fix."""

from typing import Any

import pytest

from model import document
from model.problems import spoken
from tests.model.aws.documents import RESERVATION, found, made, only
from tests.model.documents import Change, drop, put, small


def test_the_document_is_sound() -> None:
    assert found() == {}
    assert found(severity="warning") == {}


# EFA and placement groups stay in one zone.


@pytest.mark.parametrize(
    "changes",
    [
        [drop("pools.train.zone")],
        [drop("pools.train.zone"), put("pools.train.capacity", {"kind": "on-demand"})],
        [drop("pools.train.zone"), put("pools.train.capacity", {"kind": "spot"})],
        [
            drop("pools.train.zone"),
            put("pools.train.fabric", "tcp"),
            put("pools.train.capacity", {"kind": "reservation", "reservation": RESERVATION}),
        ],
        [drop("pools.train.zone"), put("pools.train.fabric", "tcp")],
    ],
)
def test_efa_and_reservations_need_one_zone(changes: list[Change]) -> None:
    path, problem = only(*changes)
    assert path == "pools.train.zone"
    assert problem.allowed == "us-east-2a, us-east-2b"
    assert "us-east-2a, us-east-2b" in problem.message


@pytest.mark.parametrize("zone", ["us-east-2c", "us-east-1a", "use2-az1", "a"])
def test_a_zone_is_one_of_the_cluster_s(zone: str) -> None:
    path, problem = only(put("pools.train.zone", zone))
    assert (path, problem.value, problem.allowed) == ("pools.train.zone", zone, "us-east-2a, us-east-2b")


def test_a_pool_without_efa_may_stand_in_all_zones() -> None:
    env = made()
    assert env.pools["serve"].zone is None


# EFA on types that have none.


@pytest.mark.parametrize("instance", ["g5.xlarge", "g6e.4xlarge", "g4dn.xlarge", "m7i.2xlarge", "g6.2xlarge"])
def test_efa_needs_a_type_that_carries_it(instance: str) -> None:
    path, problem = only(put("pools.train.instance", instance), put("pools.train.capacity", {"kind": "on-demand"}))
    assert path == "pools.train.fabric"
    assert problem.value == "efa"
    assert instance in problem.message
    assert "p5.48xlarge" in problem.allowed
    assert "tcp" in problem.allowed


@pytest.mark.parametrize("instance", ["g6e.48xlarge", "p4d.24xlarge", "p5.48xlarge", "p6-b300.48xlarge"])
def test_types_with_efa_take_it(instance: str) -> None:
    assert found(put("pools.train.instance", instance), put("pools.train.capacity", {"kind": "on-demand"})) == {}


@pytest.mark.parametrize("fabric", ["infiniband", "roce"])
def test_other_fabrics_are_not_there(fabric: str) -> None:
    errors = found(put("pools.train.fabric", fabric))
    assert "pools.train.fabric" in errors
    assert "efa" in (errors["pools.train.fabric"].allowed or "")


@pytest.mark.parametrize("instance", ["p5en.48xlarg", "p5en-48xlarge", "p9.48xlarge", "p6e-gb200.36xlarge"])
def test_the_catalogue_has_no_other_types(instance: str) -> None:
    path, problem = only(put("pools.train.instance", instance))
    assert path == "pools.train.instance"
    assert (problem.fix == "p5en.48xlarge") == instance.startswith("p5en")


# Taints, labels, names.


@pytest.mark.parametrize(
    ("effect", "allowed", "fix"),
    [
        ("NoSchedule", True, None),
        ("NO_SCHEDULE", True, None),
        ("NO_EXECUTE", True, None),
        ("PREFER_NO_SCHEDULE", True, None),
        ("NoSchedul", False, "NoSchedule"),
        ("noschedule", False, "NoSchedule"),
        ("NOSCHEDULE", False, "NoSchedule"),
        ("Evict", False, None),
    ],
)
def test_effects_are_read_in_both_spellings(effect: str, allowed: bool, fix: str | None) -> None:
    errors = found(put("pools.train.taints.0.effect", effect))
    assert (errors == {}) == allowed
    if not allowed:
        assert errors["pools.train.taints[0].effect"].fix == fix


@pytest.mark.parametrize(
    ("key", "right"),
    [
        ("topology.kubernetes.io/rack", False),
        ("node.kubernetes.io/x", False),
        ("node-role.kubernetes.io/worker", False),
        ("kubernetes.io/team", False),
        ("k8s.io/team", False),
        ("cluster.k8s.io/team", False),
        ("eks.amazonaws.com/team", False),
        ("acme.io/rack", True),
        ("mykubernetes.io/rack", True),
        ("rack", True),
    ],
)
def test_reserved_prefixes_of_labels(key: str, right: bool) -> None:
    errors = found(put(("pools", "train", "labels"), {key: "r1"}))
    assert list(errors) == ([] if right else [f'pools.train.labels["{key}"]'])


@pytest.mark.parametrize("value", [True, 7, None, 1.5])
def test_values_of_labels_are_text(value: object) -> None:
    assert list(found(put("pools.train.labels", {"gpu": value}))) == ["pools.train.labels.gpu"]


def test_eks_takes_no_empty_labels() -> None:
    assert list(found(put("pools.train.labels", {"gpu": ""}))) == ["pools.train.labels.gpu"]


# Sizes.


@pytest.mark.parametrize(
    ("size", "place"),
    [
        ({"min": 3, "max": 2}, "size.min"),
        ({"min": 0, "max": 4, "desired": 5}, "size.desired"),
        ({"min": -1, "max": 4}, "size.min"),
        (-1, "size"),
    ],
)
def test_sizes_that_cannot_be(size: object, place: str) -> None:
    assert list(found(put("pools.serve.size", size))) == [f"pools.serve.{place}"]


@pytest.mark.parametrize(
    ("size", "place"),
    [(2, "size"), ({"min": 1, "max": 4}, "size.min"), ({"min": 0, "max": 4, "desired": 2}, "size.desired")],
)
def test_karpenter_begins_with_nothing(size: object, place: str) -> None:
    errors = found(put("pools.serve.provisioner", "karpenter"), put("pools.serve.size", size))
    assert list(errors) == [f"pools.serve.{place}"]


def test_karpenter_makes_no_efa_nodes() -> None:
    errors = found(
        put("pools.train.provisioner", "karpenter"),
        put("pools.train.size", {"min": 0, "max": 4}),
        put("pools.train.capacity", {"kind": "on-demand"}),
    )
    assert list(errors) == ["pools.train.fabric"]


# Images and volumes.


@pytest.mark.parametrize("image", ["ubuntu", "dgx-os", "rhel", "prepared", "eks-auto"])
def test_managed_nodes_have_images_of_eks(image: str) -> None:
    errors = found(put("pools.train.image", image))
    assert list(errors) == ["pools.train.image"]
    assert "al2023-nvidia" in (errors["pools.train.image"].allowed or "")


@pytest.mark.parametrize(
    ("pool", "image", "right"),
    [
        ("train", "al2023-nvidia", True),
        ("train", "bottlerocket-nvidia", True),
        ("train", "al2023", False),
        ("train", "bottlerocket", False),
        ("system", "al2023", True),
        ("system", "bottlerocket", True),
        ("system", "al2023-nvidia", False),
    ],
)
def test_images_fit_machines(pool: str, image: str, right: bool) -> None:
    assert list(found(put(f"pools.{pool}.image", image))) == ([] if right else [f"pools.{pool}.image"])


@pytest.mark.parametrize("volume", ["200Gi", "20Gi", "1Ti"])
def test_root_volumes(volume: str) -> None:
    assert found(put("pools.train.rootVolume", volume)) == {}


@pytest.mark.parametrize("volume", ["200G", "10Gi", "200.5Gi", "65535.5Gi", "100Ti", "5"])
def test_no_root_volumes(volume: str) -> None:
    assert list(found(put("pools.train.rootVolume", volume))) == ["pools.train.rootVolume"]


@pytest.mark.parametrize("volume", ["0.5Gi", "1500M", "19Gi"])
def test_a_volume_that_is_too_small_is_not_rounded(volume: str) -> None:
    (problem,) = found(put("pools.train.rootVolume", volume)).values()
    assert (problem.allowed, problem.fix) == ("20Gi to 65536Gi", None)


@pytest.mark.parametrize(
    ("image", "release", "right"),
    [
        ("al2023-nvidia", "1.35.3-20261112", True),
        ("al2023-nvidia", "1.34.3-20261112", False),
        ("al2023-nvidia", "1.57.0-d8ea4f6f", False),
        ("al2023-nvidia", "latest", False),
        ("al2023-nvidia", "1.35", False),
        ("bottlerocket-nvidia", "1.57.0-d8ea4f6f", True),
        ("bottlerocket-nvidia", "1.57.0-12345678", True),
        ("bottlerocket-nvidia", "v1.57.0", False),
    ],
)
def test_releases_are_those_of_the_pool_s_image(image: str, release: str, right: bool) -> None:
    errors = found(put("pools.train.image", image), put("pools.train.amiRelease", release))
    assert list(errors) == ([] if right else ["pools.train.amiRelease"])


def test_only_images_of_eks_are_offered() -> None:
    (problem,) = found(put("pools.serve.image", "al2023")).values()
    assert problem.allowed == "al2023-nvidia, bottlerocket-nvidia"


# Names and marks, as long as AWS takes them.


def test_a_managed_pool_s_name_leaves_room_for_that_of_its_group() -> None:
    pool = {"instance": "m7i.xlarge", "size": 1}
    assert found(put(f"pools.{'p' * 35}", pool)) == {}
    for length in (36, 61, 63, 64):
        assert list(found(put(f"pools.{'p' * length}", pool))) == [f"pools.{'p' * length}"]
    assert found(put(f"pools.{'p' * 63}", {**pool, "size": {"min": 0, "max": 1}, "provisioner": "karpenter"})) == {}


LONG = f"{'a' * 50}.example/rack"


@pytest.mark.parametrize(("key", "right"), [(LONG, True), (f"a{LONG}", False), ("n" * 64, False)])
def test_eks_counts_keys_with_their_prefixes(key: str, right: bool) -> None:
    labels = found(put("pools.serve.labels", {key: "r1"}))
    taints = found(put("pools.serve.taints", [{"key": key, "effect": "NoSchedule"}]))
    assert (len(labels), list(taints)) == ((0, []) if right else (1, ["pools.serve.taints[0].key"]))


def test_karpenter_counts_names_only() -> None:
    pool = {"instance": "g6e.12xlarge", "size": {"min": 0, "max": 8}, "provisioner": "karpenter"}
    marks = {"labels": {f"a{LONG}": "r1", "b": ""}, "taints": [{"key": f"a{LONG}", "effect": "NoSchedule"}]}
    assert found(put("pools.serve", {**pool, **marks})) == {}


@pytest.mark.parametrize("provisioner", ["managed", "karpenter"])
@pytest.mark.parametrize("key", ["karpenter.sh/capacity-type", "karpenter.k8s.aws/instance-family"])
def test_labels_of_karpenter_s_are_its_own(provisioner: str, key: str) -> None:
    pool = {"instance": "g6e.12xlarge", "size": {"min": 0, "max": 8}, "provisioner": provisioner, "labels": {key: "x"}}
    assert list(found(put("pools.serve", pool))) == [f'pools.serve.labels["{key}"]']


def test_a_group_has_room_for_so_many_tags_of_the_autoscaler() -> None:
    def marked(labels: int) -> Change:
        return put("pools.serve.labels", {f"l{each}": "x" for each in range(labels)})

    assert found(marked(42)) == {}
    path, problem = only(marked(43))
    assert (path, problem.allowed) == ("pools.serve", "at most 42 labels and taints")
    assert found(marked(43), put("pools.serve.size", 2)) == {}


@pytest.mark.parametrize(
    ("key", "value", "place"),
    [
        ("size", -1, ""),
        ("size", 100_001, ""),
        ("size", {"min": 2, "max": 1}, ".min"),
        ("size", {"min": 0, "max": 4, "desired": 9}, ".desired"),
        ("maxPods", 2_501, ""),
    ],
)
def test_a_number_that_cannot_be_is_told_once(key: str, value: object, place: str) -> None:
    errors = found(put("pools.serve.provisioner", "karpenter"), put(f"pools.serve.{key}", value))
    assert list(errors) == [f"pools.serve.{key}{place}"]


def test_efa_that_is_not_there_wants_no_zone() -> None:
    assert list(found(put("pools.system.fabric", "efa"))) == ["pools.system.fabric"]


@pytest.mark.parametrize("sharing", [{"mps": {"replicas": 2}}, {"mig": {"profiles": {"1g.5gb": 7}}}])
def test_an_instance_without_gpus_has_none_to_share(sharing: dict[str, Any]) -> None:
    assert list(found(put("pools.system.sharing", sharing))) == ["pools.system.sharing"]


# What belongs to the other kind of cluster.


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("zone", "us-east-2a"),
        ("capacity", {"kind": "spot"}),
        ("provisioner", "karpenter"),
        ("amiRelease", "1.35.3-20261112"),
        ("rootVolume", "200Gi"),
    ],
)
def test_an_existing_cluster_is_not_made(key: str, value: object) -> None:
    pool = {"server": "dgx-h100", "size": 2, key: value}
    wrong = [it for it in document.judge(small(pools={"train": pool})).problems if it.severity == "error"]
    assert [spoken(it.path) for it in wrong] == [f"environment.pools.train.{key}"]


@pytest.mark.parametrize(("key", "value"), [("server", "dgx-h100"), ("shape", {"cpu": 8, "memory": "32Gi"})])
def test_nodes_on_aws_are_instances(key: str, value: object) -> None:
    assert list(found(put(f"pools.train.{key}", value))) == [f"pools.train.{key}"]
    assert list(found(drop("pools.train.instance"), put(f"pools.train.{key}", value))) == [f"pools.train.{key}"]


def test_instances_may_be_nodes_of_an_existing_cluster() -> None:
    env = document.load(small(pools={"train": {"instance": "p5.48xlarge", "fabric": "efa", "size": 2}}))
    assert env.pools["train"].instance == "p5.48xlarge"


# A home for what the cluster runs on.


@pytest.mark.parametrize(
    "change",
    [
        drop("pools.system"),
        put("pools.system.size", 0),
        put("pools.system.size", {"min": 0, "max": 3}),
        put("pools.system.capacity", {"kind": "spot"}),
        put("pools.system.taints", [{"key": "team", "effect": "NoSchedule"}]),
        put("pools.system.instance", "g6.xlarge"),
    ],
)
def test_some_pool_is_always_there_for_all(change: Change) -> None:
    path, problem = only(change)
    assert path == "pools"
    assert problem.fix


def test_preferences_keep_nobody_out() -> None:
    assert found(put("pools.system.taints", [{"key": "team", "effect": "PreferNoSchedule"}])) == {}


# Gangs and Karpenter.


@pytest.mark.parametrize(
    ("count", "capacity", "right"),
    [
        (4, {"kind": "spot"}, False),
        (1, {"kind": "on-demand"}, False),
        ({"min": 2, "max": 4}, {"kind": "spot"}, False),
        ({"min": 0, "max": 4}, {"kind": "spot"}, True),
        (4, {"kind": "reservation", "reservation": RESERVATION}, True),
    ],
)
def test_gangs_need_nodes_that_come_together(count: object, capacity: dict[str, Any], right: bool) -> None:
    serve = {
        "instance": "g6e.12xlarge",
        "size": {"min": 0, "max": 8},
        "zone": "us-east-2b",
        "provisioner": "karpenter",
        "capacity": capacity,
    }
    tuning = {
        "namespace": "research",
        "queue": "research",
        "pool": "serve",
        "ray": "2.52.0",
        "head": {"cpu": 2, "memory": "8Gi"},
        "workers": {"count": count, "gpus": 1, "cpu": 4, "memory": "16Gi"},
    }
    errors = found(
        drop("pools.train"),
        put("pools.serve", serve),
        put("queues", {"research": {"capability": {"gpu": 32}}}),
        put("tenants", {"research": {"namespaces": ["research"], "queues": ["research"]}}),
        put("ray", {"clusters": {"tuning": tuning}}),
    )
    assert list(errors) == ([] if right else ["ray.clusters.tuning.pool"])
