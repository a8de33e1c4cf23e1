"""What the network operator is told: the same devices as the plugins would be, in its one policy."""

import json
from typing import Any

import pytest

from model import fabric, network_operator, nodes, operators, rdma, releases
from model.environment import Environment
from tests.model.documents import Change, environment, errors, only, put

OPERATOR = put("devices", {"install": "operator"})
INFINIBAND = put("pools.train.fabric", "infiniband")
NICS = {"model": "connectx-7", "count": 4}


def serving(kind: Any) -> list[Change]:
    """The pool `serve` with a fabric and NICs."""
    return [put("pools.serve.fabric", kind), put("pools.serve.shape.nics", NICS)]


def policy(env: Environment) -> dict[str, Any]:
    return network_operator.policy(env, releases.upstream(env, "network-operator"))


def test_only_operator_mode_and_connectx_need_it():
    assert operators.products(environment(INFINIBAND)) == ()
    assert operators.products(environment(OPERATOR)) == ("gpu-operator",)
    assert operators.products(environment(OPERATOR, INFINIBAND)) == ("gpu-operator", "network-operator")
    assert rdma.plans(environment(OPERATOR, INFINIBAND)) == (), "the plugins are the operator's"


def test_devices_are_those_of_the_pool():
    env = environment(OPERATOR, INFINIBAND)
    plugin = policy(env)["rdmaSharedDevicePlugin"]
    (entry,) = json.loads(plugin["config"])["configList"]
    assert entry == rdma.entry(env.pools["train"])
    assert f"{entry['resourcePrefix']}/{entry['resourceName']}" in fabric.resources(env.pools["train"])
    assert "'" not in plugin["config"], "the operator pastes it between single quotes"
    assert plugin["image"] == "k8s-rdma-shared-dev-plugin"
    assert plugin["version"] == "network-operator-v26.4.1"


def test_virtual_functions_are_the_other_plugins():
    env = environment(OPERATOR, INFINIBAND, *serving({"kind": "roce", "mode": "sriov", "networks": ["roce"]}))
    told = policy(env)
    (entry,) = json.loads(told["sriovDevicePlugin"]["config"])["resourceList"]
    assert entry == rdma.entry(env.pools["serve"])
    assert json.loads(told["rdmaSharedDevicePlugin"]["config"])["configList"] == [rdma.entry(env.pools["train"])]


def test_agents_reach_the_pools_with_rdma_and_no_others():
    told = policy(environment(OPERATOR, INFINIBAND))
    (term,) = told["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [{"key": nodes.POOL_LABEL, "operator": "In", "values": ["train"]}]
    assert [it["key"] for it in told["tolerations"]] == ["nvidia.com/gpu"]
    both = policy(environment(OPERATOR, INFINIBAND, *serving({"kind": "roce", "networks": ["roce"]})))
    assert [it["key"] for it in both["tolerations"]] == ["nvidia.com/gpu", "team"]


def test_one_policy_has_one_entry_per_resource():
    both = [OPERATOR, INFINIBAND, *serving("infiniband")]
    entries = json.loads(policy(environment(*both))["rdmaSharedDevicePlugin"]["config"])["configList"]
    assert len(entries) == 1


@pytest.mark.parametrize("more", [{"slots": 16}, {"interfaces": ["ibs1"]}])
def test_pools_that_one_policy_cannot_serve(more: dict[str, Any]):
    changes = [INFINIBAND, *serving({"kind": "infiniband", **more})]
    environment(*changes)  # each pool has a plugin of its own
    path, problem = only(errors(OPERATOR, *changes))
    assert path == "pools.serve.fabric"
    assert "train" in (problem.allowed or "")
