"""What the device plugins for RDMA are told."""

import json
import re

from model import fabric, rdma
from tests.model.documents import environment, put

IB = put("pools.train.fabric", "infiniband")


def second(**fabric_options):
    pool = {"server": "dgx-a100", "size": 2, "fabric": {"kind": "infiniband", **fabric_options}}
    return put("pools.old", pool)


def test_shared_nics_are_found_by_model_and_link():
    entry = rdma.entry(environment(IB).pools["train"])
    assert entry == {
        "resourceName": "shared_ib",
        "resourcePrefix": "rdma",
        "rdmaHcaMax": 63,
        "selectors": {
            "vendors": ["15b3"],
            "deviceIDs": ["1021"],
            "drivers": ["mlx5_core"],
            "linkTypes": ["infiniband"],
        },
    }


def test_named_interfaces_narrow_the_choice():
    chosen = {"kind": "infiniband", "interfaces": ["ibp64s0", "ibp24s0"]}
    assert rdma.entry(environment(put("pools.train.fabric", chosen)).pools["train"])["selectors"]["ifNames"] == [
        "ibp24s0",
        "ibp64s0",
    ]


def test_virtual_functions_are_found_by_their_own_id():
    names = [f"ibp{number}s0" for number in range(8)]
    env = environment(put("pools.train.fabric", {"kind": "infiniband", "mode": "sriov", "interfaces": names}))
    assert rdma.entry(env.pools["train"]) == {
        "resourceName": "ib",
        "resourcePrefix": "rdma",
        "selectors": {
            "vendors": ["15b3"],
            "devices": ["101e"],
            "drivers": ["mlx5_core"],
            "linkTypes": ["infiniband"],
            "isRdma": True,
            "pfNames": names,
        },
    }


def test_names_are_those_that_nodes_offer_and_legal():
    for options in ({}, {"mode": "sriov"}):
        pool = environment(put("pools.train.fabric", {"kind": "infiniband", **options})).pools["train"]
        entry = rdma.entry(pool)
        assert list(fabric.resources(pool)) == [f"{entry['resourcePrefix']}/{entry['resourceName']}"]
        assert re.fullmatch(r"[a-zA-Z0-9_]+", entry["resourceName"])
        assert entry.get("rdmaHcaMax", 8) == fabric.resources(pool)["rdma/" + entry["resourceName"]]


def test_every_pool_with_rdma_has_one_plugin_and_others_none():
    env = environment(IB, second(slots=8))
    assert [(plan.name, plan.plugin, plan.pools) for plan in rdma.plans(env)] == [
        ("train", "rdma-shared", ("train",)),
        ("old", "rdma-shared", ("old",)),
    ]
    assert rdma.plans(environment()) == ()


def test_efa_is_one_plugin_for_all():
    def efa(value):
        shape = {"cpu": 96, "memory": "1Ti", "nics": {"model": "efa", "count": 4}}
        value["pools"] |= {name: {"shape": shape, "size": 1, "fabric": "efa"} for name in ("one", "two")}

    (plan,) = rdma.plans(environment(efa))
    assert (plan.plugin, plan.pools, plan.configuration) == ("efa", ("one", "two"), {})


def test_the_network_operator_brings_the_plugins_of_connectx():
    operator = put("devices", {"install": "operator"})
    env = environment(IB, second(), operator)
    assert rdma.plans(env) == ()
    (entry,) = rdma.operator_entries(env)["rdma-shared"]
    assert entry["selectors"]["deviceIDs"] == ["101b", "1021"]
    assert rdma.operator_entries(environment(operator)) == {}


def test_a_file_is_the_same_for_the_same_configuration():
    plan = rdma.plans(environment(IB))[0]
    assert json.loads(rdma.text(plan.configuration)) == plan.configuration
    assert rdma.text(dict(reversed(list(plan.configuration.items())))) == rdma.text(plan.configuration)
