"""What a queue may ever use, and gangs that are larger."""

from decimal import Decimal
from typing import Any

import pytest

from model import queue_limits
from tests.model.documents import Change, drop, environment, errors, only, put

GPU = "nvidia.com/gpu"
TUNING = "ray.clusters.tuning"


def gang(gpus: int, queue: str, tree: dict[str, Any]) -> tuple[Change, ...]:
    """The example with another tree below `research`, and a gang of so many GPUs in one of its leaves."""
    return (
        put("queues.research", tree),
        put("tenants.research.defaultQueue", queue),
        put(f"{TUNING}.queue", queue),
        put(f"{TUNING}.workers.count", gpus // 8),
        drop(f"{TUNING}.within"),
    )


FLAT: dict[str, Any] = {
    "guarantee": {"gpu": 16},
    "deserved": {"gpu": 16},
    "capability": {"gpu": 128},
    "queues": {"llm": {"guarantee": {"gpu": 16}, "deserved": {"gpu": 16}}, "vision": {}},
}
DEEP: dict[str, Any] = {
    "guarantee": {"gpu": 32},
    "deserved": {"gpu": 32},
    "capability": {"gpu": 128},
    "queues": {
        "llm": {"guarantee": {"gpu": 16}, "deserved": {"gpu": 16}},
        "vision": {
            "guarantee": {"gpu": 16},
            "deserved": {"gpu": 16},
            "queues": {"video": {"guarantee": {"gpu": 8}, "deserved": {"gpu": 8}}, "images": {}},
        },
    },
}


@pytest.mark.parametrize(
    ("tree", "queue", "most"), [(FLAT, "research.vision", 112), (DEEP, "research.vision.images", 104)]
)
def test_what_others_are_guaranteed_is_never_there_for_a_gang(tree: dict[str, Any], queue: str, most: int):
    path, problem = only(errors(*gang(most + 8, queue, tree)))
    assert path == f"{TUNING}.workers.count"
    kept = ", the rest of the queue above being guaranteed to others"
    assert f"needs {most + 8} of {GPU}, queue {queue} may use {most}{kept}" in problem.message
    assert problem.allowed == f"at most {most // 8} workers"
    environment(*gang(most, queue, tree))


def test_what_a_queue_is_guaranteed_itself_it_may_use():
    environment(*gang(128, "research.llm", FLAT))


def test_at_the_top_nothing_is_taken_off():
    env = environment(put("queues.production.guarantee", {"gpu": 32}))
    assert [
        (limit.queue, limit.amount, limit.kept)
        for limit in queue_limits.limits(env, "research.llm")
        if limit.resource == GPU
    ] == [("research", 128, False)]


def test_a_queue_that_promises_more_than_it_may_use_keeps_what_is_guaranteed():
    above, promised, own = ({GPU: Decimal(amount)} for amount in (8, 24, 16))
    assert queue_limits.below(above, promised, own, {}) == {GPU: 16}
