"""What follows from the contract about checkpoints, worked out by hand, and what holds whatever it says."""

from dataclasses import astuple
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from model import document
from model.storage import contract
from tests.model.documents import Change, changed, drop, put
from tests.model.storage.documents import AT, VALUE, environment

LARGEST = f"{AT}.largest"


def test_times_by_hand() -> None:
    # 1200 GB: 30 s at 40 GB/s of eight nodes, 256 s at 4.6875 GB/s of 37.5 TiB, 600 s at 2 GB/s of the archive.
    assert astuple(contract.times(environment())) == (900, 30, 256, 600, 256, 600)


def test_a_restore_onto_fewer_nodes_is_bound_by_their_disks() -> None:
    slow = environment(put("storage.scratch.write", "2G"))
    assert contract.restore(slow, 8) == 256
    assert contract.restore(slow, 1) == 600


def test_seconds_are_rounded_up() -> None:
    times = contract.times(environment(put(f"{LARGEST}.size", "1201G")))
    assert (times.write, times.flush) == (31, 257)


def test_what_is_written_where_it_is_kept_is_not_carried() -> None:
    times = contract.times(environment(put(f"{AT}.write", "shared")))
    assert (times.write, times.flush, times.save, times.restore) == (256, 0, 256, 256)


def test_a_file_system_that_is_there_is_as_fast_as_it_is_said_to_be() -> None:
    beegfs = {"kind": "class", "name": "beegfs", "size": "100Ti", "write": "3G"}
    env = document.load(
        changed(
            VALUE,
            put("cluster", {"name": "atlas", "provider": "existing", "kubernetes": "1.35", "context": "atlas"}),
            put("pools", {"train": {"server": "dgx-h100", "size": 16}}),
            put("storage.shared", beegfs),
            put(f"{AT}.write", "shared"),
            drop("storage.scratch"),
            drop("storage.archive"),
            drop(f"{AT}.archive"),
        )
    )
    assert contract.times(env).write == 400
    assert contract.times(env).archive == 0


def test_what_each_event_costs() -> None:
    process, node = contract.events(environment())
    assert (process.kind, process.loss) == ("process", 930)
    assert (node.kind, node.loss) == ("node", 1186)


def test_a_spot_notice_is_long_enough_or_not() -> None:
    spot = put("pools.train.capacity", {"kind": "spot"})
    event = contract.events(environment(spot))[2]
    assert (event.kind, event.notice, event.saved, event.loss) == ("spot", 120, False, 1186)
    # 13 s to write and 107 s to shared.
    event = contract.events(environment(spot, put(f"{LARGEST}.size", "500G")))[2]
    assert (event.saved, event.loss) == (True, 0)
    # 121 s: one second too late.
    event = contract.events(environment(spot, put(f"{LARGEST}.size", "505G")))[2]
    assert (event.saved, event.loss) == (False, 900 + 13 + 108)


def test_the_drain_of_a_block_leaves_ten_minutes() -> None:
    capacity = {"kind": "block", "reservation": "cr-0a1b2c3d4e5f67890", "ends": "2036-12-20T11:30:00Z"}
    block = contract.events(environment(put("pools.train.capacity", capacity)))[2]
    assert (block.kind, block.notice, block.saved) == ("block", 600, True)


def test_the_grace_period_is_what_all_steps_take() -> None:
    assert contract.times(environment()).grace == 886
    assert contract.times(environment(drop("storage.archive.write"))).grace == 286 + 900


def test_without_the_largest_job_nothing_is_computed() -> None:
    env = environment(drop(LARGEST))
    assert astuple(contract.times(env)) == (900, None, None, None, None, None)
    assert [event.loss for event in contract.events(env)] == [None, None]


def test_each_node_writes_its_part() -> None:
    assert contract.part(environment()) == Decimal(150 * 10**9)


_SIZES = st.integers(1, 4000).map(lambda gigabytes: put(f"{LARGEST}.size", f"{gigabytes}G"))
_SPEEDS = st.integers(1, 40).map(lambda gigabytes: put("storage.scratch.write", f"{gigabytes}G"))
_WAYS = st.sampled_from(["scratch", "shared"]).map(lambda tier: put(f"{AT}.write", tier))
_ROOMY = (put(f"{AT}.retain", 1), put(f"{AT}.archive", None))


def _loss(*changes: Change) -> int | None:
    return next(event.loss for event in contract.events(environment(*_ROOMY, *changes)) if event.kind == "node")


def _every(hours: int) -> Change:
    return put(f"{AT}.every", f"{hours}h")


@settings(max_examples=30, deadline=None)
@given(_SIZES, _SPEEDS, _WAYS, st.integers(1, 20))
def test_a_longer_time_between_two_never_loses_less(size: Change, speed: Change, way: Change, hours: int) -> None:
    shorter, longer = (_loss(size, speed, way, _every(1 + count)) for count in (hours, hours + 1))
    assert shorter
    assert longer
    assert longer - shorter == 3600


@settings(max_examples=30, deadline=None)
@given(_SIZES, _WAYS, st.integers(1, 39))
def test_faster_disks_never_lose_more(size: Change, way: Change, speed: int) -> None:
    slow, fast = (_loss(size, way, put("storage.scratch.write", f"{each}G"), _every(9)) for each in (speed, speed + 1))
    assert slow
    assert fast
    assert fast <= slow


@settings(max_examples=30, deadline=None)
@given(_SIZES, _SPEEDS, st.integers(1, 16))
def test_a_restore_is_no_slower_on_more_nodes(size: Change, speed: Change, nodes: int) -> None:
    env = environment(*_ROOMY, size, speed, _every(9))
    few, many = contract.restore(env, nodes), contract.restore(env, nodes + 1)
    assert few
    assert many
    assert many <= few


@settings(max_examples=30, deadline=None)
@given(_SIZES, _SPEEDS, _WAYS)
def test_all_parts_together_hold_the_checkpoint(size: Change, speed: Change, way: Change) -> None:
    env = environment(*_ROOMY, size, speed, way, _every(9))
    largest = contract.declared(env).largest
    assert largest
    assert 0 <= contract.part(env) * largest.nodes - largest.size.value < largest.nodes
