"""Karpenter's own definitions and chart take what follows from the pools, and say with it what was meant."""

import copy
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from catalog import reader as catalog
from components.crds.source import chart_without_definitions, definitions
from components.sources import Sources, documents
from model import document
from model.aws import node_pools
from model.environment import Environment
from model.releases import upstream as product
from tests.schemas import closed
from tests.upstream import helm
from twin import tools

VALUE: dict[str, Any] = {
    "cluster": {"name": "atlas", "provider": "aws", "kubernetes": "1.35", "zones": ["us-east-2a", "us-east-2b"]},
    "pools": {
        "system": {"instance": "m7i.2xlarge", "size": 3},
        "whole": {
            "instance": "g6e.12xlarge",
            "size": {"min": 0, "max": 8},
            "provisioner": "karpenter",
            "capacity": {"kind": "spot"},
            "labels": {"example.com/team": "search"},
            "taints": [
                {"key": "nvidia.com/gpu", "effect": "NoSchedule"},
                {"key": "example.com/team", "value": "search", "effect": "PREFER_NO_SCHEDULE"},
            ],
        },
        "shared": {
            "instance": "g6e.xlarge",
            "size": {"min": 0, "max": 4},
            "zone": "us-east-2b",
            "provisioner": "karpenter",
            "rootVolume": "200Gi",
            "sharing": {"timeSlicing": {"replicas": 4}},
        },
        "held": {
            "instance": "p5.48xlarge",
            "size": {"min": 0, "max": 2},
            "zone": "us-east-2a",
            "provisioner": "karpenter",
            "capacity": {"kind": "reservation", "reservation": "cr-0a1b2c3d4e5f67890"},
        },
        "rocket": {
            "instance": "g6e.xlarge",
            "size": {"min": 0, "max": 4},
            "image": "bottlerocket-nvidia",
            "provisioner": "karpenter",
            "sharing": {"timeSlicing": {"replicas": 2}},
        },
        "plain": {"instance": "m7i.2xlarge", "size": {"min": 0, "max": 20}, "provisioner": "karpenter"},
    },
}
POOLS = ("whole", "shared", "held", "rocket", "plain")


@pytest.fixture(scope="module")
def env() -> Environment:
    return document.load(copy.deepcopy(VALUE))


@pytest.fixture(scope="module")
def chart() -> Path:
    return tools.ensure_sources(["karpenter-chart"])["karpenter-chart"]


@pytest.fixture(scope="module")
def schemas(chart: Path) -> Mapping[tuple[str, str], Mapping[str, Any]]:
    found = {}
    for file in (chart / "crds").glob("*.yaml"):
        for definition in documents(file):
            spec = definition["spec"]
            for version in spec["versions"]:
                key = f"{spec['group']}/{version['name']}", spec["names"]["kind"]
                found[key] = closed(version["schema"]["openAPIV3Schema"])
    return found


def node_class(env: Environment, pool: str) -> dict[str, Any]:
    return node_pools.node_class(
        env,
        pool,
        profile="platform-karpenter-node-profile-1a2b3c4",
        subnet_ids=["subnet-0a1b2c3d4e5f67890", "subnet-0a1b2c3d4e5f67891"],
        security_groups=["sg-0a1b2c3d4e5f67890"],
    )


def objects(env: Environment) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for pool in POOLS:
        yield node_pools.NODE_CLASS, "EC2NodeClass", node_class(env, pool)
        yield node_pools.NODE_POOL, "NodePool", node_pools.node_pool(env, pool)
    for overlay in node_pools.overlays(env).values():
        yield node_pools.OVERLAY, "NodeOverlay", overlay


def test_objects_keep_to_their_definitions(env: Environment, schemas: Mapping[tuple[str, str], Any]) -> None:
    made = list(objects(env))
    assert len(made) == 2 * len(POOLS) + 2
    for version, kind, spec in made:
        value = {"apiVersion": version, "kind": kind, "metadata": {}, "spec": spec}
        jsonschema.Draft202012Validator(schemas[version, kind]).validate(value)


def test_a_field_that_upstream_does_not_know_is_found(env: Environment, schemas: Mapping[tuple[str, str], Any]) -> None:
    spec = node_class(env, "whole") | {"subnetIds": []}
    with pytest.raises(jsonschema.ValidationError, match="subnetIds"):
        jsonschema.Draft202012Validator(schemas[node_pools.NODE_CLASS, "EC2NodeClass"]).validate(
            {"apiVersion": node_pools.NODE_CLASS, "kind": "EC2NodeClass", "metadata": {}, "spec": spec}
        )


def test_a_pool_is_what_the_document_says(env: Environment) -> None:
    spec = node_pools.node_pool(env, "whole")
    template = spec["template"]
    assert template["metadata"]["labels"] == {"example.com/team": "search", "gangline.dev/pool": "whole"}
    needed = {each["key"]: each["values"] for each in template["spec"]["requirements"]}
    assert needed == {
        "node.kubernetes.io/instance-type": ["g6e.12xlarge"],
        "karpenter.sh/capacity-type": ["spot"],
        "topology.kubernetes.io/zone": ["us-east-2a", "us-east-2b"],
    }
    # Kubernetes' spelling, and no empty value.
    assert template["spec"]["taints"] == [
        {"key": "nvidia.com/gpu", "effect": "NoSchedule"},
        {"key": "example.com/team", "value": "search", "effect": "PreferNoSchedule"},
    ]
    assert spec["limits"] == {"nodes": "8"}


def test_work_on_gpus_is_never_moved(env: Environment) -> None:
    for pool in POOLS:
        spec = node_pools.node_pool(env, pool)
        assert spec["template"]["spec"]["expireAfter"] == "Never"
        assert spec["disruption"]["consolidationPolicy"] == "WhenEmpty"
        none_for_drift = {"nodes": "0", "reasons": ["Drifted"]} in spec["disruption"]["budgets"]
        assert none_for_drift == (pool != "plain")


def test_disks_count_as_room_for_pods(env: Environment) -> None:
    for pool in POOLS:
        instance = catalog.instances()[env.pools[pool].instance or ""]
        assert node_class(env, pool).get("instanceStorePolicy") == ("RAID0" if instance.disks else None)


def test_a_reservation_is_the_only_place_that_its_pool_takes_from(env: Environment) -> None:
    assert node_class(env, "held")["capacityReservationSelectorTerms"] == [{"id": "cr-0a1b2c3d4e5f67890"}]
    needed = {
        each["key"]: each["values"] for each in node_pools.node_pool(env, "held")["template"]["spec"]["requirements"]
    }
    assert needed["karpenter.sh/capacity-type"] == ["reserved"]
    assert needed["topology.kubernetes.io/zone"] == ["us-east-2a"]


def test_volumes_are_where_the_image_looks_for_them(env: Environment) -> None:
    sizes = {
        pool: {each["deviceName"]: each["ebs"]["volumeSize"] for each in node_class(env, pool)["blockDeviceMappings"]}
        for pool in ("whole", "shared", "rocket")
    }
    assert sizes == {
        "whole": {"/dev/xvda": "100Gi"},
        "shared": {"/dev/xvda": "200Gi"},
        "rocket": {"/dev/xvda": "4Gi", "/dev/xvdb": "100Gi"},
    }


def test_bottlerocket_gets_its_settings(env: Environment) -> None:
    assert "time-slicing" in node_class(env, "rocket")["userData"]
    assert "userData" not in node_class(env, "whole")


def test_karpenter_is_told_of_what_it_cannot_know(env: Environment) -> None:
    """Pods that ask for a share would otherwise wait for ever for a pool that begins with no nodes."""
    assert node_pools.overlays(env) == {
        "shared": {
            "requirements": [{"key": "karpenter.sh/nodepool", "operator": "In", "values": ["shared"]}],
            "capacity": {"nvidia.com/gpu.shared": "4"},
        },
        "rocket": {
            "requirements": [{"key": "karpenter.sh/nodepool", "operator": "In", "values": ["rocket"]}],
            "capacity": {"nvidia.com/gpu.shared": "2"},
        },
    }


def rendered(env: Environment, chart: Path) -> dict[str, Any]:
    values = node_pools.chart(env, endpoint="https://x.eks.amazonaws.com", queue="atlas-karpenter")
    made = helm.render(chart, values, release="karpenter", namespace="kube-system")
    (deployment,) = [each for each in made if each["kind"] == "Deployment"]
    assert [each["metadata"]["name"] for each in made if each["kind"] == "ServiceAccount"] == ["karpenter"]
    return deployment["spec"]


def test_the_chart_says_with_the_values_what_was_meant(env: Environment, chart: Path) -> None:
    spec = rendered(env, chart)
    assert spec["replicas"] == 2
    pod = spec["template"]["spec"]
    said = {each["name"]: each.get("value") for each in pod["containers"][0]["env"]}
    assert said["CLUSTER_NAME"] == "atlas"
    assert said["CLUSTER_ENDPOINT"] == "https://x.eks.amazonaws.com"
    assert said["INTERRUPTION_QUEUE"] == "atlas-karpenter"
    assert "ISOLATED_VPC" not in said
    assert "NodeOverlay=true" in said["FEATURE_GATES"]
    assert pod["serviceAccountName"] == "karpenter"
    # It runs on nodes that others made, one on each.
    required = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert required["nodeSelectorTerms"] == [
        {"matchExpressions": [{"key": "gangline.dev/pool", "operator": "In", "values": ["system"]}]}
    ]
    assert pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]


def test_without_shares_it_gets_no_unfinished_feature(chart: Path) -> None:
    value = copy.deepcopy(VALUE)
    value["pools"] = {name: value["pools"][name] for name in ("system", "whole")}
    value["pools"]["system"]["size"] = 1
    value["cluster"]["network"] = {"nat": "none", "endpoints": True}
    spec = rendered(document.load(value), chart)
    said = {each["name"]: each.get("value") for each in spec["template"]["spec"]["containers"][0]["env"]}
    assert "NodeOverlay=false" in said["FEATURE_GATES"]
    # A second replica would wait for a second node.
    assert spec["replicas"] == 1
    assert said["ISOLATED_VPC"] == "true"


def test_the_chart_has_every_value_that_is_set(env: Environment, chart: Path) -> None:
    """Helm takes any key, and nobody would notice that one does nothing."""
    (known,) = documents(chart / "values.yaml")
    set_here = node_pools.chart(env, endpoint="https://x", queue="q")
    assert set(set_here) <= set(known)
    assert set(set_here["settings"]) <= set(known["settings"])
    assert set(set_here["settings"]["featureGates"]) <= set(known["settings"]["featureGates"])


def test_definitions_are_ours_and_the_release_s_chart_has_none(env: Environment, tmp_path: Path) -> None:
    tools.materialise("karpenter-chart", tmp_path / ".twin" / "sources")
    value = copy.deepcopy(VALUE)
    value["releases"] = {"karpenter": {"source": ".twin/sources/karpenter-chart"}}
    ours, sources = product(document.load(value), "karpenter"), Sources(project=tmp_path)
    assert [each.name for each in definitions(ours, sources)] == sorted(catalog.releases()["karpenter"].crds)
    left = tmp_path / chart_without_definitions(ours, sources)
    assert not list(left.rglob("crds/*"))
