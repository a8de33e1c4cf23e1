"""Static racks."""

from typing import Any

import pytest

from model import topology
from model.environment import Environment
from tests.model.documents import Change, document, drop, errors, example, only, put


def _with(racks: dict[str, Any], *more: Change, levels: list[str] | None = None) -> list[Change]:
    declared: dict[str, Any] = {"racks": racks}
    if levels:
        declared["levels"] = levels
    return [put("topology", declared), drop("pools.train.domains"), drop("ray.clusters.tuning.within"), *more]


def _environment(racks: dict[str, Any], *more: Change, levels: list[str] | None = None) -> Environment:
    return document.load(example(*_with(racks, *more, levels=levels)))


def rack(*nodes: str, parent: str | None = None) -> dict[str, Any]:
    return {"nodes": list(nodes), "pool": "train"} | ({"parent": parent} if parent else {})


TWO_LEVELS = {
    "s1": {},
    "r1": rack("a", "b", parent="s1"),
    "r2": rack("c", parent="s1"),
    "s2": {},
    "r3": rack("d", parent="s2"),
}


def test_racks_become_hypernodes_the_closest_first():
    env = _environment(TWO_LEVELS, levels=["spine", "rack"])
    assert [(made.name, made.tier, made.tier_name, made.members) for made in topology.hypernodes(env)] == [
        ("r1", 1, "rack", ("a", "b")),
        ("r2", 1, "rack", ("c",)),
        ("r3", 1, "rack", ("d",)),
        ("s1", 2, "spine", ("r1", "r2")),
        ("s2", 2, "spine", ("r3",)),
    ]
    assert topology.largest_domain(env, "train", "rack") == 2
    assert topology.largest_domain(env, "train", "spine") == 3


def test_one_level_of_racks_is_called_rack():
    env = _environment({"r1": rack("a"), "r2": rack("b")})
    assert [(level.name, level.label, level.tier) for level in topology.levels(env)] == [("rack", None, 1)]


@pytest.mark.parametrize(
    ("racks", "path", "says"),
    [
        ({"r1": rack("a"), "r2": rack("a")}, "topology.racks.r2.nodes[0]", "stands in r1 already"),
        ({"r1": rack("a", "a")}, "topology.racks.r1.nodes[1]", "is there twice"),
        ({"r1": rack("a", parent="s9")}, "topology.racks.r1.parent", "no such domain"),
        ({"r1": rack("a", parent="r1")}, "topology.racks.r1.parent", "its own parent"),
        ({"r1": rack("a"), "r2": {}}, "topology.racks.r2", "no node stands in it"),
        ({"r1": rack("node-[0-9]+")}, "topology.racks.r1.nodes[0]", "not by a pattern"),
        ({"r1": rack("")}, "topology.racks.r1.nodes[0]", "must not be empty"),
        ({"R1": rack("a")}, "topology.racks.R1", "'R'"),
        ({"r1": {"nodes": ["a"], "pool": "tran"}}, "topology.racks.r1.pool", "no such pool"),
        ({"r1": {"nodes": ["a"]}}, "topology.racks.r1.pool", "whose nodes"),
        ({"r1": rack(*(f"n{i}" for i in range(17)))}, "topology.racks", "at most 16"),
        ({"r1": rack("a"), "s1": {}, "r2": rack("b", parent="s1")}, "topology.racks.r1", "equally deep"),
        (
            {"r1": {"pool": "train", "parent": "r2"}, "r2": {"pool": "train", "parent": "r1"}},
            "topology.racks.r1.parent",
            "hold each other",
        ),
    ],
)
def test_racks_that_make_no_sense(racks: dict[str, Any], path: str, says: str):
    deep = any(isinstance(found, dict) and "parent" in found for found in racks.values())
    found, problem = only(errors(*_with(racks, levels=["spine", "rack"] if deep and "equally" in says else None)))
    assert found == path
    assert says in problem.message


def test_inner_domains_hold_no_nodes():
    found = errors(*_with({"s1": rack("a"), "r1": rack("b", parent="s1")}, levels=["spine", "rack"]))
    assert list(found) == ["topology.racks.s1.nodes"]


@pytest.mark.parametrize("levels", [None, ["rack"], ["a", "b", "c"]])
def test_as_many_levels_as_racks_are_deep(levels: list[str] | None):
    path, problem = only(errors(*_with(TWO_LEVELS, levels=levels)))
    assert path == "topology.levels"
    assert problem.fix == "levels: [spine, rack]"


def test_domains_of_a_pool_belong_to_labels():
    racks = put("topology", {"racks": {"r1": rack("a", "b", "c", "d")}})
    assert list(errors(racks)) == ["pools.train.domains"]


def test_a_gang_stays_within_what_a_rack_holds():
    racks = {"r1": rack("a", "b", "c"), "r2": rack("d")}
    changes = [put("topology", {"racks": racks}), drop("pools.train.domains")]
    path, problem = only(errors(*changes))
    assert path == "ray.clusters.tuning.workers.count"
    assert "needs 4 nodes, a rack of pool train holds 3" in problem.message


def test_unreadable_racks_are_told_once():
    assert list(errors(*_with({"r1": rack("a"), "r2": 7}))) == ["topology.racks.r2"]
