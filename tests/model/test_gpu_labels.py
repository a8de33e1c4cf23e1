"""The labels that GPU feature discovery writes on nodes."""

import pytest

from model import gpu_labels, names, offers
from model.pools import Pool
from tests.model.documents import Change, environment, errors, only, put
from tests.model.nodes_of_real_clusters import LABELLED
from tests.model.test_devices import NO_SHARED_QUOTAS


@pytest.mark.parametrize("name", LABELLED)
def test_labels_are_those_of_real_nodes(name: str):
    real = LABELLED[name]
    shape = {"cpu": 64, "memory": "512Gi", "gpu": {"model": real.gpu, "count": real.gpus}}
    derived = gpu_labels.written(Pool.model_validate({"shape": shape, "size": 1, "sharing": real.sharing}))
    assert {key: derived.get(key) for key in real.labels} == real.labels
    assert all(names.label_key_fault(key) is None for key in derived)
    assert all(names.LABEL_VALUE.fault(value) is None for value in derived.values())


def _labels(*changes: Change) -> dict[str, str]:
    env = environment(*NO_SHARED_QUOTAS, *changes)
    return dict(next(offer for offer in offers.node_offers(env) if offer.pool == "serve").labels)


def test_shared_gpus_keep_their_product_as_the_resource_is_renamed():
    found = _labels()
    assert found["nvidia.com/gpu.product"] == "NVIDIA-A100-SXM4-80GB"
    assert (found["nvidia.com/gpu.replicas"], found["nvidia.com/gpu.sharing-strategy"]) == ("4", "time-slicing")
    assert (found["nvidia.com/gpu.count"], found["nvidia.com/mps.capable"]) == ("4", "false")


def test_mps_nodes_are_capable_of_it():
    found = _labels(put("pools.serve.sharing", {"mps": {"replicas": 8}}))
    assert (found["nvidia.com/mps.capable"], found["nvidia.com/gpu.sharing-strategy"]) == ("true", "mps")


def test_time_slices_of_instances_are_labelled_after_the_instance():
    found = _labels(
        put("pools.serve.sharing", {"mig": {"profiles": {"1g.10gb+me": 1}}, "timeSlicing": {"replicas": 3}})
    )
    assert found["nvidia.com/mig-1g.10gb.me.replicas"] == "3"
    assert found["nvidia.com/mig-1g.10gb.me.sharing-strategy"] == "time-slicing"
    assert found["nvidia.com/mig-1g.10gb.me.product"] == "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb.me"
    assert (found["nvidia.com/gpu.replicas"], found["nvidia.com/gpu.sharing-strategy"]) == ("0", "none")


def test_the_memory_of_instances_is_not_guessed():
    found = _labels(put("pools.serve.sharing", {"mig": {"profiles": {"1g.10gb": 7}, "strategy": "single"}}))
    assert found["nvidia.com/gpu.product"] == "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb"
    assert (found["nvidia.com/gpu.count"], found["nvidia.com/gpu.slices.gi"]) == ("28", "1")
    assert "nvidia.com/gpu.memory" not in found


def test_nodes_with_whole_gpus_carry_none_as_nothing_discovers_them():
    found = dict(next(offer for offer in offers.node_offers(environment()) if offer.pool == "train").labels)
    assert not [key for key in found if key.startswith("nvidia.com/gpu.")]


def test_a_pool_does_not_say_them_itself():
    path, problem = only(errors(put(("pools", "serve", "labels"), {"nvidia.com/gpu.replicas": "1"})))
    assert path == 'pools.serve.labels["nvidia.com/gpu.replicas"]'
    assert "as 4" in problem.message
