"""Add-ons of EKS: versions, and what they are told."""

import copy
import json
from typing import Any

import pytest

from catalog import reader as catalog
from model import document
from model.aws import addons
from model.problems import spoken

VALUE: dict[str, Any] = {
    "cluster": {"name": "atlas", "provider": "aws", "kubernetes": "1.35", "zones": ["us-east-2a", "us-east-2b"]},
    "pools": {
        "system": {"instance": "m7i.2xlarge", "size": 3},
        "batch": {
            "instance": "m7i.2xlarge",
            "size": {"min": 0, "max": 4},
            "taints": [{"key": "example.com/batch", "effect": "NoSchedule"}],
        },
        "serve": {
            "instance": "g6e.12xlarge",
            "size": 2,
            "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}],
        },
    },
}

DRIVERS = {"lustre": "aws-fsx-csi-driver", "efs": "aws-efs-csi-driver"}


def value(**cluster: Any) -> dict[str, Any]:
    made = copy.deepcopy(VALUE)
    made["cluster"] |= cluster
    return made


def by_name(**cluster: Any) -> dict[str, addons.Addon]:
    env = document.load(value(**cluster))
    return {each.name: each for each in (*addons.before_nodes(env), *addons.after_nodes(env))}


def test_what_nodes_need_comes_before_them_and_the_rest_after() -> None:
    env = document.load(value())
    before, after = [each.name for each in addons.before_nodes(env)], [each.name for each in addons.after_nodes(env)]
    assert before == ["vpc-cni", "kube-proxy", "eks-pod-identity-agent"]
    assert after == ["coredns", "aws-ebs-csi-driver", "eks-node-monitoring-agent"]


@pytest.mark.parametrize("minor", ["1.33", "1.34", "1.35", "1.36"])
def test_versions_are_those_of_the_cluster_s_kubernetes(minor: str) -> None:
    found = by_name(kubernetes=minor)
    assert {name: each.version for name, each in found.items()} == {
        name: each.versions[minor] for name, each in catalog.addons().items() if name not in DRIVERS.values()
    }


@pytest.mark.parametrize("kind", DRIVERS)
def test_a_driver_is_there_for_its_file_system_only(kind: str) -> None:
    shared = {"lustre": {"size": "4800Gi", "throughput": 250, "zone": "us-east-2a"}, "efs": {"size": "4Ti"}}[kind]
    env = document.load(value() | {"storage": {"shared": {"kind": kind, **shared}}})
    found = {each.name: each for each in addons.after_nodes(env)}
    assert set(found) & set(DRIVERS.values()) == {DRIVERS[kind]}
    # It makes no volumes, so that it needs no rights.
    assert found[DRIVERS[kind]].account is None
    problems = document.judge(value(addons={DRIVERS[kind]: "v9.9.9-eksbuild.1"})).errors
    assert [spoken(each.path) for each in problems] == [f"environment.cluster.addons.{DRIVERS[kind]}"]


def test_the_document_may_name_another_version() -> None:
    found = by_name(addons={"vpc-cni": "v1.20.4-eksbuild.2"})
    assert found["vpc-cni"].version == "v1.20.4-eksbuild.2"
    assert found["coredns"].version == catalog.addons()["coredns"].versions["1.35"]


def test_a_new_kubernetes_needs_all_versions_from_the_document() -> None:
    problems = document.judge(value(kubernetes="1.37")).errors
    assert [spoken(each.path) for each in problems] == ["environment.cluster.kubernetes"]
    assert "vpc-cni: v…" in (problems[0].fix or "")
    own = {name: "v9.9.9-eksbuild.1" for name in catalog.addons() if name not in DRIVERS.values()}
    assert not document.judge(value(kubernetes="1.37", addons=own)).errors


@pytest.mark.parametrize(
    ("named", "at", "fix"),
    [
        ({"vpc-cn": "v1.20.4-eksbuild.2"}, "vpc-cn", "vpc-cni"),
        ({"vpc-cni": "latest"}, "vpc-cni", None),
        ({"coredns": "1.14.3"}, "coredns", None),
    ],
)
def test_a_wrong_add_on_is_told_where_it_stands(named: dict[str, str], at: str, fix: str | None) -> None:
    (problem,) = document.judge(value(addons=named)).errors
    assert spoken(problem.path) == f"environment.cluster.addons.{at}"
    assert problem.fix == fix


def test_a_cluster_that_is_there_has_no_add_ons_of_ours() -> None:
    made = value(provider="existing", context="x")
    del made["cluster"]["zones"]
    made["pools"] = {"train": {"server": "dgx-h100", "size": 2}}
    assert not document.judge(made).errors


def test_node_agents_reach_every_node_whatever_its_taints() -> None:
    found = by_name()
    # The server of DCGM has none by itself, and the node side of EBS is told so that nobody has to look it up.
    assert found["eks-node-monitoring-agent"].values["dcgmAgent"]["tolerations"] == [{"operator": "Exists"}]
    assert found["aws-ebs-csi-driver"].values["node"] == {"tolerateAllTaints": True}


@pytest.mark.parametrize("name", ["coredns", "aws-ebs-csi-driver"])
def test_controllers_stay_off_gpus_and_go_where_the_rest_is(name: str) -> None:
    values = by_name()[name].values
    values = values.get("controller", values)
    assert values["tolerations"] == [{"key": "example.com/batch", "operator": "Exists", "effect": "NoSchedule"}]
    required = values["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert required["nodeSelectorTerms"] == [
        {"matchExpressions": [{"key": "gangline.dev/pool", "operator": "NotIn", "values": ["serve"]}]}
    ]


def test_replicas_of_dns_stay_apart() -> None:
    rule = by_name()["coredns"].values["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    assert rule[0]["podAffinityTerm"]["topologyKey"] == "kubernetes.io/hostname"


def test_prefixes_make_room_for_pods() -> None:
    env = json.loads(by_name()["vpc-cni"].configuration or "")["env"]
    # The schema of the add-on has text only.
    assert env == {"ENABLE_PREFIX_DELEGATION": "true", "WARM_PREFIX_TARGET": "1"}


def test_an_add_on_with_good_defaults_is_told_nothing() -> None:
    assert by_name()["kube-proxy"].configuration is None
