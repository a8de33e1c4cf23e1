"""Queues that somebody closed: what may not start in them is told before the engine begins."""

from contextlib import nullcontext
from typing import Any

import pytest

from cli import closed_queues, seeing
from cli.refusals import RefusedError
from model.waiting.seen import Workload

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
