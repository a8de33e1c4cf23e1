"""Trees of queues, sound and not, as a person might write them."""

import random
from collections.abc import Iterator
from typing import Any

KINDS = ("guarantee", "deserved", "capability")
RESOURCES = ("gpu", "cpu", "memory")
_AMOUNTS: dict[str, list[Any]] = {
    "gpu": [0, 1, 8, 16, 64],
    "cpu": [0, "500m", 4, 96, 1000],
    "memory": ["0", "1Gi", "1G", "512Gi", "2Ti"],
}
_ODD: list[tuple[str, Any]] = [("gpu", "1500m"), ("gpus", 4), ("mem", "1Gi"), ("nvidia.com/gpu.shared", 8), ("pods", 4)]


def tree(seed: int) -> dict[str, Any]:
    """A queue with its parts. About half of all such trees are sound."""
    chance = random.Random(seed)  # the same trees in every run
    return _queue(chance, chance.choice([1, 2, 3, 3]), careful=chance.random() < 0.85)


def _queue(chance: random.Random, depth: int, *, careful: bool) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    if depth > 1:
        for name in "abc"[: chance.randint(1, 3)]:
            parts[name] = _queue(chance, chance.randint(1, depth - 1), careful=careful)
    found: dict[str, Any] = {kind: {} for kind in KINDS}
    for resource in RESOURCES:
        low, middle, high = sorted(chance.choice(range(len(_AMOUNTS[resource]))) for _ in KINDS)
        for kind, index in zip(KINDS, (low, middle, high), strict=True):
            if chance.random() < 0.5:
                found[kind][resource] = _AMOUNTS[resource][index]
    if careful:
        _mend(chance, found, parts)
    if chance.random() < 0.06:
        resource, amount = chance.choice(_ODD)
        found[chance.choice(KINDS)][resource] = amount
    if chance.random() < 0.1:
        found["priority"] = chance.choice([0, 1, 1000])
    return {**{key: value for key, value in found.items() if value}, **({"queues": parts} if parts else {})}


def _mend(chance: random.Random, found: dict[str, Any], parts: dict[str, Any]) -> None:
    """Give a whole what its parts have, and drop limits that contradict: mostly sound, and not always."""
    for kind in ("guarantee", "deserved"):
        for resource in RESOURCES:
            have = [part[kind][resource] for part in parts.values() if resource in part.get(kind, {})]
            if have and all(isinstance(amount, int) for amount in have):
                found[kind][resource] = sum(have)
    for resource in list(found["guarantee"]):
        found["deserved"].setdefault(resource, found["guarantee"][resource])
    if parts:
        found["capability"] = chance.choice([{}, {}, {"gpu": 0}, {"gpu": 4096}])


def walk(name: str, queue: dict[str, Any], parent: str = "root") -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The queues of a tree by the names of their objects, parents first: name, parent and what was written."""
    yield name, parent, queue
    for part, below in queue.get("queues", {}).items():
        yield from walk(f"{name}.{part}", below, name)


def spec(parent: str, queue: dict[str, Any]) -> dict[str, Any]:
    """The `spec` of a Queue object, made of what was written and nothing else."""
    amounts: dict[str, Any] = {
        kind: {"nvidia.com/gpu" if name == "gpu" else name: str(amount) for name, amount in queue[kind].items()}
        for kind in KINDS
        if kind in queue
    }
    if "guarantee" in amounts:
        amounts["guarantee"] = {"resource": amounts["guarantee"]}
    return {"parent": parent, "weight": 1, "reclaimable": True, **amounts}
