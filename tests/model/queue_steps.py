"""The documents that are brought up, one after the other, on the way from one tree of queues to another."""

from collections.abc import Callable, Mapping
from typing import Any

from model import queue_changes, queues
from model.environment import Environment

KINDS = (*queue_changes.SUMMED, queue_changes.CAPABILITY)
Tree = dict[str, Any]
"""What a document says at `queues`."""


def steps(old: Environment, new: Environment, load: Callable[[Tree], Environment]) -> list[Environment]:
    """What the errors about a change say to bring up first, and the goal.

    Args:
        old: What is there.
        new: The goal.
        load: Gives the environment with a tree, which must be sound.
    """
    if untold := queue_changes.untold(old, new):
        named = ((part, name) for resources in untold.values() for name, parts in resources.items() for part in parts)
        between = load(tree_with(old, {(part, kind, name): None for part, name in named for kind in KINDS[:2]}))
        return [*steps(old, between, load), *steps(between, new, load)]
    found: list[Environment] = []
    while first := queue_changes.first_step(old, new):
        old = load(tree_with(new, {key: held.amount for key, held in first.items()}))
        found.append(old)
        assert len(found) < queues.DEPTH, "it does not come to an end"
    return [*found, new]


def tree_with(env: Environment, changes: Mapping[queue_changes.Key, Any]) -> Tree:
    """The tree of a document in which some amounts are others, or none."""
    amounts: dict[queue_changes.Key, Any] = {**queue_changes.amounts(env), **changes}

    def below(parent: str) -> Tree:
        found: Tree = {}
        for node in queues.flatten(env):
            if node.parent == parent:
                own: Tree = {kind: {} for kind in KINDS}
                for (path, kind, resource), amount in amounts.items():
                    if path == node.path and amount is not None:
                        own[kind][resource] = str(amount)
                found[node.keys[-1]] = {**own, "queues": below(node.path)}
        return found

    return below(queues.ROOT)
