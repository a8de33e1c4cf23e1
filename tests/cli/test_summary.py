"""What a person reads after `up`, and before it."""

from pathlib import Path

import pytest
from lightkube.models.core_v1 import Node, NodeStatus
from lightkube.models.meta_v1 import ObjectMeta

from cli import describing, summary
from cli.output import console
from model import document
from model.environment import Environment
from model.nodes import POOL_LABEL

STACKS = Path(__file__).resolve().parents[2] / "stacks"


def _load(name: str) -> Environment:
    return document.read(STACKS / f"Pulumi.{name}.yaml").load()


def _printed(what: object) -> str:
    with console.capture() as captured:
        console.print(what)
    return captured.get()


def test_each_resource_of_a_pool_has_its_own_amount() -> None:
    """Slices and instances are no GPUs: their sum under such a head would be a wrong number."""
    offers = {"nvidia.com/mig-1g.10gb": "32", "nvidia.com/mig-3g.40gb": "8"}
    small = [
        Node(
            metadata=ObjectMeta(name=f"small-{index}", labels={POOL_LABEL: "small"}),
            status=NodeStatus(allocatable=offers),
        )
        for index in range(2)
    ]
    shown = _printed(summary._pools(_load("sharing"), small))
    assert "64 nvidia.com/mig-1g.10gb, 16 nvidia.com/mig-3g.40gb" in shown
    assert " 0 nvidia.com/gpu.shared" in _printed(summary._pools(_load("sharing"), []))


@pytest.mark.parametrize(
    ("stack", "document_of", "command"),
    [
        ("twin", "twin", "./gangline destroy"),
        ("other", "twin", "./gangline destroy other"),
        ("sharing", "sharing", "./gangline destroy sharing --twin"),
    ],
)
def test_the_last_line_takes_down_what_came_up(stack: str, document_of: str, command: str) -> None:
    last = _printed(summary._next_steps(stack, _load(document_of), of_twin=True)).rstrip().splitlines()[-1]
    assert last.partition("  ")[0] == command


def test_a_document_in_a_few_lines_tells_how_gpus_are_shared() -> None:
    shown = _printed(describing.table(_load("sharing")))
    assert "2 × dgx-a100, time-slicing-4, taint" in shown
    assert "2 × dgx-h100, mig-4x1g-10gb-1x3g-40gb" in shown
    assert "2 × dgx-h100, infiniband, taint" in shown
