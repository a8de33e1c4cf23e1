"""Fabrics: what nodes offer and pods ask for."""

import pytest

from model import fabric, gangs, nodes, pod_patch
from model.offers import node_offers
from model.quantities import Quantity
from tests.model.documents import environment, put

ROCE = {"kind": "roce", "interfaces": ["enp24s0np0", "enp64s0np0"]}
MEMORY = Quantity.parse("1Ti")
EFA_SHAPE = {
    "cpu": 192,
    "memory": "2Ti",
    "gpu": {"model": "h100-sxm-80gb", "count": 8},
    "nics": {"model": "efa", "count": 32},
}


def efa(value):
    value["pools"]["train"].pop("server")
    value["pools"]["train"] |= {"shape": EFA_SHAPE, "fabric": "efa"}


def fabric_of(**options):
    return put("pools.train.fabric", {"kind": "infiniband", **options})


def test_plain_tcp_asks_for_nothing():
    env = environment()
    assert not fabric.resources(env.pools["train"])
    patch = pod_patch.patch(env, "train", gpus=8, memory=MEMORY)
    assert (patch.resources, patch.capabilities, patch.environment, patch.user) == ({}, (), {}, None)


@pytest.mark.parametrize(
    ("choice", "offered"),
    [
        ("infiniband", {"rdma/shared_ib": 63}),
        ({"kind": "infiniband", "slots": 8}, {"rdma/shared_ib": 8}),
        (ROCE | {"slots": 16, "networks": ["rails/rail-0"]}, {"rdma/shared_roce": 16}),
        (ROCE | {"mode": "host", "socketInterface": "bond0"}, {"rdma/host_roce": 1}),
        ({"kind": "infiniband", "mode": "sriov", "virtualFunctions": 8}, {"rdma/ib": 64}),
        ({"kind": "infiniband", "mode": "sriov"}, {"rdma/ib": 8}),
    ],
)
def test_nodes_offer_what_the_plugin_advertises(choice, offered):
    pool = environment(put("pools.train.fabric", choice)).pools["train"]
    assert fabric.resources(pool) == offered
    for name, count in offered.items():
        assert nodes.capacity(pool)[name] == nodes.allocatable(pool)[name] == Quantity.parse(count)


def test_a_shared_ticket_is_one_however_many_gpus():
    env = environment(fabric_of())
    assert pod_patch.devices(env, "train", 8) == pod_patch.devices(env, "train", 1) == 1
    assert pod_patch.devices(env, "train", 0) == 0


def test_own_devices_are_shared_out_by_gpus():
    env = environment(fabric_of(mode="sriov"))
    assert [pod_patch.devices(env, "train", gpus) for gpus in (1, 2, 8)] == [1, 2, 8]
    env = environment(efa)
    assert [pod_patch.devices(env, "train", gpus) for gpus in (0, 1, 4, 8)] == [0, 4, 16, 32]


def test_huge_pages_of_a_node_hold_all_its_pods():
    env = environment(efa)
    whole = nodes.capacity(env.pools["train"])["hugepages-2Mi"]
    assert whole == Quantity.parse("10256Mi")
    before = nodes.allocatable(environment(efa, put("pools.train.fabric", "tcp")).pools["train"])["memory"]
    assert nodes.allocatable(env.pools["train"])["memory"].value == before.value - whole.value
    single = pod_patch.patch(env, "train", gpus=1, memory=MEMORY)
    assert single.resources == {"vpc.amazonaws.com/efa": Quantity.parse(4), "hugepages-2Mi": Quantity.parse("640Mi")}
    assert single.resources["hugepages-2Mi"].value * 8 <= whole.value


def test_gangs_count_what_pods_ask_for():
    env = environment(fabric_of())
    gang = gangs.gang(env, ("ray", "clusters", "tuning"))
    assert gang.worker["rdma/shared_ib"] == 1
    assert gang.requests["rdma/shared_ib"] == gang.workers == 4
    assert gang.lead is not None
    assert "rdma/shared_ib" not in gang.lead


def test_memory_can_be_locked():
    patch = pod_patch.patch(environment(fabric_of()), "train", gpus=8, memory=MEMORY)
    assert (patch.capabilities, patch.user) == (("DAC_OVERRIDE", "IPC_LOCK"), 0)
    patch = pod_patch.patch(environment(fabric_of(memlock="unlimited")), "train", gpus=8, memory=MEMORY)
    assert (patch.capabilities, patch.user) == ((), None)


def test_nccl_fails_rather_than_fall_back_to_tcp():
    patch = pod_patch.patch(environment(fabric_of()), "train", gpus=8, memory=MEMORY)
    assert patch.environment == {"NCCL_NET": "IB"}
    assert pod_patch.patch(environment(efa), "train", gpus=8, memory=MEMORY).environment == {}


def test_hcas_are_named_exactly():
    env = environment(fabric_of(hcas=["mlx5_1", "mlx5_11:1"]))
    patch = pod_patch.patch(env, "train", gpus=8, memory=MEMORY)
    assert patch.environment["NCCL_IB_HCA"] == "=mlx5_1,mlx5_11:1"
    env = environment(fabric_of(storageHcas=["mlx5_2"]))
    patch = pod_patch.patch(env, "train", gpus=8, memory=MEMORY)
    assert patch.environment["NCCL_IB_HCA"] == "^=mlx5_2"


def test_roce_pods_are_attached_to_their_rails_and_meet_on_their_own_network():
    env = environment(put("pools.train.fabric", ROCE | {"networks": ["rails/rail-0", "rails/rail-1"]}))
    patch = pod_patch.patch(env, "train", gpus=8, memory=MEMORY)
    assert patch.annotations == {"k8s.v1.cni.cncf.io/networks": "rails/rail-0,rails/rail-1"}
    assert patch.environment == {"NCCL_NET": "IB", "NCCL_SOCKET_IFNAME": "=eth0"}
    assert not patch.host_network


def test_a_pod_in_the_network_of_its_node_is_the_only_one_there():
    env = environment(
        put("pools.train.fabric", ROCE | {"mode": "host", "socketInterface": "bond0", "trafficClass": 106})
    )
    patch = pod_patch.patch(env, "train", gpus=4, memory=MEMORY)
    assert patch.host_network
    assert patch.resources == {"rdma/host_roce": Quantity.parse(1)}
    assert nodes.capacity(env.pools["train"])["rdma/host_roce"] == Quantity.parse(1)
    assert patch.environment == {"NCCL_NET": "IB", "NCCL_SOCKET_IFNAME": "=bond0", "NCCL_IB_TC": "106"}


def test_each_virtual_function_is_attached():
    env = environment(fabric_of(mode="sriov", networks=["ib"]))
    patch = pod_patch.patch(env, "train", gpus=2, memory=MEMORY)
    assert patch.annotations == {"k8s.v1.cni.cncf.io/networks": "ib,ib"}
    assert patch.resources == {"rdma/ib": Quantity.parse(2)}


def test_shared_memory_is_half_of_the_memory():
    env = environment()
    assert pod_patch.patch(env, "train", gpus=0, memory=Quantity.parse("32Gi")).shared_memory == Quantity.parse("16Gi")
    assert pod_patch.patch(env, "train", gpus=0, memory=Quantity.parse("1Mi")).shared_memory == Quantity.parse("1Mi")


def test_slices_of_gpus_get_no_rdma_of_themselves():
    env = environment(fabric_of(), put("pools.train.sharing", {"timeSlicing": {"replicas": 2}}), no_quota_of_whole_gpus)
    assert pod_patch.devices(env, "train", 1) == 0
    assert pod_patch.patch(env, "train", gpus=1, memory=MEMORY, rdma=1).resources == {
        "rdma/shared_ib": Quantity.parse(1)
    }


def no_quota_of_whole_gpus(value):
    value["queues"] = {"research": {"queues": {"llm": {}}}, "production": {}}
    value["tenants"]["research"].pop("quota")
    value["ray"]["clusters"]["tuning"]["workers"]["gpus"] = 1


def test_nodes_with_such_nics_are_known_by_their_vendor():
    assert fabric.node_labels(environment(fabric_of()).pools["train"]) == {
        "feature.node.kubernetes.io/pci-15b3.present": "true"
    }
    assert fabric.node_labels(environment().pools["system"]) == {}
    shown = {
        offer.pool: "feature.node.kubernetes.io/pci-15b3.present" in offer.labels
        for offer in node_offers(environment())
    }
    assert shown == {"system": False, "train": True, "serve": False}
