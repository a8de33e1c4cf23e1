"""Gangs on pools that grow: what fits a pool at its largest waits for it to grow, and what does not never starts."""

from typing import Any

import pytest

from model import document, scheduler_tiers, volcano
from tests.model.documents import Change, drop, environment, errors, example, put


def pool(least: int, most: int) -> list[Change]:
    changes = [put("pools.train.size", {"min": least, "max": most, "desired": least}), drop("pools.train.domains")]
    # Queues and quotas of the example are for a pool that is always there.
    return [*changes, drop("ray.clusters.tuning.within"), put("queues", ROOMY), put("tenants.research.quota", {})]


ROOMY: dict[str, Any] = {
    "research": {"capability": {"gpu": 512, "nvidia.com/gpu.shared": 512}, "queues": {"llm": {}}},
    "production": {"capability": {"gpu": 512, "nvidia.com/gpu.shared": 512}},
}


def workers(count: Any) -> Change:
    return put("ray.clusters.tuning.workers.count", count)


@pytest.mark.parametrize(
    ("least", "most", "count"),
    [
        (0, 8, 7),  # the head beside a worker
        (0, 8, 8),
        (0, 1, 1),
        (8, 8, 8),
        (0, 16, 16),
        (0, 8, {"min": 8, "max": 8}),
        (0, 8, {"min": 0, "max": 8}),
    ],
)
def test_a_gang_may_be_as_large_as_its_pool_becomes(least: int, most: int, count: Any) -> None:
    assert not errors(*pool(least, most), workers(count))


@pytest.mark.parametrize(
    ("least", "most", "count"),
    [(0, 8, 9), (8, 8, 9), (0, 1, 2), (0, 16, 17), (0, 8, {"min": 9, "max": 9}), (4, 8, {"min": 9, "max": 12})],
)
def test_a_gang_that_is_larger_never_starts(least: int, most: int, count: Any) -> None:
    found = errors(*pool(least, most), workers(count))
    [(path, problem)] = found.items()
    assert path == "ray.clusters.tuning.workers.count"
    assert f"pool train holds {most}" in problem.message


def test_work_that_waits_for_nodes_has_pods_by_which_they_are_made() -> None:
    """What is kept out of its queue has none, and no autoscaler sees it."""
    for size in ({"min": 0, "max": 8}, 8):
        made = volcano.scheduler_configuration(environment(*pool(0, 8), put("pools.train.size", size), workers(4)))
        placed = [(tier, it["name"], it) for tier, each in enumerate(made["tiers"]) for it in each["plugins"]]
        assert scheduler_tiers.gates(placed, made["actions"].split(", ")) == []


@pytest.mark.parametrize(
    ("actions", "switch", "size", "told"),
    [
        ("enqueue, allocate", {}, {"min": 0, "max": 8}, "nothing makes train grow"),
        ("enqueue, allocate", {"enableJobEnqueued": False}, {"min": 0, "max": 8}, None),
        ("allocate", {}, {"min": 0, "max": 8}, None),
        ("enqueue, allocate", {}, 8, None),
    ],
)
@pytest.mark.parametrize("name", ["overcommit", "capacity"])
def test_a_configuration_of_ones_own_that_keeps_pods_from_being_made_is_doubtful(
    name: str, actions: str, switch: dict[str, Any], size: Any, told: str | None
) -> None:
    named = ["priority", "gang", "predicates", "network-topology-aware"]
    plugins: list[dict[str, Any]] = [{"name": each} for each in named]
    plugins += [{"name": "capacity", "enableHierarchy": True, "enableJobEnqueued": False}] if name != "capacity" else []
    plugins += [{"name": name, **({"enableHierarchy": True} if name == "capacity" else {}), **switch}]
    override = {"override": {"actions": actions, "tiers": [{"plugins": plugins}]}}
    changes = [put("pools.train.size", size), put("pools.serve.size", 4), workers(4), put("scheduler", override)]
    value = example(*pool(0, 8), *changes)
    found = [problem.message for problem in document.judge(value).problems if problem.path[0] == "scheduler"]
    assert len(found) == (told is not None), found
    assert all(told and told in message and message.startswith(name) for message in found)
