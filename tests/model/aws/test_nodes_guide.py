"""The guide to nodes on AWS says what is so."""

import re
from pathlib import Path

import pytest
import yaml

from model import document
from model.aws import node_pools, registry, wildcards

GUIDE = (Path(__file__).resolve().parents[3] / "docs" / "guides" / "aws-nodes.md").read_text()
BLOCKS = re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS)
def test_every_document_is_sound(block: str) -> None:
    assert not document.judge(yaml.safe_load(block)).errors


def test_the_pool_that_scales_to_zero_is_as_told() -> None:
    env = document.load(yaml.safe_load(BLOCKS[0]))
    assert node_pools.overlays(env)["serve"]["capacity"] == {"nvidia.com/gpu.shared": "32"}
    assert node_pools.node_pool(env, "serve")["disruption"]["consolidateAfter"] == "5m"


def test_names_of_cached_images_are_as_told() -> None:
    quay, kubernetes, hub = registry.rules(document.load(yaml.safe_load(BLOCKS[-1])))
    assert quay.prefix == "atlas/quay"
    longest = registry.LONGEST - 1 - max(len(each.upstream.short) for each in (quay, kubernetes, hub))
    assert f"at most {longest} characters" in GUIDE
    assert wildcards.__name__.replace(".", "/") + ".py" in GUIDE
