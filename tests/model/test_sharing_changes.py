"""What a change of sharing does to what runs."""

from typing import Any

import pytest

from model.sharing_changes import disruptions
from tests.model.documents import environment, put
from tests.model.test_devices import NO_SHARED_QUOTAS

SLICED, MPS = {"timeSlicing": {"replicas": 4}}, {"mps": {"replicas": 8}}
CUT: dict[str, Any] = {"mig": {"profiles": {"1g.10gb": 7}}}


def changes(before: Any, after: Any) -> list[Any]:
    envs = (environment(*NO_SHARED_QUOTAS, put("pools.serve.sharing", plan)) for plan in (before, after))
    return disruptions(*envs)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("none", CUT, "pool serve: whole -> mig-7x1g-10gb: the MIG manager cuts GPUs that no pod uses"),
        (CUT, {"mig": {"profiles": {"3g.40gb": 2}}}, "the MIG manager cuts"),
        (CUT, "none", "as docs/guides/devices.md says"),
        (CUT, SLICED, "as docs/guides/devices.md says"),
        ("none", MPS, "keep each other from a GPU"),
        (MPS, SLICED, "keep each other from a GPU"),
        (MPS, {"mps": {"replicas": 4}}, "the MPS server starts anew"),
        ("none", SLICED, "pods that hold nvidia.com/gpu are offered anew"),
        (CUT, {**CUT, **SLICED}, "pods that hold nvidia.com/mig-1g.10gb are offered anew"),
        (CUT, {"mig": {**CUT["mig"], "strategy": "single"}}, "nvidia.com/mig-1g.10gb"),
    ],
)
def test_nodes_are_drained_where_running_pods_would_be_in_the_way(before: Any, after: Any, said: str):
    (found,) = changes(before, after)
    assert found.drains
    assert said in str(found)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("none", "none"),
        (SLICED, {"timeSlicing": {"replicas": 8}}),
        (MPS, {"mps": {"replicas": 8, "floor": "4Gi"}}),
        ({**CUT, **SLICED}, {**CUT, "timeSlicing": {"replicas": 2}}),
    ],
)
def test_other_numbers_of_the_same_drain_none(before: Any, after: Any):
    assert changes(before, after) == []


def test_the_operator_joins_gpus_again():
    operated = put("devices", {"install": "operator"})
    before, after = (environment(*NO_SHARED_QUOTAS, operated, put("pools.serve.sharing", it)) for it in (CUT, "none"))
    (found,) = disruptions(before, after)
    assert "the MIG manager cuts GPUs that no pod uses" in str(found)
