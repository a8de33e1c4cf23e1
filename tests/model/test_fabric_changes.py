"""What a change of fabric does to what runs."""

import pytest

from model.fabric_changes import disruptions, set_in_hardware
from tests.model.documents import environment, put

SHAPE = {"cpu": 192, "memory": "2Ti", "gpu": {"model": "h100-sxm-80gb", "count": 8}}


def of(choice):
    return put("pools.train.fabric", choice)


def shape(model):
    def change(value):
        value["pools"]["train"].pop("server", None)
        value["pools"]["train"]["shape"] = SHAPE | {"nics": {"model": model, "count": 8}}

    return change


INFINIBAND = {"kind": "infiniband"}
ROCE = {"kind": "roce", "interfaces": ["eth1"], "networks": ["rail"]}


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ([of(INFINIBAND)], [of(ROCE)], "link type"),
        ([of(INFINIBAND)], [of(INFINIBAND | {"mode": "sriov"})], "0 -> 1 virtual functions"),
        ([of(INFINIBAND | {"mode": "sriov"})], [of(INFINIBAND)], "1 -> 0 virtual functions"),
        (
            [of(INFINIBAND | {"mode": "sriov"})],
            [of(INFINIBAND | {"mode": "sriov", "virtualFunctions": 8})],
            "1 -> 8 virtual functions",
        ),
        ([shape("efa"), of("efa")], [shape("connectx-7"), of(INFINIBAND)], "the nodes are replaced"),
    ],
)
def test_what_is_set_in_the_hardware_drains_nodes(before, after, said):
    found = [it for it in disruptions(environment(*before), environment(*after)) if it.subject == "pool train"]
    assert [it.drains for it in found] == [True]
    assert said in str(found[0])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (INFINIBAND, INFINIBAND),
        (INFINIBAND, INFINIBAND | {"slots": 8}),
        (INFINIBAND, INFINIBAND | {"interfaces": ["ib0"]}),
        ("infiniband", INFINIBAND),
        ("tcp", INFINIBAND),
        (INFINIBAND, "tcp"),
    ],
)
def test_what_only_device_plugins_know_drains_none(before, after):
    assert not any(it.drains for it in disruptions(environment(of(before)), environment(of(after))))


def test_pods_that_need_something_else_are_made_anew():
    (found,) = disruptions(environment(), environment(of(INFINIBAND)))
    assert (found.subject, found.drains) == ("Ray cluster tuning", False)
    assert not disruptions(environment(of(INFINIBAND)), environment(of(INFINIBAND | {"slots": 8})))


def test_new_limits_are_for_new_containers():
    (limit, _) = disruptions(environment(of(INFINIBAND)), environment(of(INFINIBAND | {"memlock": "unlimited"})))
    assert limit.change == "memlock: unlimited"


def test_pools_and_clusters_that_come_or_go_disturb_nobody():
    def without(value):
        value["pools"].pop("train")
        value["ray"]["clusters"].pop("tuning")
        value["topology"] = {}
        for queue in ("research", "production"):
            value["queues"][queue] = {"queues": {"llm": {}}} if queue == "research" else {}
        value["tenants"]["research"] |= {"quota": {}}

    assert disruptions(environment(without), environment(of(INFINIBAND))) == []
    assert disruptions(environment(of(INFINIBAND)), environment(without)) == []


def test_what_the_hardware_must_be_set_to_is_an_input_of_its_own():
    assert set_in_hardware(environment()) == {}
    assert set_in_hardware(environment(of(INFINIBAND | {"slots": 8}))) == {
        "train": {"fabric": "infiniband", "virtualFunctions": 0}
    }
    assert set_in_hardware(environment(of(INFINIBAND | {"mode": "sriov"}))) == {
        "train": {"fabric": "infiniband", "virtualFunctions": 1}
    }
