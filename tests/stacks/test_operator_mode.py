"""Mode `operator`: the operators are installed instead of the agents, and what they are told is told completely."""

from pathlib import Path
from typing import Any

import pytest

from model import document, images
from model.environment import Environment
from twin.policy_pack import judge
from twin.rehearsal import Rehearsal, rehearse

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "02-operators.yaml"


@pytest.fixture(scope="module")
def environment() -> Environment:
    return document.read(EXAMPLE).load()


@pytest.fixture(scope="module")
def rehearsal(environment: Environment) -> Rehearsal:
    return rehearse(environment, stack="lab")


def test_no_agent_of_ours_runs_where_an_operator_does(environment: Environment, rehearsal: Rehearsal) -> None:
    """Node feature discovery is the exception: both operators look for its labels, and there is one per cluster."""
    looked_after = set(images.operator_pools(environment))
    assert looked_after == {"train", "serve", "notebooks"}
    for daemon_set in rehearsal.of_kind("DaemonSet"):
        name = daemon_set.inputs["metadata"]["name"]
        affinity = daemon_set.inputs["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
        (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        assert name.startswith("nfd-worker") or not looked_after & set(term["matchExpressions"][0]["values"]), name
    assert not [each for each in rehearsal.resources if "nvidia-device-plugin" in str(each.inputs.get("metadata"))]


def test_policies_pass(rehearsal: Rehearsal) -> None:
    assert [verdict for verdict in judge(rehearsal.resources) if verdict.level == "mandatory"] == []


@pytest.mark.parametrize(
    ("later", "earlier"),
    [
        ("platform-gpu-operator-release", "platform-gpu-operator-definitions-clusterpolicies.nvidia.com"),
        ("platform-gpu-operator-release", "platform-gpu-operator-device-plugin"),
        ("platform-gpu-operator-release", "platform-gpu-operator-mig-manager"),
        ("platform-gpu-operator-ready", "platform-gpu-operator-release"),
        ("platform-gpu-operator-release", "platform-node-features-master"),
        ("platform-network-operator-release", "platform-network-operator-definitions-nicclusterpolicies.mellanox.com"),
        ("platform-network-operator-policy", "platform-network-operator-release"),
    ],
)
def test_order(rehearsal: Rehearsal, later: str, earlier: str) -> None:
    assert rehearsal.after(later, earlier)
    assert not rehearsal.after(earlier, later)


def test_readiness_is_waited_for_and_not_compared(rehearsal: Rehearsal) -> None:
    ready = rehearsal.named("platform-gpu-operator-ready")
    assert ready.inputs["metadata"]["annotations"] == {"pulumi.com/waitFor": "jsonpath={.status.state}=ready"}
    assert ready.ignore_changes == ("metadata.annotations",)


def test_network_operator_has_its_one_policy(rehearsal: Rehearsal) -> None:
    (policy,) = rehearsal.of_kind("NicClusterPolicy")
    assert policy.inputs["metadata"]["name"] == "nic-cluster-policy", "it ignores any other"
    assert policy.inputs["metadata"]["annotations"] == {"pulumi.com/waitFor": "jsonpath={.status.state}=ready"}
    assert set(policy.inputs["spec"]) == {"nodeAffinity", "tolerations", "rdmaSharedDevicePlugin"}
    values = rehearsal.named("platform-network-operator-release").inputs["values"]
    assert values["nfd"] == {"enabled": False, "deployNodeFeatureRules": True}
    assert values["upgradeCRDs"] is False


def test_policy_is_not_awaited_where_there_may_be_no_node(environment: Environment) -> None:
    """The operator calls it ready only when an agent runs somewhere."""
    value = environment.model_dump(mode="json", by_alias=True, exclude_unset=True)
    value["pools"]["train"]["size"] = {"min": 0, "max": 16}
    (policy,) = rehearse(document.load(value), stack="lab").of_kind("NicClusterPolicy")
    assert "annotations" not in policy.inputs["metadata"]


def test_node_features_are_discovered_wherever_an_operator_looks_for_them(environment: Environment) -> None:
    """Also on nodes with RDMA and without GPUs."""
    value = environment.model_dump(mode="json", by_alias=True, exclude_unset=True)
    value["pools"]["storage"] = {
        "shape": {"cpu": 64, "memory": "503Gi", "nics": {"model": "connectx-7", "count": 2}},
        "fabric": "infiniband",
        "size": 2,
    }
    discovered = {
        pool
        for daemon_set in rehearse(document.load(value), stack="lab").of_kind("DaemonSet")
        for pool in daemon_set.inputs["spec"]["template"]["spec"]["affinity"]["nodeAffinity"][
            "requiredDuringSchedulingIgnoredDuringExecution"
        ]["nodeSelectorTerms"][0]["matchExpressions"][0]["values"]
    }
    assert discovered == {"train", "serve", "notebooks", "edge", "storage"}


def test_release_names_the_files_that_are_there(rehearsal: Rehearsal) -> None:
    values = rehearsal.named("platform-gpu-operator-release").inputs["values"]
    there = {
        each.inputs["metadata"]["name"]: each.inputs
        for each in rehearsal.of_kind("ConfigMap")
        if each.inputs["metadata"]["namespace"] == "gpu-operator"
    }
    plugin, layouts = values["devicePlugin"]["config"], values["migManager"]["config"]
    assert plugin["default"] in there[plugin["name"]]["data"]
    assert list(there[layouts["name"]]["data"]) == ["config.yaml"]
    assert all(each["immutable"] for each in there.values())


def test_operator_may_run_beside_the_gpus(rehearsal: Rehearsal) -> None:
    operator = rehearsal.named("platform-gpu-operator-release").inputs["values"]["operator"]
    required: Any = operator["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    (requirement,) = required["nodeSelectorTerms"][0]["matchExpressions"]
    assert requirement["operator"] == "NotIn"
    assert set(requirement["values"]) == {"train", "serve", "notebooks", "edge"}


def test_nodes_with_a_plugin_of_their_own_are_told_by_their_settings(rehearsal: Rehearsal) -> None:
    settings = rehearsal.outputs["nodeSettings"]
    assert list(settings) == ["edge"]
    assert 'device-sharing-strategy = "time-slicing"' in settings["edge"]
