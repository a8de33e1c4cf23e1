"""A contract that cannot be kept is refused, with the numbers that disagree and the nearest that would do."""

import pytest

from tests.model.documents import drop, only, put
from tests.model.storage.documents import AT, errors, problems, warnings

LARGEST = f"{AT}.largest"


def test_the_document_is_sound() -> None:
    assert problems() == []


def test_at_least_one_is_kept() -> None:
    path, problem = only(errors(put(f"{AT}.retain", 0)))
    assert (path, problem.fix) == ("retain", "retain: 2")


@pytest.mark.parametrize("retain", [1001, 10**30])
def test_a_slip_of_the_pen_keeps_no_thousands(retain: int) -> None:
    path, problem = only(errors(put(f"{AT}.retain", retain)))
    assert (path, problem.allowed) == ("retain", "1 to 1000")


def test_the_largest_job_has_nodes_of_a_pool() -> None:
    path, problem = only(errors(put(f"{LARGEST}.nodes", 0)))
    assert (path, problem.allowed) == ("largest.nodes", "1 or more")
    path, problem = only(errors(put(f"{LARGEST}.nodes", 17)))
    assert (path, problem.allowed) == ("largest.nodes", "1 to 16")
    path, problem = only(errors(put(f"{LARGEST}.pool", "trian")))
    assert (path, problem.fix) == ("largest.pool", "train")


@pytest.mark.parametrize(
    ("way", "tier", "there"),
    [("write", "scratch", "shared"), ("keep", "shared", "archive")],
)
def test_a_tier_must_be_there(way: str, tier: str, there: str) -> None:
    path, problem = only(errors(drop(f"storage.{tier}"), put(f"{AT}.archive", None)))
    assert (path, problem.value, problem.fix) == (way, tier, f"{way}: {there}")


def test_an_archive_must_be_there() -> None:
    path, problem = only(errors(drop("storage.archive")))
    assert (path, problem.fix) == ("archive", "declare storage.archive")


def test_what_is_kept_in_the_archive_is_not_archived_again() -> None:
    path, problem = only(errors(put(f"{AT}.keep", "archive")))
    assert (path, problem.fix) == ("archive", "leave out archive")


def test_checkpoints_are_never_kept_in_a_cache() -> None:
    path, problem = only(errors(put(f"{AT}.keep", "cache")))
    assert (path, problem.allowed) == ("keep", "shared, archive")


def test_scratch_is_on_nodes_that_have_it() -> None:
    path, problem = only(errors(put(f"{LARGEST}.pool", "system"), put(f"{LARGEST}.nodes", 1), put(f"{AT}.every", "9h")))
    assert path == "largest.pool"
    assert "nodes of pool system have none" in problem.message
    assert only(errors(put(f"{LARGEST}.pool", "system"), put(f"{AT}.every", "9h")))[0] == "largest.pool"  # and 3 nodes


def test_what_is_missing_is_told_with_what_may_stand_there() -> None:
    path, problem = only(errors(drop(f"{AT}.every")))
    assert (path, problem.allowed) == ("every", "a length of time such as 30s, 15m, 2h or 30d")


def test_a_step_is_over_before_the_next_checkpoint_comes_to_it() -> None:
    path, problem = only(errors(put(f"{AT}.every", "9m")))
    assert path == "every"
    assert problem.message == "the largest checkpoint takes 10m from shared to the archive, so they would pile up"
    assert (problem.allowed, problem.fix) == ("at least 10m", "every: 10m")
    _, problem = only(errors(put(f"{AT}.every", "20s")))
    assert problem.message == (
        "the largest checkpoint takes 30s to write to scratch and 4m 16s from scratch to shared and "
        "10m from shared to the archive, so they would pile up"
    )


def test_the_promise_is_no_better_than_what_follows() -> None:
    assert errors(put(f"{AT}.loss", "1186s")) == {}
    path, problem = only(errors(put(f"{AT}.loss", "1185s")))
    assert path == "loss"
    assert problem.message == (
        "when a node is lost just before a checkpoint is kept, 19m 46s of work are lost: 15m between two + 30s "
        "to write + 4m 16s until it is kept"
    )
    assert (problem.allowed, problem.fix) == ("at least 20m", "every: 14m")
    assert errors(put(f"{AT}.loss", "1185s"), put(f"{AT}.every", "14m")) == {}


def test_a_promise_that_no_cadence_keeps() -> None:
    _, problem = only(errors(put(f"{AT}.loss", "5m")))
    assert problem.fix == "faster tiers"


def test_a_promise_without_the_largest_job_is_at_least_the_cadence() -> None:
    path, problem = only(warnings(put(f"{AT}.loss", "20m"), drop(LARGEST)))
    assert path == f"{AT}.loss"
    assert "without the largest job" in problem.message
    path, problem = only(errors(put(f"{AT}.loss", "10m"), drop(LARGEST)))
    assert (path, problem.allowed) == ("loss", "at least 15m")


def test_there_is_room_for_one_more_than_are_kept() -> None:
    # 38400 GiB are 41.2 TB: 34 of 1200 GB, so 33 are kept.
    assert errors(put(f"{AT}.retain", 33)) == {}
    path, problem = only(errors(put(f"{AT}.retain", 34)))
    assert (path, problem.allowed, problem.fix) == ("retain", "1 to 33", "retain: 33")
    path, problem = only(
        errors(
            put("storage.shared.size", "2400Gi"),
            put("storage.shared.throughput", 1000),
            put(f"{LARGEST}.size", "1400G"),
        )
    )
    assert (path, problem.allowed) == ("retain", "a shared tier of at least twice 1400G")


def test_a_node_has_room_for_two_parts() -> None:
    # Eight disks of 3800 GB are 30.4 TB.
    big = (put(f"{LARGEST}.size", "16T"), put("storage.shared.throughput", 1000), put("storage.archive.write", "20G"))
    roomy = (put(f"{AT}.retain", 1), put(f"{AT}.every", "2h"))
    assert errors(*big, *roomy, put(f"{LARGEST}.nodes", 2)) == {}
    path, problem = only(errors(*big, *roomy, put(f"{LARGEST}.nodes", 1)))
    assert (path, problem.allowed) == ("largest.nodes", "2 to 16")
    assert "its disks hold 27.6Ti" in problem.message


@pytest.mark.parametrize("tier", ["scratch", "archive"])
def test_what_makes_times_unknown_is_said_once(tier: str) -> None:
    assert errors(drop(f"storage.{tier}.write")) == {}
    path, problem = only(warnings(drop(f"storage.{tier}.write")))
    assert path == f"storage.{tier}.write"
    assert problem.fix
    assert "write: 5G" in problem.fix


def test_what_is_wrong_elsewhere_is_not_told_again() -> None:
    assert set(errors(put("storage.shared.size", "much"))) == {"storage.shared.size"}
    assert set(errors(put(f"{AT}.every", "often"))) == {"every"}
    assert set(errors(put("pools.train.instance", "p5em.48xlarge"))) == {"pools.train.instance"}
