"""A small cluster: eight nodes of eight GPUs in two racks, a tree of queues, and gangs to put there."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from model.waiting import reasons
from model.waiting.seen import Domain, Group, Node, Pod, Queue, Seen, Shape, Workload

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
GPU = "nvidia.com/gpu"
LEVELS = {1: "rack", 2: "spine"}


def amounts(**found: int) -> Mapping[str, Decimal]:
    return {GPU if name == "gpu" else name: Decimal(amount) for name, amount in found.items()}


def node(number: int, **other: Any) -> Node:
    whole = amounts(gpu=8, cpu=64, pods=110)
    return Node(f"n{number}", "train", {"pool": "train"}, whole, **other)


def gang(name: str = "train", pods: int = 2, queue: str = "research.llm", gpu: int = 8, **other: Any) -> Group:
    shape = Shape(pods, amounts(gpu=gpu, cpu=8), other.pop("selector", {}), other.pop("tolerated", frozenset()))
    asks = amounts(gpu=gpu * pods, cpu=8 * pods)
    created = NOW - timedelta(minutes=other.pop("minutes", 5))
    whole: dict[str, Any] = {"name": f"{name}-1", "shapes": (shape,), "created": created, **other}
    return Group(Workload("Job", "research", name), queue, whole.pop("phase", "Inqueue"), pods, asks, **whole)


def running(group: Group, *nodes: int) -> tuple[Group, list[Pod]]:
    """A gang with its pods on some nodes."""
    asks = group.shapes[0].asks
    pods = [
        Pod(group.workload.namespace, f"{group.workload.name}-{index}", group.name, f"n{number}", asks)
        for index, number in enumerate(nodes)
    ]
    return replace(group, phase="Running"), pods


QUEUES = {
    "root": Queue("root", "", "Open"),
    "research": Queue("research", "root", "Open", deserved=amounts(gpu=24), capability=amounts(gpu=48)),
    "research.llm": Queue("research.llm", "research", "Open", deserved=amounts(gpu=16)),
    "research.vision": Queue("research.vision", "research", "Open", deserved=amounts(gpu=8)),
    "production": Queue("production", "root", "Open", deserved=amounts(gpu=8), capability=amounts(gpu=64)),
}
RACKS = tuple(Domain(f"r{rack}", 1, frozenset(f"n{rack * 4 + number}" for number in range(4))) for rack in range(2))
SPINE = Domain("s0", 2, frozenset(f"n{number}" for number in range(8)))


def cluster(group: Group, *others: tuple[Group, list[Pod]] | Group, **changes: Any) -> Seen:
    """Eight nodes in two racks of four."""
    groups, pods = [group], list(changes.pop("pods", ()))
    for other in others:
        if isinstance(other, Group):
            groups.append(other)
        else:
            groups.append(other[0])
            pods += other[1]
    found = Seen(NOW, tuple(node(number) for number in range(8)), QUEUES, tuple(groups), tuple(pods), (*RACKS, SPINE))
    return replace(found, **changes)


def said(seen: Seen, **how: Any) -> list[tuple[str, str]]:
    answer = reasons.explain(seen, seen.groups[0], LEVELS, **how)
    return [(reason.kind, reason.says) for reason in answer.reasons]


def kinds(seen: Seen, **how: Any) -> list[str]:
    return [kind for kind, _ in said(seen, **how)]
