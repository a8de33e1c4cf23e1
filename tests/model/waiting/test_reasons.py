"""Why a workload waits: a small cluster, one thing that stands in the way, and what is said of it."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from model.waiting import reasons, words
from model.waiting.seen import Group, Pod, Queue, Quota
from tests.model.waiting.small_cluster import (
    GPU,
    LEVELS,
    NOW,
    QUEUES,
    amounts,
    cluster,
    gang,
    kinds,
    node,
    running,
    said,
)


def test_what_runs_says_where() -> None:
    group, pods = running(gang(pods=3), 0, 1, 4)
    answer = reasons.explain(cluster(group, pods=pods), group, LEVELS)
    assert (answer.verdict, answer.reasons[0].says) == (
        "runs",
        "3 pods on 3 nodes, in 2 racks (r0, r1), in 1 spine (s0)",
    )


def test_what_is_over_does_not_wait() -> None:
    group = gang(phase="Completed")
    assert reasons.explain(cluster(group), group, LEVELS).verdict == "is over"


def test_with_room_and_nobody_before_it_it_is_next() -> None:
    assert kinds(cluster(gang(minutes=0))) == ["next"]
    kind, says = said(cluster(gang(minutes=5)))[0]
    assert (kind, "5 min" in says) == ("next", True)


QUEUE_CASES: list[tuple[Group, dict[str, Any], str, str]] = [
    (gang(queue="nope"), {}, "missing", "queue nope is not there"),
    (gang(queue="research"), {}, "closed", "queue research has parts"),
    (
        gang(),
        {"queues": {**QUEUES, "research.llm": replace(QUEUES["research.llm"], state="Closed")}},
        "closed",
        "queue research.llm is Closed: nothing new starts in it",
    ),
    (
        gang(),
        {"queues": {**QUEUES, "research": replace(QUEUES["research"], state="Closing")}},
        "closed",
        "queue research is Closing, and so is its part research.llm: nothing new starts in it",
    ),
    (
        gang(),
        {"queues": {**QUEUES, "research.llm": replace(QUEUES["research.llm"], state="")}},
        "closed",
        "queue research.llm is not open yet",
    ),
    (
        gang(pods=7),
        {},
        "never",
        "the gang is larger than queue research: it asks for 56 nvidia.com/gpu, the queue may never use more than 48",
    ),
    (
        gang(),
        {"queues": {**QUEUES, "research.llm": replace(QUEUES["research.llm"], capability=amounts(gpu=0))}},
        "never",
        "it asks for 16 nvidia.com/gpu, the queue may use none of it",
    ),
    (
        gang(pods=4),
        {"queues": {**QUEUES, "research.vision": replace(QUEUES["research.vision"], guarantee=amounts(gpu=24))}},
        "never",
        "may never use more than 24 nvidia.com/gpu, the rest of the queue above being guaranteed to others",
    ),
]


@pytest.mark.parametrize(("group", "changes", "kind", "says"), QUEUE_CASES)
def test_queues_that_take_nothing_or_are_too_small(group: Group, changes: dict[str, Any], kind: str, says: str) -> None:
    seen = cluster(group, **changes)
    first, told = said(seen)[0]
    assert (first, says in told) == (kind, True), told


def test_none_of_cores_or_memory_is_no_limit() -> None:
    """Volcano takes a capability of 0 of them for one that is not there."""
    queues = {**QUEUES, "research.llm": replace(QUEUES["research.llm"], capability=amounts(cpu=0, memory=0))}
    assert said(cluster(gang(), queues=queues)) == said(cluster(gang()))
    above = {**queues, "research": replace(QUEUES["research"], capability=amounts(cpu=1))}
    assert said(cluster(gang(), queues=above))[0][1].startswith("the gang is larger than queue research: it asks for")


def test_a_full_queue_lists_who_holds_it_the_largest_first() -> None:
    small, large = running(gang("small", 1), 0), running(gang("large", 3, "research.vision"), 1, 2, 3)
    seen = cluster(gang(pods=3), small, large)
    answer = reasons.explain(seen, seen.groups[0], LEVELS)
    reason = next(reason for reason in answer.reasons if reason.kind == "queue")
    assert reason.says == (
        "queue research is full: it may use 48 nvidia.com/gpu, 32 nvidia.com/gpu are in use, and this asks for 24 "
        "nvidia.com/gpu"
    )
    assert [line.partition("  ")[0] for line in reason.details] == ["job research/large", "job research/small"]


@pytest.mark.parametrize("over", [True, False])
def test_work_in_a_queue_with_parts_stops_everybody(over: bool) -> None:
    """The capacity plugin gives up at the first, also where it is over (buildHierarchicalQueueAttrs)."""
    there = gang("there", 1, "research")
    seen = cluster(gang(), over=(replace(there, phase="Completed"),)) if over else cluster(gang(), there)
    reason = reasons.explain(seen, seen.groups[0], LEVELS).reasons[0]
    assert "places nothing in the whole cluster" in reason.says
    assert reason.details == ("job research/there in research, PodGroup there-1",)
    assert kinds(cluster(gang())) == ["next"]


def test_work_that_waits_takes_nothing_of_a_queue() -> None:
    """Every job is let into its queue; what is in use counts when nodes are given."""
    let_in = gang("let-in", 4, "research.vision")
    assert "queue" not in kinds(cluster(gang(pods=3), let_in))
    assert "queue" in kinds(cluster(gang(pods=3), running(let_in, *range(4))))


NODE_CASES: list[tuple[Group, dict[str, Any], str, str]] = [
    (
        gang(pods=5, queue="other"),
        {"nodes": tuple(node(number) for number in range(4))},
        "never",
        "hold 4 of its 5 pods",
    ),
    (
        gang(gpu=16),
        {},
        "never",
        "its pods are larger than any node that suits them: the largest offers 8 nvidia.com/gpu",
    ),
    (gang(selector={"pool": "serve"}), {}, "never", "no node with pool=serve has only taints that its pods tolerate"),
    (
        gang(),
        {"nodes": (node(0, taints={GPU: "true"}), node(1, taints={GPU: "true"}))},
        "never",
        "no node has only taints that its pods tolerate",
    ),
    (
        gang(pods=5, tier=1),
        {},
        "never",
        "it must stay within one rack, and none is large enough: even empty, the largest holds 4 of its 5 pods",
    ),
    (gang(tier=1), {"domains": ()}, "never", "it must stay within one rack, and the scheduler knows none"),
    (
        gang(pods=2),
        {"nodes": (node(0), node(1, away="not ready"), node(2, away="cordoned"))},
        "nodes",
        "with all nodes there would be room, but 2 of 3 take no pods: 1 not ready, 1 cordoned",
    ),
]


@pytest.mark.parametrize(("group", "changes", "kind", "says"), NODE_CASES)
def test_nodes_that_do_not_hold_it(group: Group, changes: dict[str, Any], kind: str, says: str) -> None:
    queues = {**QUEUES, "other": Queue("other", "root", "Open")}
    first, told = said(cluster(group, **{"queues": queues, **changes}))[0]
    assert (first, says in told) == (kind, True), told


def test_tolerated_taints_and_labels_are_no_hindrance() -> None:
    tainted = tuple(node(number, taints={GPU: "true"}) for number in range(2))
    for tolerated in (("", None), (GPU, None), (GPU, "true")):
        group = gang(tolerated=frozenset({tolerated}), selector={"pool": "train"}, minutes=0)
        assert kinds(cluster(group, nodes=tainted)) == ["next"]
    assert kinds(cluster(gang(tolerated=frozenset({(GPU, "false")})), nodes=tainted)) == ["never"]


def test_a_hard_gang_fits_a_wider_tier() -> None:
    assert kinds(cluster(gang(pods=5, tier=2, minutes=0))) == ["next"]


def test_room_that_is_not_in_one_domain() -> None:
    here, there = running(gang("here", 2), 0, 1), running(gang("there", 2, "production"), 4, 5)
    found = dict(said(cluster(gang(pods=3, tier=1, queue="production"), here, there)))
    assert found["domain"] == (
        "there is room for it, but not within one rack: the one with most, r0, has room for 2 of its 3 pods"
    )
    assert "domain" not in dict(said(cluster(gang(pods=2, tier=1, queue="production"), here, there)))


def test_scattered_gpus_are_told_from_too_few() -> None:
    halves = running(gang("halves", 8, "production", gpu=4), *range(8))
    found = dict(said(cluster(gang(pods=2), halves)))
    assert (
        "room for 0 of its 2 pods: 32 nvidia.com/gpu are free, as many as it asks for, but scattered" in found["nodes"]
    )
    most = running(gang("most", 7, "production"), *range(7))
    found = dict(said(cluster(gang(pods=2), most)))
    assert "room for 1 of its 2 pods: 8 nvidia.com/gpu are free, and it asks for 16 nvidia.com/gpu" in found["nodes"]


@pytest.mark.parametrize(
    ("mine", "reclaim", "reclaimable", "says"),
    [
        (0, True, True, "has a right to it: it deserves 16 nvidia.com/gpu and has none; the scheduler takes it back"),
        (0, False, True, "production hold more than they deserve, but nothing is taken back"),
        (0, True, False, "but no queue holds more than it deserves that may be taken from it"),
        (1, True, True, "deserves 16 nvidia.com/gpu, has 8 nvidia.com/gpu and would have more than its share"),
    ],
)
def test_whether_its_queue_has_a_right_to_what_others_hold(
    mine: int, reclaim: bool, reclaimable: bool, says: str
) -> None:
    others = running(gang("others", 7, "production"), *range(7))
    own = [running(gang("own", mine), 7)] if mine else []
    queues = {**QUEUES, "production": replace(QUEUES["production"], reclaimable=reclaimable)}
    found = dict(said(cluster(gang(pods=2), others, *own, queues=queues), reclaim=reclaim))
    assert says in found["share"]


def test_quota_of_the_namespace() -> None:
    quota = Quota("research", GPU, Decimal(24), Decimal(16))
    kind, says = said(cluster(gang(pods=2, phase="Inqueue"), quotas=(quota,)))[0]
    assert (kind, says) == (
        "quota",
        (
            "the quota of namespace research is used up: 2 pods that are not there yet need 16 nvidia.com/gpu, 16 "
            "nvidia.com/gpu of 24 are used"
        ),
    )
    small = replace(quota, hard=Decimal(8), used=Decimal(0))
    kind, says = said(cluster(gang(pods=2), quotas=(small,)))[0]
    assert (kind, "smaller than the gang" in says) == ("never", True)
    for harmless in (replace(quota, used=Decimal(8)), replace(quota, namespace="other"), replace(quota, resource="x")):
        assert kinds(cluster(gang(minutes=0), quotas=(harmless,))) == ["next"]


def test_pods_that_are_there_need_no_quota() -> None:
    pods = [Pod("research", f"train-{index}", "train-1", None, amounts(gpu=8, cpu=8)) for index in range(2)]
    quota = Quota("research", GPU, Decimal(24), Decimal(24))
    assert kinds(cluster(gang(minutes=0), pods=pods, quotas=(quota,))) == ["next"]


def test_those_before_it_are_told_in_their_order() -> None:
    full = running(gang("full", 7, "production"), *range(7))
    older, higher = gang("older", 4, minutes=60), gang("higher", 4, minutes=1, priority=100)
    later, elsewhere = gang("later", 4, minutes=1), gang("elsewhere", 4, "research.vision", minutes=60)
    seen = cluster(gang(pods=2), full, later, older, higher, elsewhere)
    reason = next(each for each in reasons.explain(seen, seen.groups[0], LEVELS).reasons if each.kind == "order")
    assert [line.partition("  ")[0] for line in reason.details] == ["job research/higher", "job research/older"]


def test_without_its_scheduler_nothing_is_placed() -> None:
    assert kinds(cluster(gang(), scheduler=False))[0] == "scheduler"


def test_a_gang_without_known_pods_is_judged_by_what_it_asks_for() -> None:
    assert kinds(cluster(replace(gang(pods=7), shapes=()))) == ["never"]
    assert kinds(cluster(replace(gang(minutes=0), shapes=()))) == ["next"]


@pytest.mark.parametrize(
    ("seconds", "told"), [(0, "0 s"), (119, "119 s"), (120, "2 min"), (7199, "119 min"), (7200, "2 h"), (172800, "2 d")]
)
def test_ages(seconds: int, told: str) -> None:
    assert words.since(NOW, NOW - timedelta(seconds=seconds)) == told


def test_where_the_order_is_fair_only_priorities_go_first() -> None:
    older, higher = gang("older", 1, minutes=60), gang("higher", 1, minutes=1, priority=100)
    seen = cluster(gang(pods=2), older, higher)
    for fair, count in ((False, 2), (True, 1)):
        (reason,) = reasons.explain(seen, seen.groups[0], LEVELS, fair=fair).reasons
        assert (reason.kind, len(reason.details)) == ("order", count)


@pytest.mark.parametrize(
    ("preempt", "priority", "says"),
    [
        (True, 100, "work of lower priority in queue research.llm holds 48 nvidia.com/gpu: the scheduler takes"),
        (False, 100, "work of lower priority in queue research.llm holds 48 nvidia.com/gpu, and keeps it"),
        (True, 0, None),
    ],
)
def test_work_of_lower_priority_gives_way(preempt: bool, priority: int, says: str | None) -> None:
    low = running(gang("low", 6), *range(6))
    seen = cluster(gang(pods=3, priority=priority), low)
    found = [says for kind, says in said(seen, preempt=preempt) if "lower priority" in says]
    assert len(found) == (0 if says is None else 1)
    assert all(says and says in each for each in found)
