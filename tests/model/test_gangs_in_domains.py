"""Gangs that must stay within one topology domain: whether any holds them is known before anything is created."""

from typing import Any

import pytest

from tests.model.documents import Change, drop, errors, only, problems, put

TUNING = "ray.clusters.tuning"
JOB = {
    "namespace": "research",
    "queue": "research.llm",
    "pool": "train",
    "image": "registry.example.com/train:1.0",
    "command": ["train"],
    "workers": {"count": 4, "gpus": 8, "cpu": 8, "memory": "64Gi"},
    "within": {"level": "rack"},
}


def workers(count: object) -> Change:
    return put(f"{TUNING}.workers.count", count)


def within(**found: object) -> Change:
    return put(f"{TUNING}.within", found)


def racks(*sizes: int) -> list[Change]:
    """Racks of so many nodes of the pool, each listed."""
    found: dict[str, Any] = {
        f"r{rack}": {"pool": "train", "nodes": [f"r{rack}-{number}" for number in range(size)]}
        for rack, size in enumerate(sizes)
    }
    return [put("topology", {"racks": found}), drop("pools.train.domains")]


HALF_A_NODE = [put(f"{TUNING}.workers.gpus", 4), put(f"{TUNING}.workers.memory", "512Gi")]
TOO_LARGE: list[tuple[str, list[Change], str, str]] = [
    ("5 in racks of 4", [workers(5)], "needs 5 nodes, a rack of pool train holds 4", "at most 4 workers"),
    (
        "9 in spines of 8",
        [workers(9), within(level="spine")],
        "needs 9 nodes, a spine of pool train holds 8",
        "at most 8",
    ),
    ("the least of an elastic one", [workers({"min": 5, "max": 8})], "needs 5 nodes, a rack", "at most 4 workers"),
    (
        "17 nodes in 4 racks",
        [put("pools.train.size", 17), workers(6)],
        "needs 6 nodes, a rack of pool train holds 5",
        "5",
    ),
    (
        "a pool at its largest",
        [put("pools.train.size", {"min": 8, "max": 20}), workers(6)],
        "needs 6 nodes, a rack of pool train holds 5",
        "at most 5",
    ),
    ("racks listed", [*racks(3, 4), workers(5)], "needs 5 nodes, a rack of pool train holds 4", "at most 4 workers"),
    (
        "racks that are uneven",
        [*racks(2, 3, 1), workers(4)],
        "needs 4 nodes, a rack of pool train holds 3",
        "at most 3",
    ),
    ("one rack for all", [*racks(8), workers(9)], "needs 9 nodes, a rack of pool train holds 8", "at most 8 workers"),
    (
        "8 racks of 2",
        [put("pools.train.domains", {"spine": 2, "rack": 8}), workers(3)],
        "needs 3 nodes, a rack of pool train holds 2",
        "at most 2 workers",
    ),
    (
        "two workers on a node",
        [*HALF_A_NODE, workers(9)],
        "needs 5 nodes, a rack of pool train holds 4",
        "at most 8 workers",
    ),
]


@pytest.mark.parametrize(
    ("changes", "says", "allowed"), [case[1:] for case in TOO_LARGE], ids=[case[0] for case in TOO_LARGE]
)
def test_what_no_domain_holds_never_starts(changes: list[Change], says: str, allowed: str) -> None:
    path, problem = only(errors(*changes))
    assert path == f"{TUNING}.workers.count"
    assert "the gang never fits" in problem.message
    assert says in problem.message
    assert allowed in (problem.allowed or "")


@pytest.mark.parametrize("changes", [case[1] for case in TOO_LARGE], ids=[case[0] for case in TOO_LARGE])
def test_where_the_bound_is_soft_it_is_a_warning(changes: list[Change]) -> None:
    soft = put(f"{TUNING}.within.mode", "soft")
    assert not errors(*changes, soft)
    messages = [problem.message for problem in problems(*changes, soft)]
    assert any("the gang does not fit" in message for message in messages), messages


FITS: list[tuple[str, list[Change]]] = [
    ("4 in racks of 4", []),
    ("8 in spines of 8", [workers(8), within(level="spine")]),
    ("17 nodes in 4 racks", [put("pools.train.size", 17), workers(5)]),
    ("racks listed", [*racks(3, 4), workers(4)]),
    ("two workers on a node", [*HALF_A_NODE, workers(8)]),
    ("no bound", [drop(f"{TUNING}.within"), workers(9)]),
]


@pytest.mark.parametrize("changes", [case[1] for case in FITS], ids=[case[0] for case in FITS])
def test_what_some_domain_holds_is_no_problem(changes: list[Change]) -> None:
    assert not problems(*changes)


def test_the_same_holds_for_training_jobs() -> None:
    job = put("training.jobs.it", JOB)
    assert not errors(job)
    path, problem = only(errors(job, put("training.jobs.it.workers.count", 5)))
    assert path == "training.jobs.it.workers.count"
    assert "needs 5 nodes, a rack of pool train holds 4" in problem.message


PATTERNS = [
    "train-.*",
    "train-[0-3]",
    "train-?",
    "train-(0|1)",
    "^train",
    "train-0$",
    "train\\d",
    "train-{0..3}",
    "train-+",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_a_rack_of_a_pattern_holds_is_not_guessed(pattern: str) -> None:
    path, problem = only(errors(*racks(1), put("topology.racks.r0.nodes", [pattern])))
    assert (path, "not by a pattern" in problem.message) == ("topology.racks.r0.nodes[0]", True)


BOUNDS: list[tuple[str, list[Change], str, str]] = [
    ("an unknown level", [within(level="row")], "within.level", "topology has no such level"),
    ("a host is no level", [within(level="host")], "within.level", "topology has no such level"),
    ("a tier instead of its name", [within(tier=1)], "within.tier", "there is no such key"),
    ("both", [within(level="rack", tier=1)], "within.tier", "there is no such key"),
    ("another mode", [within(level="rack", mode="strict")], "within.mode", "not one of the allowed values"),
    ("a level in capitals", [within(level="Rack")], "within.level", "topology has no such level"),
    ("no topology", [put("topology", {}), drop("pools.train.domains")], "within.level", "there is no topology"),
    ("text", [put(f"{TUNING}.within", "rack")], "within", "must be a mapping"),
]


@pytest.mark.parametrize(("changes", "path", "says"), [case[1:] for case in BOUNDS], ids=[case[0] for case in BOUNDS])
def test_bounds_that_name_nothing(changes: list[Change], path: str, says: str) -> None:
    found, problem = only(errors(*changes))
    assert (found, says in problem.message) == (f"{TUNING}.{path}", True), problem.message


DOMAINS: list[tuple[str, list[Change], str, str]] = [
    ("3 racks in 2 spines", [put("pools.train.domains.rack", 3)], "pools.train.domains.rack", "cannot stand evenly"),
    ("no rack at all", [put("pools.train.domains.rack", 0)], "pools.train.domains.rack", ""),
    ("a level that is not there", [put("pools.train.domains.row", 2)], "pools.train.domains.row", "no such level"),
    (
        "a pattern for nodes",
        [*racks(1), put("topology.racks.r0.nodes", ["train-.*"])],
        "topology.racks.r0.nodes[0]",
        "not by a pattern",
    ),
    (
        "nobody in a rack",
        [*racks(4), put("topology.racks.r1", {"pool": "train"})],
        "topology.racks.r1",
        "no node stands in it",
    ),
]


@pytest.mark.parametrize(("changes", "path", "says"), [case[1:] for case in DOMAINS], ids=[case[0] for case in DOMAINS])
def test_domains_that_cannot_be(changes: list[Change], path: str, says: str) -> None:
    found, problem = only(errors(*changes))
    assert (found, says in problem.message) == (path, True), problem.message
