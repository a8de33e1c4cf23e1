"""What a node offers."""

from decimal import Decimal

import pytest

from catalog import reader as catalog
from model import document, nodes, offers
from model.pools import Pool
from model.quantities import Quantity
from tests.model.documents import drop, environment, errors, only, put, small, warnings
from tests.model.nodes_of_real_clusters import REAL_MEMORY_ON_EC2, REAL_NODES, RESERVED_CPU, RealNode


def _pool(real: RealNode) -> Pool:
    shape = {"cpu": real.cpu, "memory": real.memory, "gpu": {"model": "a100-sxm-80gb", "count": real.gpus}}
    return Pool.model_validate({"shape": shape, "size": 1, "maxPods": real.pods, "sharing": real.sharing})


@pytest.mark.parametrize("name", REAL_NODES)
def test_an_offer_is_what_a_real_node_of_that_shape_shows(name: str):
    real = REAL_NODES[name]
    pool = _pool(real)
    whole, free = nodes.capacity(pool), nodes.allocatable(pool)
    assert (str(whole["cpu"]), str(whole["memory"]), str(whole["pods"])) == (real.cpu, real.memory, str(real.pods))
    assert (str(free["cpu"]), str(free["memory"])) == (real.allocatable_cpu, real.allocatable_memory)
    assert dict(nodes.gpu_resources(pool)) == real.advertised


@pytest.mark.parametrize(("cores", "millicores"), RESERVED_CPU.items())
def test_cores_that_the_kubelet_keeps_back(cores: int, millicores: int):
    pool = Pool.model_validate({"shape": {"cpu": cores, "memory": "64Gi"}, "size": 1})
    assert nodes.kept_back(pool)[0] == Decimal(millicores) / 1000


def test_a_server_of_the_catalogue_offers_what_its_system_sees_of_the_memory():
    offer = next(offer for offer in offers.node_offers(environment()) if offer.pool == "train")
    assert dict(offer.capacity) == {"cpu": "224", "memory": "2113929216Ki", "pods": "110", "nvidia.com/gpu": "8"}
    assert dict(offer.allocatable) == {
        "cpu": "223370m",
        "memory": "2112326656Ki",
        "pods": "110",
        "nvidia.com/gpu": "8",
    }


def test_shared_gpus_have_a_name_of_their_own_and_their_whole_number():
    pool = environment().pools["serve"]
    assert nodes.gpu_resource(pool) == "nvidia.com/gpu.shared"
    assert dict(nodes.gpu_resources(pool)) == {"nvidia.com/gpu.shared": 16}
    assert str(nodes.allocatable(pool)["nvidia.com/gpu.shared"]) == "16"
    assert "nvidia.com/gpu" not in nodes.allocatable(pool)


def test_a_pool_without_gpus_offers_none():
    pool = environment().pools["system"]
    assert nodes.gpu_resource(pool) is None
    assert sorted(nodes.allocatable(pool)) == ["cpu", "memory", "pods"]


def test_what_is_kept_back_may_be_said():
    pool = environment(put("pools.system.reserved", {"cpu": 2, "memory": "4Gi"})).pools["system"]
    assert str(nodes.allocatable(pool)["cpu"]) == "14"
    assert nodes.allocatable(pool)["memory"] == Quantity.parse("60Gi")


@pytest.mark.parametrize(("key", "value"), [("cpu", 17), ("memory", "65Gi")])
def test_nobody_keeps_back_more_than_there_is(key: str, value: object):
    reserved = {"cpu": 1, "memory": "1Gi", key: value}
    path, problem = only(errors(put("pools.system.reserved", reserved)))
    assert path == f"pools.system.reserved.{key}"
    assert problem.allowed is not None


def test_a_machine_that_is_too_small_for_its_kubelet_is_refused():
    path, problem = only(errors(put("pools.system.shape.memory", "1Gi")))
    assert path == "pools.system.shape.memory"
    assert "1565Mi" in problem.message


def test_offers_are_named_and_labelled_in_the_order_of_the_document():
    found = offers.node_offers(environment())
    assert [offer.name for offer in found][:4] == ["system-0", "system-1", "system-2", "train-00"]
    assert len(found) == 3 + 16 + 2
    last = next(offer for offer in found if offer.name == "train-15")
    assert dict(last.labels) == {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "kubernetes.io/hostname": "train-15",
        "team.example.com/tier": "gold",
        "topology.example.com/spine": "train-spine-1",
        "topology.example.com/rack": "train-rack-3",
        "feature.node.kubernetes.io/pci-15b3.present": "true",
        "nvidia.com/device-plugin.config": "whole",
        "gangline.dev/pool": "train",
    }
    assert [(taint.key, taint.value, taint.effect) for taint in last.taints] == [
        ("nvidia.com/gpu", "true", "NoSchedule")
    ]


def test_taints_are_in_the_spelling_of_kubernetes():
    offer = next(offer for offer in offers.node_offers(environment()) if offer.pool == "serve")
    assert offer.taints[0].effect == "NoExecute"


def test_static_racks_name_the_nodes():
    env = environment(
        put("topology", {"racks": {"r1": {"nodes": ["dgx-a", "dgx-b"], "pool": "train"}}}),
        put("pools.train.size", 3),
        drop("pools.train.domains"),
        put("ray.clusters.tuning.workers.count", 1),
        drop("queues.research.guarantee"),
        drop("queues.research.queues.llm.guarantee"),
        put("queues.research.deserved", {"gpu": 16}),
        put("queues.research.queues.llm.deserved", {"gpu": 8}),
        put("queues.research.queues.vision.deserved", {"gpu": 8}),
        put("queues.production.deserved", {"gpu": 8}),
    )
    assert offers.node_names(env, "train", 3) == ["dgx-a", "dgx-b", "train-0"]


def test_the_host_of_an_hgx_board_is_assumed_with_a_warning_or_said():
    board = put("pools.train.server", "hgx-b200")
    path, problem = only(warnings(board))
    assert (path, problem.fix) == ("pools.train.host", "host: {cpu: 240, memory: 2Ti}")
    assert str(nodes.capacity(environment(board).pools["train"])["cpu"]) == "240"
    _, problem = only(warnings(board, put("pools.train.host", {"cpu": 256})))
    assert problem.fix == "host: {memory: 2Ti}"
    said = put("pools.train.host", {"cpu": 256, "memory": "3Ti"})
    assert not warnings(board, said)
    assert str(nodes.capacity(environment(board, said).pools["train"])["cpu"]) == "256"


def test_more_memory_than_the_data_sheet_may_be_said():
    pool = environment(put("pools.train.host", {"memory": "4Ti"})).pools["train"]
    assert nodes.capacity(pool)["memory"].value == 4 * 1024**4 * 63 // 64
    assert str(nodes.capacity(pool)["cpu"]) == "224"


def test_a_shape_has_no_host_beside_it():
    assert list(errors(put("pools.system.host", {"cpu": 8}))) == ["pools.system.host"]


@pytest.mark.parametrize("server", catalog.servers())
def test_every_server_of_the_catalogue_makes_a_pool(server: str):
    pool = Pool.model_validate({"server": server, "size": 1})
    assert dict(nodes.gpu_resources(pool)) == {"nvidia.com/gpu": 8}
    assert nodes.allocatable(pool)["cpu"] < nodes.capacity(pool)["cpu"]


def test_what_all_pools_offer_is_counted_at_their_largest():
    env = environment()
    assert nodes.most_offered(env)["nvidia.com/gpu"] == 128
    assert nodes.most_offered(env)["nvidia.com/gpu.shared"] == 8 * 16


@pytest.mark.parametrize(("instance", "seen"), [(name, seen) for name, (seen, _) in REAL_MEMORY_ON_EC2.items()])
def test_memory_of_instances_is_no_more_than_real_nodes_show(instance: str, seen: int):
    env = document.load(small(pools={"train": {"instance": instance, "size": 1}}))
    counted = int(nodes.machine(env.pools["train"]).memory.value) // 1024
    assert seen * 98 // 100 <= counted <= seen
