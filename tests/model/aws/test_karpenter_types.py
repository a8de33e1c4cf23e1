"""Which instance types a NodePool may make nodes of."""

import pytest

from catalog import reader as catalog
from model.aws.karpenter_types import Requirement, fitting

OURS = "karpenter.k8s.aws/instance-"


def names(*requirements: Requirement) -> set[str]:
    return {each.name for each in fitting(requirements)}


@pytest.mark.parametrize(
    ("key", "operator", "values", "inside", "outside"),
    [
        ("node.kubernetes.io/instance-type", "In", ["p5.48xlarge"], "p5.48xlarge", "p5.4xlarge"),
        (f"{OURS}family", "In", ["p6-b200"], "p6-b200.48xlarge", "p6-b300.48xlarge"),
        (f"{OURS}family", "NotIn", ["g5"], "g6.xlarge", "g5.xlarge"),
        (f"{OURS}size", "In", ["48xlarge"], "p5.48xlarge", "p5.4xlarge"),
        (f"{OURS}category", "In", ["p"], "p4d.24xlarge", "g4dn.xlarge"),
        (f"{OURS}generation", "Gt", ["5"], "g6.xlarge", "g5.xlarge"),
        (f"{OURS}generation", "Lte", ["5"], "g5.xlarge", "g6.xlarge"),
        (f"{OURS}gpu-count", "Exists", [], "g5.xlarge", "m7i.large"),
        (f"{OURS}gpu-count", "DoesNotExist", [], "m7i.large", "g5.xlarge"),
        (f"{OURS}gpu-count", "Lt", ["4"], "g5.xlarge", "m7i.large"),
        (f"{OURS}gpu-count", "Gte", ["8"], "g5.48xlarge", "g5.12xlarge"),
        (f"{OURS}gpu-name", "In", ["a100"], "p4de.24xlarge", "p5.48xlarge"),
        ("eks.amazonaws.com/instance-gpu-manufacturer", "In", ["nvidia"], "g5.xlarge", "m7i.large"),
    ],
)
def test_a_requirement_leaves_out_what_does_not_meet_it(
    key: str, operator: str, values: list[str], inside: str, outside: str
) -> None:
    found = names(Requirement(key, operator, tuple(values)))
    assert inside in found
    assert outside not in found


def test_all_requirements_hold_together() -> None:
    few = names(Requirement(f"{OURS}family", "In", ("g5",)), Requirement(f"{OURS}gpu-count", "Gt", ("4",)))
    assert few == {"g5.48xlarge"}


def test_what_says_nothing_of_types_leaves_out_none() -> None:
    assert names(Requirement("karpenter.sh/capacity-type", "In", ("spot",))) == set(catalog.instances())
    assert names(Requirement(f"{OURS}cpu-manufacturer", "In", ("amd",))) == set(catalog.instances())
