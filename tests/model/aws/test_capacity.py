"""How machines of a pool are held, and when a block ends."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.model.aws.documents import BLOCK, NOW, RESERVATION, found, made, only
from tests.model.documents import put

# Capacity: each kind with its parts.


@pytest.mark.parametrize(
    ("capacity", "place"),
    [
        ({"kind": "block"}, "reservation"),
        ({"kind": "block", "ends": "2026-12-20T11:30:00Z"}, "reservation"),
        ({"kind": "block", "reservation": RESERVATION}, "ends"),
        ({"kind": "reservation"}, "reservation"),
        ({"kind": "spot", "reservation": RESERVATION}, "reservation"),
        ({"kind": "on-demand", "reservation": RESERVATION}, "reservation"),
        ({"kind": "on-demand", "ends": "2026-12-20T11:30:00Z"}, "ends"),
        ({"kind": "reservation", "reservation": RESERVATION, "ends": "2026-12-20T11:30:00Z"}, "ends"),
        ({"kind": "block", "reservation": "cr-1", "ends": "2026-12-20T11:30:00Z"}, "reservation"),
        ({"kind": "block", "reservation": "lt-0a1b2c3d4e5f67890", "ends": "2026-12-20T11:30:00Z"}, "reservation"),
        ({**BLOCK, "placementGroup": "g"}, "placementGroup"),
        ({"kind": "spot", "maxPrice": "0.1"}, "maxPrice"),
        ({"kind": "CAPACITY_BLOCK", "reservation": RESERVATION}, "kind"),
    ],
)
def test_kinds_of_capacity_have_their_parts(capacity: dict[str, Any], place: str) -> None:
    errors = found(put("pools.train.capacity", capacity))
    assert f"pools.train.capacity.{place}" in errors
    assert len(errors) <= 2


def test_a_bid_belongs_to_self_managed_groups() -> None:
    path, problem = only(put("pools.serve.capacity", {"kind": "spot", "maxPrice": "0.1"}))
    assert path == "pools.serve.capacity.maxPrice"
    assert "self-managed" in problem.message


@pytest.mark.parametrize(
    "ends",
    [
        "tomorrow",
        "2026-12-20",
        "2026-12-20T11:30:00",
        "9999-12-31T23:30:00-01:00",
        5,
        True,
        ["2026-12-20T11:30:00Z"],
    ],
)
def test_the_end_is_a_point_in_time_with_a_zone(ends: object) -> None:
    path, problem = only(put("pools.train.capacity.ends", ends))
    assert path == "pools.train.capacity.ends"
    assert "2026-12-20T11:30:00Z" in (problem.allowed or "")


@pytest.mark.parametrize(
    "ends", ["2026-12-20T11:30:00Z", "2026-12-20T12:30:00+01:00", datetime(2026, 12, 20, 11, 30, tzinfo=UTC)]
)
def test_one_end_has_many_spellings(ends: object) -> None:
    env = made(put("pools.train.capacity.ends", ends))
    assert env.model_dump(mode="json", by_alias=True)["pools"]["train"]["capacity"]["ends"] == "2026-12-20T11:30:00Z"


def test_blocks_are_sold_of_some_types_only() -> None:
    path, problem = only(put("pools.train.instance", "g6e.48xlarge"))
    assert path == "pools.train.instance"
    assert "p5.48xlarge" in problem.allowed


def test_two_pools_cannot_count_on_the_same_machines() -> None:
    other = {"instance": "p5en.48xlarge", "size": 1, "zone": "us-east-2a", "capacity": BLOCK}
    path, problem = only(put("pools.more", other))
    assert path == "pools.more.capacity.reservation"
    assert "train" in problem.message


# The end of a block.


@pytest.mark.parametrize(
    ("before", "severity"),
    [
        (timedelta(days=10), None),
        (timedelta(hours=49), None),
        (timedelta(hours=47), "warning"),
        (timedelta(minutes=31), "warning"),
        (timedelta(minutes=30), "error"),
        (timedelta(0), "error"),
        (timedelta(days=-30), "error"),
    ],
)
def test_the_end_of_a_block_is_told_in_time(before: timedelta, severity: str | None) -> None:
    now = datetime(2026, 12, 20, 11, 30, tzinfo=UTC) - before
    for kind in ("warning", "error"):
        assert list(found(severity=kind, now=now)) == (["pools.train.capacity.ends"] if kind == severity else [])


def test_after_its_end_a_pool_may_be_emptied_and_destroyed() -> None:
    after = datetime(2027, 1, 1, tzinfo=UTC)
    assert "pools.train.capacity.ends" in found(now=after)
    assert found(put("pools.train.size", 0), now=after) == {}
    assert found() == {}  # what destroys asks for no time


def test_a_sound_document_does_not_change_with_the_time() -> None:
    assert found(put("pools.train.capacity", {"kind": "on-demand"}), now=datetime(2036, 1, 1, tzinfo=UTC)) == {}
    assert found(now=NOW) == {}
