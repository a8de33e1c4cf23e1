"""Amounts of queues as shares of a pool: exact, or refused with what is next to them."""

from typing import Any

import pytest

from model import document, nodes, volcano
from model.quantities import Quantity
from model.queues import by_path
from tests.model.documents import Change, environment, errors, example, only, put

AT = "queues.research.queues.llm.deserved"


def share(text: str, resource: str = "gpu") -> Change:
    return put(("queues", "research", "queues", "llm", "deserved", resource), text)


@pytest.mark.parametrize(
    ("text", "gpus"),
    [
        ("50% of train", 64),
        ("25% of train", 32),
        ("12.5% of train", 16),
        ("0.78125% of train", 1),
        ("0% of train", 0),
        ("6.250% of train", 8),
        ("37.5% of train", 48),
        ("21.875% of train", 28),
    ],
)
def test_a_share_is_a_number_of_gpus(text: str, gpus: int) -> None:
    alone = put("queues", {"research": {"deserved": {"gpu": 128}, "queues": {"llm": {"deserved": {"gpu": text}}}}})
    env = environment(alone, put("tenants", {}), put("ray", {}))
    assert by_path(env)["research.llm"].queue.deserved["gpu"] == Quantity.parse(gpus)
    assert volcano.queue_spec(by_path(env)["research.llm"])["deserved"]["nvidia.com/gpu"] == str(gpus)


def test_a_share_follows_the_pool_at_its_largest() -> None:
    grown = put("pools.train.size", {"min": 0, "max": 32})
    env = environment(share("25% of train"), grown, put("pools.train.domains", {}))
    assert by_path(env)["research.llm"].queue.deserved["gpu"] == Quantity.parse(64)


def test_memory_and_cores_may_be_shares() -> None:
    whole, half = (
        environment(put("queues.research", {"deserved": {"cpu": text}}), put("tenants", {}), put("ray", {}))
        for text in ("100% of train", "50% of train")
    )
    of = [by_path(env)["research"].queue.deserved["cpu"].value for env in (whole, half)]
    assert of[0] == 2 * of[1] > 0


def test_of_cores_and_bytes_no_part_is_lost_that_counts() -> None:
    """Rounded down, so that the parts of a whole stay within it."""
    parts = {"a": {"deserved": {"memory": "23.1% of train", "cpu": "23.1% of train"}}}
    whole = {"deserved": {"memory": "69.3% of train", "cpu": "69.3% of train"}}
    tree = {"whole": {**whole, "queues": dict.fromkeys("abc", parts["a"])}}
    env = environment(put("queues", tree), put("tenants", {}), put("ray", {}))
    amounts = by_path(env)["whole.a"].queue.deserved
    memory, cpu = (nodes.offered(env, "train")[name] * 16 * 231 / 1000 for name in ("memory", "cpu"))
    assert memory % 1, "it does not come out even"
    assert amounts["memory"].value == memory // 1
    assert amounts["cpu"].value == cpu * 1000 // 1 / 1000


def test_of_what_no_pool_counts_there_is_no_share() -> None:
    change = put("queues.production.capability", {"gpu": 64, "ephemeral-storage": "50% of train"})
    path, problem = only(errors(change))
    assert path == "queues.production.capability.ephemeral-storage"
    assert problem.value == "50% of train"
    assert "no pool says how much" in problem.message
    assert problem.allowed == "an amount such as 1Ti"


@pytest.mark.parametrize(
    ("text", "says", "allowed"),
    [
        (
            "33% of train",
            "33% of the 128 of nvidia.com/gpu that pool train offers at its largest is 42.24",
            "42, or 43",
        ),
        ("1% of train", "is 1.28, between 1 and 2", "1, or 2"),
        ("0.5% of train", "is 0.64, between 0 and 1", "0, or 1"),
        ("50% of trian", "there is no pool trian", "system, train, serve"),
        ("50% of system", "pool system offers no nvidia.com/gpu", "train"),
        ("150% of train", "is more than the whole pool", "at most 100%"),
        ("50%", "is no share of a pool", "a share such as 50% of train"),
        ("50 % of train", "is no share of a pool", "a share such as 50% of train"),
        ("-5% of train", "is no share of a pool", "a share such as 50% of train"),
        ("half of train", "is not a quantity", "a quantity such as"),
    ],
)
def test_what_does_not_come_out_even_is_told_with_its_neighbours(text: str, says: str, allowed: str) -> None:
    path, problem = only(errors(share(text)))
    assert path == f"{AT}.gpu"
    assert says in problem.message
    assert allowed in (problem.allowed or "")
    assert problem.value == text


@pytest.mark.parametrize(
    ("text", "fix"), [("33% of train", "42"), ("50% of trian", "50% of train"), ("50%", "50% of POOL")]
)
def test_the_fix_is_one_that_may_stand_there(text: str, fix: str) -> None:
    _, problem = only(errors(share(text)))
    assert problem.fix == fix
    if "POOL" not in fix:
        assert not errors(share(fix))


def test_rules_judge_what_a_share_amounts_to() -> None:
    path, problem = only(errors(share("75% of train")))
    assert path == "queues.research.deserved.gpu"
    assert "at least" in (problem.allowed or "")


def test_of_a_pool_that_cannot_be_read_nothing_is_concluded() -> None:
    broken = put("pools.train.size", -1)
    assert [path for path in errors(share("33% of train"), broken) if path.startswith("queues")] == []


def test_a_share_is_written_once_and_counted_everywhere() -> None:
    """The document that a stack registers has the amount, so that policies see what queues have."""
    value: Any = example(share("25% of train"))
    written = document.load(value).model_dump(mode="json", by_alias=True, exclude_unset=True)
    assert written["queues"]["research"]["queues"]["llm"]["deserved"]["gpu"] == "32"
    assert set(written) == set(value), "nothing that was left out is written"
    assert document.load(written) == document.load(value)
