"""What the guides to the document show is what a person gets."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from model import document
from model.problems import render

GUIDES = Path(__file__).parents[2] / "docs" / "guides"


def _blocks(guide: str) -> list[tuple[str, str]]:
    """The parts of documents that a guide shows, each with the answer that stands under it."""
    text = (GUIDES / guide).read_text("utf-8")
    return re.findall(r"```yaml\n(.*?)```\n(?:\n```\n(.*?)\n```)?", text, re.DOTALL)


BLOCKS, SHARING = _blocks("document.md"), _blocks("sharing.md")
REST: dict[str, Any] = {
    "cluster": {"name": "guide", "provider": "existing", "kubernetes": "1.35", "context": "guide"},
    "pools": {"train": {"server": "dgx-h100", "size": 1}},
}


@pytest.mark.parametrize(("part", "answer"), BLOCKS + SHARING)
def test_each_part_is_answered_as_the_guide_says(part: str, answer: str):
    verdict = document.judge({**REST, **yaml.safe_load(part)})
    assert render(verdict.problems) == answer


def test_shared_gpus_are_as_many_as_the_guide_says():
    from model import nodes

    shared = next(yaml.safe_load(part) for part, _ in BLOCKS if "timeSlicing" in part)
    env = document.load({**REST, **shared})
    assert dict(nodes.gpu_resources(env.pools["serve"])) == {"nvidia.com/gpu.shared": 32}


@pytest.mark.parametrize(
    ("pool", "offered"),
    [
        ("notebooks", {"nvidia.com/gpu.shared": 32}),
        ("serve", {"nvidia.com/gpu.shared": 64}),
        ("small", {"nvidia.com/mig-1g.10gb": 16, "nvidia.com/mig-2g.20gb": 8, "nvidia.com/mig-3g.40gb": 8}),
        ("lab", {"nvidia.com/mig-1g.10gb.shared": 112}),
    ],
)
def test_nodes_offer_what_the_guide_to_sharing_says(pool: str, offered: dict[str, int]):
    from model import nodes

    parts = [yaml.safe_load(part) for part, answer in SHARING if not answer]
    env = document.load({**REST, **next(part for part in parts if pool in part["pools"])})
    assert dict(nodes.gpu_resources(env.pools[pool])) == offered


def test_a_rack_holds_what_the_guide_says():
    ray = next(yaml.safe_load(part) for part, _ in BLOCKS if "ray:" in part)
    ray["ray"]["clusters"]["tuning"]["workers"]["count"] = 17
    assert "a rack of pool train holds 16" in render(document.judge({**REST, **ray}).problems)
