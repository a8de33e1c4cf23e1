"""Trees of queues, sound and not, as a person might write them."""

import copy
import random
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from model.quantities import Quantity, written

KINDS = ("guarantee", "deserved", "capability")
RESOURCES = ("gpu", "cpu", "memory")
_AMOUNTS: dict[str, list[Any]] = {
    "gpu": [0, 1, 8, 16, 64],
    "cpu": [0, "500m", 4, 96, 1000],
    "memory": ["0", "1Gi", "1G", "512Gi", "2Ti"],
}
_ODD: list[tuple[str, Any]] = [
    ("gpu", "1500m"),
    ("gpus", 4),
    ("mem", "1Gi"),
    ("nvidia.com/gpu.shared", 8),
    ("pods", 4),
    ("cpu", 0),
]


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
                found[kind][resource] = _AMOUNTS[resource][_sound(kind, resource, index)]
    if careful:
        _mend(chance, found, parts)
    if chance.random() < 0.06:
        resource, amount = chance.choice(_ODD)
        found[chance.choice(KINDS)][resource] = amount
    if chance.random() < 0.1:
        found["priority"] = chance.choice([0, 1, 1000])
    return {**{key: value for key, value in found.items() if value}, **({"queues": parts} if parts else {})}


def _sound(kind: str, resource: str, index: int) -> int:
    """No cores and no memory are no capability, which is an odd thing to write."""
    return max(index, 1) if kind == "capability" and resource != "gpu" else index


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


def change(seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A tree, and what somebody might make of it: other amounts, parts that change places, come and go.

    Nearly all of both are sound.
    """
    chance = random.Random(f"change {seed}")
    before = _queue(chance, chance.choice([2, 2, 3, 3, 4]), careful=True)
    _change(chance, before)
    after = copy.deepcopy(before)
    _change(chance, after)
    return before, after


def _change(chance: random.Random, queue: dict[str, Any]) -> None:
    parts: dict[str, Any] = queue.get("queues", {})
    if not parts:
        _amount_otherwise(chance, queue)
        return
    if chance.random() < 0.2:
        del parts[chance.choice(sorted(parts))]
    if chance.random() < 0.2:
        parts[chance.choice("abcd")] = _queue(chance, 1, careful=True)
    if len(parts) > 1 and chance.random() < 0.4:
        one, other = chance.sample(sorted(parts), 2)
        parts[one], parts[other] = parts[other], parts[one]
    for part in parts.values():
        _change(chance, part)
    _fit(chance, queue, parts)


def _amount_otherwise(chance: random.Random, queue: dict[str, Any]) -> None:
    """Give a leaf other amounts of what it names, in order by kind."""
    for kind in KINDS:
        queue[kind] = {name: amount for name, amount in queue.get(kind, {}).items() if name in RESOURCES}
    for resource, amount in queue["guarantee"].items():
        queue["deserved"].setdefault(resource, amount)
    for resource in RESOURCES:
        named = [kind for kind in KINDS if resource in queue.get(kind, {})]
        amounts = sorted(chance.choice(range(len(_AMOUNTS[resource]))) for _ in named)
        if chance.random() < 0.6 or len(named) > 1:
            for kind, index in zip(named, amounts, strict=True):
                queue[kind][resource] = _AMOUNTS[resource][_sound(kind, resource, index)]


def _fit(chance: random.Random, queue: dict[str, Any], parts: dict[str, Any]) -> None:
    """Give a whole what its parts have now, with some room or without."""
    room = chance.choice([0, 0, 0, 2**20])
    for kind in ("guarantee", "deserved"):
        queue[kind] = {}
        for resource in RESOURCES:
            have = [part[kind][resource] for part in parts.values() if resource in part.get(kind, {})]
            if have:
                total = sum(
                    (Quantity.parse(amount).value for amount in have), Decimal(room if kind == "deserved" else 0)
                )
                queue[kind][resource] = written(resource, total)
    queue["capability"] = chance.choice([{}, {}, {"gpu": 2**22}, {"gpu": 2**23}])


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
