"""Our rules about queues beside Volcano's real admission webhook, on trees that nobody thought of."""

import time
from collections.abc import Mapping
from typing import Any

import queue_trees
from lightkube import Client
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_global_resource

from model import document
from model.problems import Problem, spoken
from tests.model.documents import drop, example, put

Queue = create_global_resource("scheduling.volcano.sh", "v1beta1", "Queue", "queues")
TREES = 150
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


def judged(name: str, tree: Mapping[str, Any]) -> tuple[Problem, ...]:
    """All that we say of a document that has just this tree, on pools with room for all of it."""
    changes = [
        put("queues", {name: tree}),
        put("tenants", {}),
        put("ray", {}),
        put("pools.train.size", 1000),
        drop("pools.train.domains"),
    ]
    return document.judge(example(*changes)).problems


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
