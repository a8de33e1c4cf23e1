"""The examples of workloads are whole documents, and their gangs are what they say."""

from pathlib import Path

import pytest

from model import document, gangs
from model.workloads import every
from twin.rehearsal import rehearse

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"


@pytest.mark.parametrize(
    ("example", "made", "pods", "gpus", "nodes"),
    [
        ("04-training", "platform-training-llm-training-job", 8, 64, 8),
        # The head has room beside a worker.
        ("05-ray", "platform-ray-llm-train-cluster-cluster", 5, 32, 4),
    ],
)
def test_an_example_is_made_as_it_says(example: str, made: str, pods: int, gpus: int, nodes: int) -> None:
    environment = document.read(EXAMPLES / f"{example}.yaml").load()
    (it,) = every(environment)
    gang = gangs.gang(environment, it.at)
    assert gang.pods == pods
    assert gang.requests["nvidia.com/gpu"] == gpus
    assert gangs.nodes_of(environment, it.at) == nodes
    assert rehearse(environment, stack="twin").named(made).inputs["metadata"]["name"] == it.name
