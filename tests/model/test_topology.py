"""Topology from labels: levels, domains, discovery."""

from collections import Counter

import pytest

from model import topology
from tests.model.documents import add, drop, environment, errors, only, put, warnings


def test_levels_are_named_by_their_labels_and_numbered_from_the_closest():
    assert [(level.name, level.tier) for level in topology.levels(environment())] == [("spine", 2), ("rack", 1)]


def test_discovery_ends_with_the_host_which_volcano_drops():
    assert topology.discovery(environment()) == {
        "source": "label",
        "enabled": True,
        "config": {
            "networkTopologyTypes": {
                "gangline": [
                    {"nodeLabel": "topology.example.com/spine"},
                    {"nodeLabel": "topology.example.com/rack"},
                    {"nodeLabel": "kubernetes.io/hostname"},
                ]
            }
        },
    }
    assert len(topology.DISCOVERY_TYPE) <= 20


def test_without_labels_there_is_nothing_to_discover():
    env = environment(put("topology", {}), drop("pools.train.domains"), drop("ray.clusters.tuning.within"))
    assert topology.discovery(env) is None
    assert topology.levels(env) == ()


@pytest.mark.parametrize(
    ("nodes", "racks", "sizes"),
    [(16, 4, [4, 4, 4, 4]), (17, 4, [5, 4, 4, 4]), (18, 4, [5, 4, 5, 4]), (3, 2, [2, 1]), (1, 1, [1])],
)
def test_nodes_fill_domains_evenly(nodes: int, racks: int, sizes: list[int]):
    env = environment(put("pools.train.size", max(nodes, 16)), put("pools.train.domains", {"spine": 1, "rack": racks}))
    placed = Counter(labels["topology.example.com/rack"] for labels in topology.node_labels(env, "train", nodes))
    assert sorted(placed.values(), reverse=True) == sorted(sizes, reverse=True)


def test_the_largest_domain_is_of_the_pool_at_its_largest():
    env = environment(put("pools.train.size", {"min": 16, "max": 18}))
    assert topology.largest_domain(env, "train", "rack") == 5
    assert topology.largest_domain(env, "train", "spine") == 9
    assert topology.largest_domain(env, "system", "rack") is None


@pytest.mark.parametrize(
    ("label", "says"),
    [
        ("kubernetes.io/hostname", "always the closest level"),
        ("topology.example.com/rack", "is there twice"),
        ("other.example.com/rack", "is level rack, and so is topology.example.com/rack"),
        ("Bad Label", "must not stand"),
    ],
)
def test_labels_of_levels_are_legal_and_distinct(label: str, says: str):
    path, problem = only(errors(add("topology.labels", label)))
    assert path == "topology.labels[2]"
    assert says in problem.message


def test_labels_and_racks_exclude_each_other():
    found = errors(
        put("topology.racks", {"r1": {"nodes": ["a"], "pool": "train"}}),
        drop("pools.train.domains"),
        drop("ray.clusters.tuning.within"),
    )
    assert list(found) == ["topology.labels"]


def test_levels_are_named_for_racks_only():
    assert list(errors(put("topology.levels", ["rack"]))) == ["topology.levels"]


def test_a_gang_within_domains_of_unknown_size_is_a_warning():
    path, problem = only(warnings(drop("pools.train.domains")))
    assert path == "ray.clusters.tuning.within.level"
    assert problem.fix == "pools.train.domains: {rack: …}"


def test_long_names_of_domains_are_cut_and_stay_apart():
    one = topology.domain_name("p" * 60, "spine", 1)
    assert len(one) <= 63
    assert one != topology.domain_name("p" * 60, "spine", 2)


def test_each_node_knows_all_its_domains_and_they_nest():
    env = environment(put("pools.train.size", 17))
    homes: dict[str, str] = {}
    for labels in topology.node_labels(env, "train", 17):
        rack, spine = labels["topology.example.com/rack"], labels["topology.example.com/spine"]
        assert homes.setdefault(rack, spine) == spine


@pytest.mark.parametrize("racks", [2, 6, 10])
def test_domains_are_counted_as_their_nodes_are_labelled(racks: int):
    env = environment(put("pools.train.domains", {"spine": 2, "rack": racks}), drop("ray.clusters.tuning"))
    for nodes in range(1, 60):
        labels = topology.node_labels(env, "train", nodes)
        for level in ("spine", "rack"):
            found = Counter(label[f"topology.example.com/{level}"] for label in labels)
            counts = topology.domain_counts(env, "train", level, nodes)
            assert counts == tuple(found[f"train-{level}-{number}"] for number in range(len(counts)))
