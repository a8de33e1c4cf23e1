"""Our rules about queues beside Volcano's real admission webhook, on trees that nobody thought of."""

import random
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import queue_trees
from lightkube import Client
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_global_resource
from lightkube.types import PatchType

from model import document, queue_changes
from model import queues as model_queues
from model import volcano as volcano_model
from model.environment import Environment
from model.problems import Problem, spoken
from tests.model.documents import drop, example, put
from tests.model.queue_steps import steps

Queue = create_global_resource("scheduling.volcano.sh", "v1beta1", "Queue", "queues")
TREES = 150
CHANGES = 100
LAG = 0.5
"""Seconds until the webhook, which looks at a cache, knows what was made last."""

STRICTER: dict[str, tuple[str, dict[str, Any]]] = {
    "is no resource": ("any name is legal upstream, and limits nothing", {"capability": {"mem": "1Gi"}}),
    "no pool offers": ("any name is legal upstream, and limits nothing", {"capability": {"amd.com/gpu": 4}}),
    "is less than 1Mi": ("bytes that nobody means", {"capability": {"memory": "512m"}}),
    "is finer than 1m": ("upstream rounds it", {"capability": {"cpu": "1u"}}),
    "is more than capability 0": (
        "upstream takes a capability of 0 above for none",
        {"capability": {"gpu": 0}, "queues": {"a": {"capability": {"gpu": 8}}}},
    ),
    "takes a capability of no cores or no memory for none": (
        "upstream accepts it, and limits nothing",
        {"capability": {"cpu": 0}},
    ),
    "do not count pods": ("upstream accepts it, and limits nothing", {"capability": {"pods": 4}}),
    "only the priority of leaves counts": (
        "upstream accepts it, and looks at leaves",
        {"priority": 1, "queues": {"a": {}}},
    ),
    "the top queues have": ("upstream knows no pools", {"deserved": {"gpu": 9000}}),
    "as a label value it has at most 63": ("Ray clusters name their queue in a label", {"queues": {"a" * 62: {}}}),
}
"""What only we refuse: how the message says it, why, and a tree that shows it."""


def test_what_is_stricter_here_is_legal_upstream(volcano: Client) -> None:
    trees = {f"s{number}": tree for number, (_, tree) in enumerate(STRICTER.values())}
    assert submit(volcano, trees) == {}
    for (name, tree), words in zip(trees.items(), STRICTER, strict=True):
        (problem,) = [problem for problem in judged(name, tree) if problem.severity == "error"]
        assert words in problem.message


def test_we_accept_nothing_that_the_webhook_refuses_and_each_refusal_of_ours_alone_has_a_rule(
    volcano: Client,
) -> None:
    trees = {f"t{seed}": queue_trees.tree(seed) for seed in range(TREES)}
    refused = submit(volcano, trees)
    sound = 0
    for name, tree in trees.items():
        ours = [problem for problem in judged(name, tree) if problem.severity == "error"]
        sound += not ours
        assert ours or name not in refused, f"we accept what the webhook refuses: {tree}\n{refused[name]}"
        if name not in refused:
            unnamed = [told(problem) for problem in ours if not any(words in problem.message for words in STRICTER)]
            assert not unnamed, f"the webhook accepts {tree}, and we say {unnamed}"
    # Else the test would say little: each of the two happens often.
    assert min(sound, len(refused)) > TREES // 5


def test_a_change_that_we_do_not_refuse_comes_through_in_any_order_and_so_does_each_first_step(
    volcano: Client,
) -> None:
    ways: dict[str, list[Objects]] = {}
    early: dict[str, tuple[str, dict[str, Any]]] = {}
    for seed in range(CHANGES):
        name = f"w{seed}"
        old, new = (document.judge(written(name, tree)).environment for tree in queue_trees.change(seed))
        if old is None or new is None:
            continue
        ways[name] = [objects(env) for env in (old, *steps(old, new, loaded))]
        for (path, _, _), held in queue_changes.first_step(old, new).items():
            if path == name and "its parts have" in held.because:
                early[name] = path, objects(new)[path]
    direct = sum(len(way) == 2 for way in ways.values())
    assert min(direct, len(ways) - direct) > len(ways) // 6, (direct, len(ways))
    assert early
    try:
        assert bring_up(volcano, {name: objects[0:1] for name, objects in ways.items()}) == {}
        for name, (path, spec) in early.items():
            with pytest.raises(ApiError, match="children"):
                change(volcano, path, spec)
            assert name in ways
        assert bring_up(volcano, ways) == {}
    finally:
        bring_up(volcano, {name: [*way, {}] for name, way in ways.items()})


Objects = dict[str, dict[str, Any]]
"""What the Queue objects of a tree say, by their names, parents first."""


def loaded(tree: dict[str, Any]) -> Environment:
    ((name, queue),) = tree.items()
    return document.load(written(name, queue))


def objects(env: Environment) -> Objects:
    return {node.path: dict(volcano_model.queue_spec(node)) for node in model_queues.flatten(env)}


def bring_up(client: Client, ways: Mapping[str, list[Objects]]) -> dict[str, str]:
    """Change trees as the engine does, a queue of each at a time, and give what was refused of which."""
    waiting = {name: [act for stage in stages(name, way) for act in stage] for name, way in ways.items()}
    refused: dict[str, str] = {}
    while waiting:
        for name, acts in list(waiting.items()):
            if acts:
                path, spec = acts.pop(0)
                try:
                    change(client, path, spec)
                except ApiError as error:
                    refused[name] = f"{path}: {spec}: {error}"
                    acts.clear()
            if not acts:
                del waiting[name]
        time.sleep(LAG)
    return refused


def stages(name: str, way: list[Objects]) -> Iterator[list[tuple[str, dict[str, Any] | None]]]:
    """What the engine does for each tree on a way: wholes before parts, in any order else, and what goes last."""
    chance, now = random.Random(name), Objects()
    for goal in way:
        acts: list[tuple[str, dict[str, Any] | None]] = []
        left = list(goal)
        while left:
            path = chance.choice([each for each in left if each.rpartition(".")[0] not in left])
            left.remove(path)
            if now.get(path) != goal[path]:
                acts.append((path, goal[path]))
        acts += [(path, None) for path in reversed(now) if path not in goal]
        now = goal
        yield acts


def change(client: Client, path: str, spec: dict[str, Any] | None) -> None:
    """Make, change or delete a queue."""
    if spec is None:
        client.delete(Queue, path)
        return
    try:
        client.create(Queue.from_dict({"metadata": {"name": path}, "spec": spec}))
    except ApiError as error:
        if error.status.reason != "AlreadyExists":
            raise
        client.patch(Queue, path, [{"op": "replace", "path": "/spec", "value": spec}], patch_type=PatchType.JSON)


def judged(name: str, tree: Mapping[str, Any]) -> tuple[Problem, ...]:
    """All that we say of a document that has just this tree, on pools with room for all of it."""
    return document.judge(written(name, tree)).problems


def written(name: str, tree: Mapping[str, Any]) -> dict[str, Any]:
    """A document that has just this tree, on pools with room for all of it."""
    changes = [
        put("queues", {name: tree}),
        put("tenants", {}),
        put("ray", {}),
        put("pools.train.size", 1000),
        drop("pools.train.domains"),
    ]
    return example(*changes)


def told(problem: Problem) -> str:
    return f"{spoken(problem.path)}: {problem.message}"


def submit(client: Client, trees: Mapping[str, dict[str, Any]]) -> dict[str, str]:
    """Make the queues of all trees, one of each tree at a time, and give what was refused of which; none stays."""
    waiting = {name: list(queue_trees.walk(name, tree)) for name, tree in trees.items()}
    made: list[str] = []
    refused: dict[str, str] = {}
    while waiting:
        for name, queues in list(waiting.items()):
            path, parent, written = queues.pop(0)
            try:
                made_of = {"metadata": {"name": path}, "spec": queue_trees.spec(parent, written)}
                client.create(Queue.from_dict(made_of))
                made.append(path)
            except ApiError as error:
                refused[name] = f"{path}: {error}"
                queues.clear()
            if not queues:
                del waiting[name]
        time.sleep(LAG)
    for depth in range(3, 0, -1):
        for path in made:
            if path.count(".") + 1 == depth:
                client.delete(Queue, path)
        time.sleep(LAG)
    return refused
