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
from tests.model.documents import drop, put
from tests.model.storage import documents as contracts

LARGEST = f"{contracts.AT}.largest"
SPOT = "pools.train.capacity"
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


def test_the_contract_about_checkpoints_says_what_happens_when() -> None:
    rows = dict(describing.checkpoints(contracts.environment(put(SPOT, {"kind": "spot"}))))
    assert rows == {
        "checkpoints": "to scratch in 30s every 15m, on to shared in 4m 16s, to the archive in 10m; 5 are kept",
        "a restore": "from shared in 4m 16s, from the archive in 10m",
        "a process dies": "at worst 15m 30s of work are lost",
        "a node is lost": "at worst 19m 46s of work are lost",
        "a spot notice": "2m are too short to save: at worst 19m 46s of work are lost",
    }
    assert "2m are too short to save" in _printed(describing.table(contracts.environment(put(SPOT, {"kind": "spot"}))))


def test_a_notice_that_is_long_enough_costs_nothing() -> None:
    rows = dict(
        describing.checkpoints(contracts.environment(put(SPOT, {"kind": "spot"}), put(f"{LARGEST}.size", "500G")))
    )
    assert rows["a spot notice"] == "2m are enough to save: nothing is lost"


def test_what_cannot_be_computed_is_not_made_up() -> None:
    rows = dict(describing.checkpoints(contracts.environment(drop(LARGEST))))
    assert rows["checkpoints"] == "to scratch every 15m, on to shared, to the archive; 5 are kept"
    assert rows["a node is lost"].startswith("how much work is lost cannot be computed")
    assert describing.checkpoints(_load("twin")) == []
