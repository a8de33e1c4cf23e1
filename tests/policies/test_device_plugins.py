"""The law that each node has one device plugin of NVIDIA."""

from typing import Any

import pytest
import yaml

from tests.policies.objects import UNKNOWN, Resource, container, template
from twin.paths import CHECKOUT
from twin.policy_pack import PolicyPack, Verdict

POOL = "gangline.dev/pool"
DOCUMENT = yaml.safe_load((CHECKOUT / "docs" / "examples" / "02-operators.yaml").read_text())["config"][
    "gangline:environment"
]
"""Pools train, serve and notebooks; edge, whose image runs a plugin; and system without GPUs."""


def daemon(name: str, *command: str, image: str = "nvcr.io/nvidia/k8s-device-plugin:v0.20.0", **spec: Any) -> Resource:
    made = container(image=image, **({"command": list(command)} if command else {}))
    made = template(made, tolerations=[{"operator": "Exists"}], **spec)
    return Resource("kubernetes:apps/v1:DaemonSet", {"spec": {"template": made}}, name)


def on(*pools: Any, operator: str = "In") -> dict[str, Any]:
    term = {"matchExpressions": [{"key": POOL, "operator": operator, "values": list(pools)}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return {"affinity": {"nodeAffinity": required}}


def chart(name: str, **values: Any) -> Resource:
    return Resource("kubernetes:helm.sh/v3:Release", {"chart": name, "values": values}, name.rpartition("/")[2])


def judged(pack: PolicyPack, *resources: Resource, document: Any = DOCUMENT) -> list[Verdict]:
    """Judge a stack of a document and some resources."""
    pack.analyze(Resource("gangline:index:Platform", {"environment": document}, "platform"))
    for resource in resources:
        pack.analyze(resource)
    verdicts = pack.analyze_stack([Resource("gangline:index:Platform", {}, "platform"), *resources])
    return [verdict for verdict in verdicts if verdict.policy in ("device-plugins", "unjudged")]


@pytest.mark.parametrize(
    ("resources", "pools"),
    [
        ([daemon("a", **on("train")), daemon("b", **on("train", "serve"))], ["train"]),
        ([daemon("a", **on("edge"))], ["edge"]),
        ([daemon("a", "/usr/bin/nvidia-device-plugin", nodeSelector={POOL: "edge"})], ["edge"]),
        ([daemon("a", **on("edge", operator="NotIn")), daemon("b", **on("serve"))], ["serve"]),
        ([daemon("a", **on("train")), daemon("b")], ["train", "edge"]),
        ([chart("./.charts/gpu-operator-26.7.0-0123456789ab"), daemon("b", **on("notebooks"))], ["notebooks"]),
        ([chart("nvidia-device-plugin")], ["edge"]),
        (
            [chart("gpu-operator"), chart("oci://registry.example.com/nvidia-device-plugin")],
            ["train", "notebooks", "edge"],  # the charts do not tolerate the taint of serve
        ),
    ],
)
def test_a_second_plugin_on_a_node_is_refused(pack: PolicyPack, resources: list[Resource], pools: list[str]):
    verdicts = judged(pack, *resources)
    assert {verdict.level for verdict in verdicts} == {"mandatory"}
    assert {verdict.urn for verdict in verdicts} == {resources[-1].urn}
    told = " ".join(verdict.message for verdict in verdicts)
    for pool in DOCUMENT["pools"]:
        assert (f"on pool {pool}," in told) == (pool in pools), told


@pytest.mark.parametrize(
    "resources",
    [
        [daemon("a", **on("train")), daemon("b", **on("serve"))],
        [chart("./.charts/gpu-operator-26.7.0-0123456789ab")],
        [chart("gpu-operator", devicePlugin={"enabled": False}), daemon("b", **on("train"))],
        # Other programs of the same image.
        [daemon("a", **on("train")), daemon("b", "gpu-feature-discovery", **on("train", "edge"))],
        [daemon("a", **on("train")), daemon("b", "mps-control-daemon", **on("train"))],
        [daemon("a", **on("train")), daemon("b", image="registry.example.com/other:1", **on("train"))],
        [chart("node-feature-discovery"), daemon("b", **on("train"))],
        [
            chart("nvidia-device-plugin", nodeSelector={POOL: "train"}),
            chart("oci://registry.example.com/nvidia-device-plugin", nodeSelector={POOL: "serve"}),
        ],
    ],
)
def test_one_plugin_per_node_is_right(pack: PolicyPack, resources: list[Resource]):
    assert judged(pack, *resources) == []


def test_operators_chart_beside_this_projects_plugins(pack: PolicyPack):
    """In `plugins` mode nothing keeps the operator away from any node."""
    pools = {
        name: {key: value for key, value in pool.items() if value != "ubuntu"}
        for name, pool in DOCUMENT["pools"].items()
    }
    plugins = DOCUMENT | {"devices": {"install": "plugins"}, "pools": pools}
    verdicts = judged(pack, daemon("a", **on("train")), chart("gpu-operator"), document=plugins)
    told = " ".join(verdict.message for verdict in verdicts)
    assert "on pool train, beside that of a" in told
    assert "on pool edge, beside that of its image" in told


def test_pools_that_are_not_known_yet_are_listed(pack: PolicyPack):
    (verdict,) = judged(pack, daemon("a", nodeSelector={POOL: UNKNOWN}))
    assert verdict.policy == "unjudged"
    assert "nodeSelector" in verdict.message
