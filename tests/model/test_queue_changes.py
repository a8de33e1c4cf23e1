"""Changes of queues that Volcano refuses on the way."""

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from model import queue_changes, queues, volcano
from model.environment import Environment
from model.problems import spoken
from model.quantities import Quantity
from tests.model.documents import drop, environment, put
from tests.model.generated_queues import trees
from tests.model.queue_steps import KINDS, steps


def of(tree: dict[str, Any], *changes: Any) -> Environment:
    return environment(put("queues", tree), put("tenants", {}), put("ray", {}), *changes)


def top(deserved: Any, parts: dict[str, Any], **other: Any) -> dict[str, Any]:
    return {"top": {"deserved": {"gpu": deserved}, "queues": parts, **other}}


def has(*amounts: int) -> dict[str, Any]:
    return {name: {"deserved": {"gpu": amount}} for name, amount in zip("abc", amounts, strict=False)}


CAPPED = {"capability": {"gpu": 64}}
CASES: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, str]]] = {
    "nothing": (top(96, has(64, 32)), top(96, has(64, 32)), {}),
    "parts get less": (top(96, has(64, 32)), top(96, has(32, 32)), {}),
    "all get more": (top(64, has(32, 32)), top(96, has(64, 32)), {}),
    "the whole gets less, within what the parts have": (top(96, has(32, 32)), top(64, has(32, 32)), {}),
    "the whole gets less, and so do the parts": (
        top(96, has(64, 32)),
        top(48, has(32, 16)),
        {"top.deserved.gpu": "with gpu: 96"},
    ),
    "a part gives to another": (
        top(96, has(64, 32)),
        top(96, has(32, 64)),
        {"top.queues.b.deserved.gpu": "with gpu: 32"},
    ),
    "a part gives to another, and the whole has room": (top(128, has(64, 32)), top(128, has(32, 64)), {}),
    "a part gives to a new one": (
        top(96, has(64, 32)),
        top(96, has(32, 32, 32)),
        {"top.queues.c.deserved.gpu": "with gpu: 0"},
    ),
    "a part goes, and another has its share": (
        top(96, has(64, 32)),
        top(96, has(96)),
        {"top.queues.a.deserved.gpu": "with gpu: 64"},
    ),
    "a part goes, and the whole has less": (
        top(96, has(64, 32)),
        top(64, has(64)),
        {"top.deserved.gpu": "with gpu: 96"},
    ),
    "no part is left, and the whole has less": (
        top(96, has(64)),
        top(32, {}),
        {"top.deserved.gpu": "with gpu: 64"},
    ),
    "none names it any more": (
        top(0, has(0)),
        {"top": {"queues": {"a": {}}}},
        {"top.deserved.gpu": "with gpu: 0"},
    ),
    "a capability gets smaller, and so does its part's": (
        top(0, {"a": {"capability": {"gpu": 128}}}, capability={"gpu": 128}),
        top(0, {"a": CAPPED}, **CAPPED),
        {"top.capability.gpu": "with gpu: 128"},
    ),
    "a capability gets smaller, and its parts have none": (
        top(0, {"a": {}}, capability={"gpu": 128}),
        top(0, {"a": {}}, **CAPPED),
        {},
    ),
    "a whole with all of it is made smaller": (
        top(96, has(96), capability={"gpu": 96}),
        top(64, has(64), **CAPPED),
        {"top.deserved.gpu": "with gpu: 96", "top.capability.gpu": "with gpu: 96"},
    ),
    "the tree is new": ({"other": {}}, top(96, has(64, 32)), {}),
}


@pytest.mark.parametrize(("before", "after", "first"), CASES.values(), ids=CASES)
def test_what_is_refused_on_the_way(before: dict[str, Any], after: dict[str, Any], first: dict[str, str]) -> None:
    found = list(queue_changes.problems(of(before), of(after)))
    told = {spoken(each.path).removeprefix("environment.queues."): each.fix for each in found}
    assert told == {at: f"a first up {fix} here, then this document" for at, fix in first.items()}


def test_both_amounts_and_the_reason_are_told() -> None:
    (found,) = queue_changes.problems(of(top(96, has(64, 32))), of(top(48, has(32, 16))))
    assert found.message == (
        "deserved 96 -> 48 is refused on the way: its parts have 96 of it in sum until they are changed after it"
    )
    (found,) = queue_changes.problems(of(top(96, has(64, 32))), of(top(96, has(32, 64))))
    assert found.message == (
        "deserved 32 -> 64 is refused on the way: the parts of top are changed in any order, those that go last, and "
        "have up to 128 in sum meanwhile, top has 96"
    )


def test_shares_that_shrink_with_their_pool_need_the_pool_as_it_was() -> None:
    tree = top("100% of train", {"a": {"deserved": {"gpu": "100% of train"}}})
    bare = drop("pools.train.domains")
    (found,) = queue_changes.problems(of(tree, bare), of(tree, bare, put("pools.train.size", 8)))
    assert found.fix == (
        "a first up with gpu: 128 here, the pools as they were, shares of them as amounts, then this document"
    )


def test_a_leaf_that_gets_parts_is_a_warning() -> None:
    (found,) = queue_changes.problems(of({"top": {}}), of({"top": {"queues": {"a": {}}}}))
    assert (found.severity, spoken(found.path)) == ("warning", "environment.queues.top.queues")


def test_a_whole_that_becomes_a_leaf_is_told_less_than_its_parts_have_until_they_go() -> None:
    whole = {"deserved": {"gpu": 16, "cpu": 100}}
    parts = {"a": {"deserved": {"gpu": 16}}, "b": {"deserved": {"cpu": 100}}}
    (found,) = queue_changes.problems(of({"top": {**whole, "queues": parts}}), of({"top": whole}))
    assert spoken(found.path) == "environment.queues.top.queues"
    assert found.message.startswith("no part is left, and of a queue without parts Volcano is told no cpu")
    assert found.fix == "a first up of the document as it was, without cpu in top.b, then this document"


def test_other_schedulers_look_at_no_other_queue() -> None:
    kueue = put("scheduler", {"kind": "kueue"})
    assert not list(queue_changes.problems(of(top(96, has(64, 32)), kueue), of(top(48, has(32, 16)), kueue)))


Spec = dict[str, dict[str, Any]]


def specs(env: Environment) -> Spec:
    """What Volcano is told of each queue, by kind."""
    found: Spec = {}
    for node in queues.flatten(env):
        told = volcano.queue_spec(node)
        kinds = {**told, "guarantee": told.get("guarantee", {}).get("resource", {})}
        found[node.path] = {
            kind: {name: Quantity.parse(amount).value for name, amount in kinds.get(kind, {}).items()} for kind in KINDS
        }
    return found


def declared(env: Environment) -> Spec:
    """What a document says of each queue, by kind: of leaves more than Volcano is told."""
    found: Spec = {node.path: {kind: {} for kind in KINDS} for node in queues.flatten(env)}
    for (path, kind, resource), amount in queue_changes.amounts(env).items():
        found[path][kind][resource] = amount
    return found


def refused(now: Spec, path: str) -> str:
    """What Volcano's webhook says to a queue that is made or updated beside the others as they are now."""
    parent, own = path.rpartition(".")[0], now[path]
    for kind, less, more in (("own", "guarantee", "deserved"), ("own", "deserved", "capability")):
        for name, amount in own[less].items():
            if amount > own[more].get(name, amount if more == "capability" else -1):
                return f"{kind} {path} {less}"
    for name, amount in own["capability"].items():
        above = parent
        while above and not now[above]["capability"].get(name):
            above = above.rpartition(".")[0]
        if above and amount > now[above]["capability"][name]:
            return f"above {path} {name}"
        if amount and amount < max((_highest(now, part, name) for part in _below(now, path)), default=0):
            return f"below {path} {name}"
    return next((said for whole in (parent, path) if whole and (said := _summed(now, whole))), "")


def _below(now: Spec, path: str) -> list[str]:
    return [each for each in now if each.rpartition(".")[0] == path]


def _highest(now: Spec, path: str, name: str) -> Any:
    own = now[path]["capability"].get(name)
    return own or max((_highest(now, part, name) for part in _below(now, path)), default=0)


def _summed(now: Spec, whole: str) -> str:
    for kind in KINDS[:2]:
        names = {name for part in _below(now, whole) for name in now[part][kind]}
        for name in names:
            total = sum(now[part][kind].get(name, 0) for part in _below(now, whole))
            unnamed = name not in now[whole][kind] and name not in ("cpu", "memory")
            if unnamed or total > now[whole][kind].get(name, 0):
                return f"sum {whole} {kind} {name}"
    return ""


def brought_up(old: Spec, new: Spec, seed: int) -> str:
    """The first refusal when the engine brings a tree up: wholes before parts, else in any order."""
    chance, now, left = random.Random(seed), dict(old), list(new)
    while left:
        ready = [path for path in left if path.rpartition(".")[0] not in left]
        path = chance.choice(ready)
        left.remove(path)
        if now.get(path) != new[path]:
            now[path] = new[path]
            if said := refused(now, path):
                return said
    return ""


_often = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@_often
@given(trees(), trees())
def test_what_is_not_refused_here_is_not_on_the_way_and_each_first_step_is_safe(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    now, goal = of(before), of(after)
    reasons = [held.because for held in queue_changes.first_step(now, goal).values()]
    if reasons and not any(words in reason for reason in reasons for words in _CAUTIOUS):
        assert any(brought_up(declared(now), declared(goal), seed) for seed in range(40))
    if queue_changes.untold(now, goal):
        assert any(brought_up(specs(now), specs(goal), seed) for seed in range(40))
    for step in steps(now, goal, of):
        for seed in range(8):
            assert not brought_up(specs(now), specs(step), seed)
        now = step


_CAUTIOUS = ("the other top queues", "in any order")
"""Reasons for which not every change is refused: the pools, which Volcano does not know, and the worst of orders."""
