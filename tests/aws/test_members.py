"""The nodes that node groups bring."""

from typing import Any

import pytest
from place import Place
from provider_client import ACCOUNT, REGION

from model import nodes
from model.document import read
from model.topology import AWS_LAYERS
from twin.aws import members
from twin.aws.members import Member
from twin.paths import CHECKOUT


@pytest.fixture
def group(place: Place) -> Any:
    """A group of 40 nodes, for the pool `train` of the twin's own environment."""
    eks = place.client("eks")
    eks.create_nodegroup(
        clusterName=place.cluster,
        nodegroupName="members",
        nodeRole=f"arn:aws:iam::{ACCOUNT}:role/members",
        subnets=[place.subnets[0]],
        scalingConfig={"minSize": 0, "maxSize": 64, "desiredSize": 40},
        launchTemplate={"id": place.template, "version": "1"},
        labels={nodes.POOL_LABEL: "train"},
        taints=[{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}],
    )
    yield {"clusterName": place.cluster, "nodegroupName": "members"}
    eks.delete_nodegroup(clusterName=place.cluster, nodegroupName="members")


def of_group(place: Place) -> dict[str, Member]:
    found = members.members(place.cloud)
    return {one.name: one for one in found if one.labels["eks.amazonaws.com/nodegroup"] == "members"}


def test_a_group_has_as_many_nodes_as_it_is_told(place: Place, group: dict[str, str]) -> None:
    before = of_group(place)
    assert len(before) == 40
    one = next(iter(before.values()))
    assert one.labels["node.kubernetes.io/instance-type"] == "p5.48xlarge"
    assert one.labels["topology.kubernetes.io/zone"] == f"{REGION}a"
    assert one.labels["kubernetes.io/arch"] == "amd64"
    assert [(taint.key, taint.effect) for taint in one.taints] == [("nvidia.com/gpu", "NoSchedule")]
    place.client("eks").update_nodegroup_config(**group, scalingConfig={"desiredSize": 8})
    after = of_group(place)
    assert len(after) == 8
    assert after.keys() < before.keys()
    place.client("eks").update_nodegroup_config(**group, scalingConfig={"desiredSize": 0})
    assert of_group(place) == {}


def test_labels_and_taints_change_nodes_a_new_template_brings_others(place: Place, group: dict[str, str]) -> None:
    before = of_group(place)
    place.client("eks").update_nodegroup_config(
        **group,
        labels={"addOrUpdateLabels": {"more": "yes"}},
        taints={"addOrUpdateTaints": [{"key": "other", "effect": "NO_EXECUTE"}]},
    )
    after = of_group(place)
    assert after.keys() == before.keys()
    one = next(iter(after.values()))
    assert one.labels["more"] == "yes"
    assert {taint.effect for taint in one.taints} == {"NoSchedule", "NoExecute"}
    place.client("eks").update_nodegroup_version(**group, launchTemplate={"id": place.template, "version": "2"})
    assert not of_group(place).keys() & before.keys()


def test_the_network_has_layers(place: Place, group: dict[str, str]) -> None:
    found = of_group(place).values()
    outer, middle, inner = ({one.labels[label] for one in found} for label in AWS_LAYERS)
    assert (len(outer), len(middle), len(inner)) == (1, 1, 3)  # 40 nodes, 16 to a leaf, 4 leaves to a spine


def test_the_model_says_what_such_a_node_offers(place: Place, group: dict[str, str]) -> None:
    env = read(CHECKOUT / "stacks" / "Pulumi.twin.yaml").load()
    made = [members.offer(env, one) for one in of_group(place).values()]
    pool = env.pools["train"]
    assert made[0].pool == "train"
    assert made[0].allocatable == {name: str(amount) for name, amount in nodes.allocatable(pool).items()}
    assert made[0].labels["eks.amazonaws.com/nodegroup"] == "members"


def test_only_the_groups_of_some_clusters_are_looked_at(place: Place, group: dict[str, str]) -> None:
    assert members.members(place.cloud, ["not-there"]) == []
    assert members.members(place.cloud, [place.cluster, "not-there"]) == members.members(place.cloud)


def test_a_group_of_somebody_elses_has_no_pool(place: Place) -> None:
    [other] = [one for one in members.members(place.cloud) if one.labels["eks.amazonaws.com/nodegroup"] == "place"]
    assert other.pool is None
