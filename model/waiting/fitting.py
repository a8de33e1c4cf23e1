"""Which pods of a gang there is room for."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from model.gangs import holds

from .seen import Amounts, Group, Node, Seen, Shape, total

_ONE_POD = {"pods": Decimal(1)}


def free(seen: Seen, nodes: Iterable[Node]) -> dict[str, Amounts]:
    """What each of some nodes has left."""
    taken: dict[str, list[Amounts]] = {}
    for pod in seen.pods:
        if pod.node:
            taken.setdefault(pod.node, []).append({**pod.asks, **_ONE_POD})
    return {node.name: _less(node.allocatable, total(taken.get(node.name, ()))) for node in nodes}


def empty(nodes: Iterable[Node]) -> dict[str, Amounts]:
    """What each of some nodes would have if nothing ran there."""
    return {node.name: node.allocatable for node in nodes}


def _less(one: Amounts, other: Amounts) -> Amounts:
    return {name: amount - other.get(name, Decimal(0)) for name, amount in one.items()}


def suits(node: Node, shape: Shape) -> bool:
    """Whether such pods may be put on a node, room aside."""
    return all(node.labels.get(label) == value for label, value in shape.selector.items()) and all(
        shape.tolerates(key, value) for key, value in node.taints.items()
    )


def candidates(nodes: Sequence[Node], group: Group) -> list[Node]:
    """The nodes that hold some pod of a gang when they are empty, whether or not they take pods now."""
    return [node for node in nodes if any(suits(node, shape) and _fits(node, shape) for shape in group.shapes)]


def _fits(node: Node, shape: Shape) -> bool:
    return holds(node.allocatable, shape.asks) > 0 if any(shape.asks.values()) else True


def placed(group: Group, nodes: Sequence[Node], rooms: Mapping[str, Amounts]) -> int:
    """How many pods of a gang find room on some nodes: the largest first, each on the fullest nodes that hold it.

    Pods of a gang are mostly alike, and then this is exact.
    """
    left = {node.name: dict(rooms[node.name]) for node in nodes}
    by_room = sorted(nodes, key=lambda node: size(left[node.name]))
    count = 0
    for shape in sorted(group.shapes, key=lambda shape: size(shape.asks), reverse=True):
        wanted = shape.count
        pod = {**shape.asks, **_ONE_POD}
        for node in by_room:
            if not wanted:
                break
            if suits(node, shape):
                room = left[node.name]
                taken = min(wanted, holds({"pods": Decimal(110), **room}, pod))
                left[node.name] = {name: amount - taken * pod.get(name, Decimal(0)) for name, amount in room.items()}
                wanted, count = wanted - taken, count + taken
    return count


def size(amounts: Amounts) -> tuple[Decimal, Decimal, Decimal]:
    """What orders amounts: devices first, then cores, then memory."""
    devices = sum((amount for name, amount in amounts.items() if "/" in name), Decimal(0))
    return devices, amounts.get("cpu", Decimal(0)), amounts.get("memory", Decimal(0))
