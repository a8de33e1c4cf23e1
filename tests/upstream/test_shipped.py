"""Every configuration file that the shipped environments and examples hold, read by the program that it is for."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from model import document
from tests.upstream.parsers import Request, Upstream
from twin.rehearsal import Rehearsal, rehearse

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    file.name: file
    for file in sorted([*(ROOT / "stacks").glob("Pulumi.*.yaml"), *(ROOT / "docs" / "examples").glob("*.yaml")])
    if "mistakes" not in file.name
}


@cache
def _rehearsal(name: str) -> Rehearsal:
    return rehearse(document.read(FILES[name]).load(), stack="shipped")


def _texts(rehearsal: Rehearsal, stem: str) -> Iterator[str]:
    """The files in ConfigMaps whose names begin so."""
    for found in rehearsal.of_kind("ConfigMap"):
        if found.inputs["metadata"].get("name", "").startswith(stem):
            yield from found.inputs["data"].values()


@pytest.fixture(params=FILES)
def rehearsal(request: pytest.FixtureRequest) -> Rehearsal:
    return _rehearsal(request.param)


def test_files_of_the_device_plugin(rehearsal: Rehearsal, upstream: Upstream):
    """Native DaemonSets mount one each, with variables that must not say otherwise; the operator has them all."""
    agents = [
        container
        for found in rehearsal.of_kind("DaemonSet")
        for container in found.inputs["spec"]["template"]["spec"]["containers"]
        if found.name.startswith("platform-device-plugin")
    ]
    texts = [*_texts(rehearsal, "nvidia-device-plugin-"), *_texts(rehearsal, "device-plugin-")]
    assert texts
    for text in texts:
        for container in agents or [{}]:
            variables = {it["name"]: it["value"] for it in container.get("env", ()) if it["name"] != "CONFIG_FILE"}
            answer = upstream.read(Request("device-plugin", text, variables))
            assert answer.silent, answer
            said, file = yaml.safe_load(text), answer.config["file"]
            assert file["flags"]["migStrategy"] == said["flags"]["migStrategy"]


def test_files_of_the_shared_rdma_plugin(upstream: Upstream):
    texts = [text for name in FILES for text in _texts(_rehearsal(name), "rdma-shared-device-plugin-")]
    assert texts
    for text in texts:
        assert upstream.read(Request("rdma-shared", text)).silent


def test_node_feature_discovery_gives_the_labels_that_pools_imply(rehearsal: Rehearsal, upstream: Upstream):
    texts = list(_texts(rehearsal, "nfd-worker-"))
    assert texts
    for text in texts:
        answer = upstream.read(Request("nfd-worker", text))
        assert answer.silent, answer
        said = yaml.safe_load(text)["sources"]
        assert answer.config["labels"] == {
            key: value for rule in said.get("custom", ()) for key, value in rule["labels"].items()
        }
        assert answer.config["file"]["sources"]["pci"] == {**answer.config["file"]["sources"]["pci"], **said["pci"]}


def test_a_label_that_the_master_would_drop_is_noticed(upstream: Upstream):
    def read(**sources: Any) -> Any:
        return upstream.read(Request("nfd-worker", json.dumps({"sources": sources})))

    rule = {"name": "gangline", "labels": {"node-role.kubernetes.io/gpu": "true"}}
    assert "not allowed" in read(custom=[rule]).error
    assert read(custom=[{**rule, "labels": {}, "label": {"nvidia.com/x": "y"}}]).ignored
    assert read(pci={"deviceClassWhitelists": ["02"]}).ignored
