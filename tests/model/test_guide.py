"""What the guide to the document shows is what a person gets."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from model import document
from model.problems import render

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "document.md").read_text("utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```\n(?:\n```\n(.*?)\n```)?", GUIDE, re.DOTALL)
REST: dict[str, Any] = {
    "cluster": {"name": "guide", "provider": "existing", "kubernetes": "1.35", "context": "guide"},
    "pools": {"train": {"server": "dgx-h100", "size": 1}},
}


@pytest.mark.parametrize(("part", "answer"), BLOCKS)
def test_each_part_is_answered_as_the_guide_says(part: str, answer: str):
    verdict = document.judge({**REST, **yaml.safe_load(part)})
    assert render(verdict.problems) == answer


def test_shared_gpus_are_as_many_as_the_guide_says():
    from model import nodes

    shared = next(yaml.safe_load(part) for part, _ in BLOCKS if "timeSlicing" in part)
    env = document.load({**REST, **shared})
    assert dict(nodes.gpu_resources(env.pools["serve"])) == {"nvidia.com/gpu.shared": 32}


def test_a_rack_holds_what_the_guide_says():
    ray = next(yaml.safe_load(part) for part, _ in BLOCKS if "ray:" in part)
    ray["ray"]["clusters"]["tuning"]["workers"]["count"] = 17
    assert "a rack of pool train holds 16" in render(document.judge({**REST, **ray}).problems)
