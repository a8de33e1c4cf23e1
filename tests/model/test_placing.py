"""Taints and tolerations, labels and selectors, as Kubernetes' own documentation has them."""

from pathlib import Path

import pytest

from model import document, offers, placing
from model.placing import Requirement, Toleration
from model.pools import Taint

STACKS = Path(__file__).parents[2] / "stacks"
GPU = Taint(key="nvidia.com/gpu", value="true", effect="NoSchedule")
SOFT = Taint(key="nvidia.com/gpu", value="true", effect="PreferNoSchedule")


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        (Toleration(key="nvidia.com/gpu", exists=True), True),
        (Toleration(key="nvidia.com/gpu", exists=True, effect="NoSchedule"), True),
        (Toleration(key="nvidia.com/gpu", value="true"), True),
        (Toleration(exists=True), True),
        (Toleration(key="nvidia.com/gpu", exists=True, effect="NoExecute"), False),
        (Toleration(key="nvidia.com/gpu", value="present"), False),
        (Toleration(key="nvidia.com/gpu"), False),
        (Toleration(key="nvidia.com", exists=True), False),
        (Toleration(), False),
    ],
)
def test_a_toleration(toleration: Toleration, expected: bool) -> None:
    assert toleration.tolerates(GPU) is expected
    assert placing.repelling([GPU, SOFT], [toleration]) == ([] if expected else [GPU])


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        (Requirement("disk", "In", ("fast", "slow")), True),
        (Requirement("disk", "In", ("slow",)), False),
        (Requirement("zone", "In", ("a",)), False),
        (Requirement("disk", "NotIn", ("slow",)), True),
        (Requirement("disk", "NotIn", ("fast",)), False),
        (Requirement("zone", "NotIn", ("a",)), True),
        (Requirement("disk", "Exists"), True),
        (Requirement("zone", "Exists"), False),
        (Requirement("zone", "DoesNotExist"), True),
        (Requirement("disk", "DoesNotExist"), False),
        (Requirement("size", "Gt", ("5",)), True),
    ],
)
def test_a_requirement(requirement: Requirement, expected: bool) -> None:
    assert requirement.met({"disk": "fast"}) is expected


def test_a_label_that_nobody_told_of_may_be_there() -> None:
    requirement = Requirement("zone", "In", ("a",))
    assert placing.may_meet(requirement, {}, told=())
    assert not placing.may_meet(requirement, {}, told=("zone",))
    assert not placing.may_meet(requirement, {"zone": "b"}, told=())


@pytest.mark.parametrize("name", ["twin", "sharing", "aws-training", "onprem-infiniband"])
def test_all_nodes_of_a_pool_have_its_labels(name: str) -> None:
    env = document.read(STACKS / f"Pulumi.{name}.yaml").load()
    nodes = offers.node_offers(env)
    assert nodes
    for node in nodes:
        assert placing.labels(env)[node.pool].items() <= node.labels.items()
    assert placing.told(env) <= {key for node in nodes for key in node.labels}
