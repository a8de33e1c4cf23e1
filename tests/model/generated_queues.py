"""Trees of queues in which everything is there, small enough for the pools of the example."""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st


@st.composite
def _queue(draw: st.DrawFn, most: Mapping[str, int], depth: int) -> dict[str, Any]:
    """A queue that deserves at most so much, by resource; its parts share that."""
    deserved = {name: draw(st.integers(0, amount)) for name, amount in most.items() if draw(st.booleans())}
    queue: dict[str, Any] = {"deserved": deserved}
    if depth and draw(st.booleans()):
        parts = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True))
        share = {name: amount // len(parts) for name, amount in deserved.items()}
        queue["queues"] = {name: draw(_queue(share, depth - 1)) for name in parts}
    kept = {name: sum(part["guarantee"].get(name, 0) for part in queue.get("queues", {}).values()) for name in deserved}
    queue["guarantee"] = {
        name: draw(st.integers(low, deserved[name])) for name, low in kept.items() if low or draw(st.booleans())
    }
    for kind in ("deserved", "guarantee"):
        # What parts name, even with 0, the whole must name.
        for part in queue.get("queues", {}).values():
            assert set(part[kind]) <= set(deserved)
            for name in part[kind]:
                queue[kind].setdefault(name, 0)
    return queue


def _capped(draw: st.DrawFn, queue: dict[str, Any], limits: Mapping[str, int]) -> None:
    # To Volcano none of cores or memory means all of them.
    least = {name: max(queue["deserved"].get(name, 0), 0 if name == "gpu" else 1) for name in limits}
    own = {
        name: draw(st.integers(least[name], limit))
        for name, limit in limits.items()
        if draw(st.booleans()) and least[name] <= limit
    }
    queue["capability"] = own
    for part in queue.get("queues", {}).values():
        _capped(draw, part, {**limits, **own})


@st.composite
def trees(draw: st.DrawFn) -> dict[str, Any]:
    tops = draw(st.lists(st.sampled_from(["one", "two", "three"]), min_size=1, max_size=3, unique=True))
    share = {"gpu": 128 // len(tops), "cpu": 300 // len(tops), "memory": 2**20 // len(tops)}
    found = {name: draw(_queue(share, 2)) for name in tops}
    for queue in found.values():
        _capped(draw, queue, {"gpu": 256, "cpu": 600, "memory": 2**21})
    return _in_mebibytes(found)


def _in_mebibytes(tree: dict[str, Any]) -> dict[str, Any]:
    """The tree with its memory written as documents write it."""
    for queue in tree.values():
        for kind in ("guarantee", "deserved", "capability"):
            if "memory" in queue[kind]:
                queue[kind]["memory"] = f"{queue[kind]['memory']}Mi"
        _in_mebibytes(queue.get("queues", {}))
    return tree
