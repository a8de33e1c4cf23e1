"""What a cluster has, or lacks, that would stop a run half-way: all of it is told before the engine begins."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest

from cli import clusters, lookout, seeing
from cli.refusals import RefusedError
from model.waiting.seen import Workload
from tests.cli.test_closed_queues import ANSWERS, TUNING, queue
from tests.model.documents import Change, environment, put

PLACE: Any = type("Place", (), {"stack": "lab", "engine": None, "of_twin": False})


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> dict[Any, list[dict[str, Any]]]:
    """The objects of a cluster by kind, to be filled."""
    found: dict[Any, list[dict[str, Any]]] = {}

    @contextmanager
    def connected(*_: object, **__: object) -> Iterator[object]:
        yield object()

    monkeypatch.setattr(clusters, "of_environment", connected)
    monkeypatch.setattr(seeing, "objects", lambda _, kind, **__: found.get(kind, []))
    return found


def state(*workloads: Workload) -> str:
    found = [
        {
            "urn": f"urn::{each.name}",
            "type": "kubernetes:ray.io/v1:RayCluster",
            "outputs": {"metadata": {"namespace": each.namespace, "name": each.name}},
        }
        for each in workloads
    ]
    return json.dumps({"deployment": {"resources": found}})


KUEUE = [
    put("scheduler", {"kind": "kueue"}),
    put("queues.research.queues.vision.priority", 0),
    put("queues.production.reclaimable", True),
]


@pytest.mark.parametrize(
    ("there", "changes", "refused"),
    [
        ((), [], True),
        ((ANSWERS,), [], True),
        ((TUNING,), [], False),  # it is in its queue, and runs on
        ((TUNING, ANSWERS), [], False),
        ((), KUEUE, False),  # its queues close by other means
    ],
)
def test_only_what_is_not_there_yet_would_start(
    cluster: dict[Any, list[dict[str, Any]]],
    capsys: pytest.CaptureFixture[str],
    there: tuple[Workload, ...],
    changes: list[Change],
    refused: bool,
) -> None:
    cluster[seeing.Queue] = [queue("research", "Open"), queue("research.llm", "Closed"), queue("production", "Open")]
    with pytest.raises(RefusedError) if refused else nullcontext():
        lookout.look_ahead(PLACE, environment(*changes), state(*there), refuse=True)
    lookout.look_ahead(PLACE, environment(*changes), state(*there), refuse=False)
    assert ("would be refused: up: queues are closed" in capsys.readouterr().out) is refused


def test_a_cluster_that_is_not_made_yet_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "of_environment", lambda *_, **__: nullcontext(None))
    lookout.look_ahead(PLACE, environment(), "{}", refuse=True)


def test_everything_is_told_at_once(cluster: dict[Any, list[dict[str, Any]]]) -> None:
    born = "2026-01-01T00:00:00Z"
    group = {
        "metadata": {"name": "left", "namespace": "research", "creationTimestamp": born},
        "spec": {"queue": "research"},
    }
    cluster[seeing.Queue] = [queue("research.llm", "Closed")]
    cluster[seeing.PodGroup] = [group]
    cluster[seeing.PriorityClass] = [{"metadata": {"name": "urgent"}, "value": 100}]
    env = environment(put("ray.clusters.tuning.priority", "nope"))
    with pytest.raises(RefusedError) as refused:
        lookout.look_ahead(PLACE, env, "{}", refuse=True)
    told = str(refused.value)
    for words in ("queues are closed", "PodGroup research/left", "no PriorityClass nope", "there are: urgent"):
        assert words in told
    assert told.count("fix: ") == 3


def test_a_priority_that_is_there_is_fine(cluster: dict[Any, list[dict[str, Any]]]) -> None:
    cluster[seeing.PriorityClass] = [{"metadata": {"name": "urgent"}, "value": 100}]
    lookout.look_ahead(PLACE, environment(put("ray.clusters.tuning.priority", "urgent")), "{}", refuse=True)
