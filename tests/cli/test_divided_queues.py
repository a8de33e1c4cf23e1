"""Queues that get their first parts while work is in them."""

from decimal import Decimal

import pytest

from cli import divided_queues
from cli.refusals import RefusedError
from model.waiting.seen import Group, Workload


def group(name: str, queue: str, phase: str) -> Group:
    return Group(Workload("Job", "research", name), queue, phase, 4, {"nvidia.com/gpu": Decimal(32)})


@pytest.mark.parametrize("phase", ["Running", "Inqueue", "Pending", "Completed"])
def test_no_work_may_be_in_a_queue_that_has_parts(phase: str) -> None:
    groups = [group("b", "research", phase), group("a", "research", "Pending"), group("c", "research.llm", "Running")]
    with pytest.raises(RefusedError) as refused:
        divided_queues.refuse_work(groups, {"research"})
    lines = str(refused.value).splitlines()
    assert lines[1:3] == ["  research  job research/a  pending", f"  research  job research/b  {phase.lower()}"]
    assert len(lines) == 4
    assert "fix: " in lines[3]


def test_work_of_leaves_is_left_alone() -> None:
    divided_queues.refuse_work([group("c", "research.llm", "Running")], {"research"})
