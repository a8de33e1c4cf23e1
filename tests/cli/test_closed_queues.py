"""Queues that somebody closed: what may not start in them is told before the engine begins."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest

from cli import closed_queues, clusters, seeing
from cli.refusals import RefusedError
from model.waiting.seen import Workload
from tests.model.documents import Change, environment, put

TUNING, ANSWERS = Workload("RayCluster", "research", "tuning"), Workload("RayCluster", "production", "answers")
OPEN = dict.fromkeys(("root", "default", "research", "research.llm", "research.vision", "production"), "Open")


def queue(name: str, state: str | None, **annotations: str) -> dict[str, Any]:
    status = {"state": state} if state else {}
    return {"metadata": {"name": name, "annotations": annotations}, "spec": {}, "status": status}


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The queues of a cluster, to be filled."""
    found: list[dict[str, Any]] = []
    monkeypatch.setattr(seeing, "objects", lambda *_: found)
    return found


CASES: list[tuple[str, dict[str, str | None], dict[Workload, str], list[str]]] = [
    ("all open", {}, {TUNING: "research.llm", ANSWERS: "production"}, []),
    ("closed", {"research.llm": "Closed"}, {TUNING: "research.llm"}, ["research.llm is Closed: Ray cluster"]),
    ("closing", {"research.llm": "Closing"}, {TUNING: "research.llm"}, ["research.llm is Closing: Ray cluster"]),
    (
        "the one above",
        {"research": "Closed", "research.llm": "Closed"},
        {TUNING: "research.llm"},
        ["research is Closed"],
    ),
    ("only the one above", {"research": "Closing"}, {TUNING: "research.llm"}, ["research is Closing"]),
    ("another", {"research.vision": "Closed"}, {TUNING: "research.llm"}, []),
    ("another at the top", {"production": "Closed"}, {TUNING: "research.llm"}, []),
    ("default", {"default": "Closed"}, {TUNING: "default"}, ["default is Closed"]),
    ("not known yet", {"research.llm": None}, {TUNING: "research.llm"}, []),
    ("not there yet", {"research.llm": "Closed"}, {TUNING: "research.new"}, []),
    ("new below a closed one", {"research": "Closed"}, {TUNING: "research.new"}, ["research is Closed"]),
    ("unknown", {"research.llm": "Unknown"}, {TUNING: "research.llm"}, []),
    (
        "two",
        {"research.llm": "Closed", "production": "Closed"},
        {TUNING: "research.llm", ANSWERS: "production"},
        ["production is Closed: Ray cluster production/answers", "research.llm is Closed: Ray cluster research/tuning"],
    ),
    (
        "a job",
        {"research.llm": "Closed"},
        {Workload("Job", "research", "train"): "research.llm"},
        ["job research/train"],
    ),
    ("nothing new", {"research.llm": "Closed"}, {}, []),
]


@pytest.mark.parametrize(("states", "new", "says"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_is_closed_is_told_with_what_would_start_there(
    cluster: list[dict[str, Any]], states: dict[str, str | None], new: dict[Workload, str], says: list[str]
) -> None:
    cluster += [queue(name, state) for name, state in {**OPEN, **states}.items()]
    client: Any = None
    with pytest.raises(RefusedError) if says else nullcontext() as refused:
        closed_queues.refuse_closed(client, new)
    if refused is not None:
        told = str(refused.value)
        assert [each for each in says if each not in told] == []
        assert told.count("fix: vcctl queue operate --name") == len(says)


def test_what_a_run_of_ours_closed_opens_again(cluster: list[dict[str, Any]]) -> None:
    cluster.append(queue("research.llm", "Closed", **{"gangline.dev/removal": "agreed"}))
    client: Any = None
    closed_queues.refuse_closed(client, {TUNING: "research.llm"})


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
    cluster: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    there: tuple[Workload, ...],
    changes: list[Change],
    refused: bool,
) -> None:
    @contextmanager
    def connected(*_: object, **__: object) -> Iterator[object]:
        yield object()

    monkeypatch.setattr(clusters, "of_environment", connected)
    cluster += [queue("research", "Open"), queue("research.llm", "Closed"), queue("production", "Open")]
    place: Any = type("Place", (), {"stack": "lab", "engine": None, "of_twin": False})
    with pytest.raises(RefusedError) if refused else nullcontext():
        closed_queues.look_ahead(place, environment(*changes), state(*there), refuse=True)
    closed_queues.look_ahead(place, environment(*changes), state(*there), refuse=False)
    assert ("would be refused: up: queues are closed" in capsys.readouterr().out) is refused


def test_a_cluster_that_is_not_made_yet_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "of_environment", lambda *_, **__: nullcontext(None))
    place: Any = type("Place", (), {"stack": "lab", "engine": None, "of_twin": False})
    closed_queues.look_ahead(place, environment(), "{}", refuse=True)
