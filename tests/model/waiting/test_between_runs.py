"""Jobs whose last run was ended: what they wait for, and who must do something."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from model.waiting import reasons
from model.waiting.seen import Group, Pod
from tests.model.waiting.small_cluster import LEVELS, NOW, QUEUES, amounts, cluster, gang, kinds, node, running, said

RESUME = "vcctl job resume --namespace research --name train"


def stopped(phase: str = "Restarting", minutes: int = 5, **other: Any) -> Group:
    """A job without a PodGroup, some minutes after it came into a phase."""
    changed = NOW - timedelta(minutes=minutes)
    return replace(gang(phase=phase, **other), name="", former="train-1", changed=changed)


def pods(*nodes: int | None, group: str = "train-1", namespace: str = "research") -> list[Pod]:
    asks = amounts(gpu=8, cpu=8)
    return [
        Pod(namespace, f"train-worker-{index}", group, None if number is None else f"n{number}", asks)
        for index, number in enumerate(nodes)
    ]


GONE = "Volcano left it in Restarting 5 min ago: the pods of its last run are gone and so is its PodGroup"
NEXT = "it is Restarting: the pods of its last run are gone, and its next PodGroup comes"
SUSPENDED = "it is suspended (Aborted)"
CASES: list[tuple[str, Group, list[Pod], str, str | None]] = [
    ("stuck", stopped(), [], GONE, RESUME),
    ("stuck while others run", stopped(), running(gang("other"), 0, 1)[1], GONE, RESUME),
    ("pods of a later job of its name", stopped(), pods(0, group="train-2"), GONE, RESUME),
    ("pods of its name elsewhere", stopped(), pods(0, namespace="other"), GONE, RESUME),
    ("just ended", stopped(minutes=0), [], NEXT, None),
    ("one pod left", stopped(), pods(0), "it is Restarting: 1 pod of its last run must end first", None),
    ("pods left", stopped(minutes=0), pods(0, 1), "it is Restarting: 2 pods of its last run must end first", None),
    ("a pod that never had a node", stopped(), pods(None), "it is Restarting: 1 pod of its last run must end", None),
    (
        "a pod on a dead node",
        stopped(),
        pods(0, 7),
        "it is Restarting: 2 pods of its last run must end first",
        "where its node never comes back: kubectl -n research delete pod train-worker-1 --force",
    ),
    (
        "a pod on a node that is gone",
        stopped(),
        pods(9),
        "it is Restarting: 1 pod of its last run must end first",
        "where its node never comes back: kubectl -n research delete pod train-worker-0 --force",
    ),
    ("suspended", stopped("Aborted"), [], SUSPENDED, RESUME),
    ("suspended, as pods end", stopped("Aborted"), pods(0), SUSPENDED, RESUME),
    ("being suspended", stopped("Aborting"), pods(0), "it is Aborting: 1 pod of its last run must end first", None),
    ("being completed", stopped("Completing"), [], "it is Completing: its pods are gone", None),
    ("being ended", stopped("Terminating"), pods(0, 1), "it is Terminating: 2 pods", None),
]


@pytest.mark.parametrize(
    ("group", "left", "says", "fix"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_a_job_between_two_runs(group: Group, left: list[Pod], says: str, fix: str | None) -> None:
    nodes = tuple(node(number, away="not ready" if number == 7 else None) for number in range(8))
    answer = reasons.explain(cluster(group, pods=left, nodes=nodes), group, LEVELS)
    (reason,) = answer.reasons
    assert (answer.verdict, reason.kind, reason.fix) == ("waits", "stopped", fix)
    assert reason.says.startswith(says)


def test_the_pods_that_are_left_are_listed_with_what_is_wrong_with_their_nodes() -> None:
    nodes = (node(0), node(1, away="not ready"))
    group = stopped()
    (reason,) = reasons.explain(cluster(group, pods=pods(0, 1, 2, None), nodes=nodes), group, LEVELS).reasons
    assert reason.details == (
        "train-worker-0 on n0",
        "train-worker-1 on n1, which is not ready",
        "train-worker-2 on n2, which is gone",
        "train-worker-3",
    )
    many = stopped()
    (reason,) = reasons.explain(cluster(many, pods=pods(*range(8), 0, 1)), many, LEVELS).reasons
    assert reason.details[-1] == "and 2 more"


@pytest.mark.parametrize("phase", ["Pending", "Running"])
def test_a_job_that_waits_for_its_first_run_is_none_of_these(phase: str) -> None:
    assert "stopped" not in kinds(cluster(stopped(phase)))


def test_a_job_that_has_its_podgroup_is_none_of_these() -> None:
    assert "stopped" not in kinds(cluster(gang(phase="Restarting")))


def test_a_closed_queue_comes_first() -> None:
    queues = {**QUEUES, "research.llm": replace(QUEUES["research.llm"], state="Closed")}
    assert [kind for kind, _ in said(cluster(stopped(), queues=queues))] == ["closed", "stopped"]
