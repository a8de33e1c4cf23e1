"""Where the subnets of a network that is made stand."""

import ipaddress
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.aws import subnets
from tests.model.aws.documents import found, made
from tests.model.documents import drop, put


def places(*changes) -> dict[str, str]:
    return {subnet.name: str(subnet.cidr) for subnet in subnets.subnets(made(*changes))}


def test_they_stand_as_the_zones_are_named() -> None:
    assert places() == {
        "private-us-east-2a": "10.0.32.0/20",
        "public-us-east-2a": "10.0.48.0/21",
        "gpu-us-east-2a": "10.0.0.0/19",
        "private-us-east-2b": "10.0.96.0/20",
        "public-us-east-2b": "10.0.112.0/21",
        "gpu-us-east-2b": "10.0.64.0/19",
    }


@given(st.integers(1, 50), st.integers(0, 8), st.booleans())
def test_growing_moves_none(train: int, serve: int, third: bool) -> None:
    changes = [put("pools.train.size", train), put("pools.serve.size", {"min": 0, "max": serve})]
    if third:
        changes.append(put("cluster.zones", ["us-east-2a", "us-east-2b", "us-east-2c"]))
    grown = places(*changes)
    assert places().items() <= grown.items()


@given(st.integers(16, 20), st.integers(2, 4))
def test_they_never_overlap(prefix: int, zones: int) -> None:
    small_pools = [
        put("pools.train.size", 1),
        put("pools.serve.size", {"min": 0, "max": 1}),
        put("pools.system.size", 1),
    ]
    cluster = [
        put("cluster.network", {"cidr": f"10.0.0.0/{prefix}"}),
        put("cluster.zones", [f"us-east-2{letter}" for letter in "abcd"[:zones]]),
    ]
    made_ = [subnet.cidr for subnet in subnets.subnets(made(*small_pools, *cluster))]
    assert all(not one.overlaps(other) for one, other in combinations(made_, 2))
    assert all(one.subnet_of(ipaddress.IPv4Network(f"10.0.0.0/{prefix}")) for one in made_)


def test_gpu_nodes_have_subnets_only_where_they_may_stand() -> None:
    assert "gpu-us-east-2b" not in places(drop("pools.serve"))


def test_closed_networks_have_no_public_subnets() -> None:
    closed = places(put("cluster.network", {"nat": "none", "endpoints": True}))
    assert not [name for name in closed if name.startswith("public")]


def test_a_network_that_is_there_gets_none() -> None:
    zones = {"us-east-2a": "subnet-0a1b2c3d4e5f67890", "us-east-2b": "subnet-0a1b2c3d4e5f67891"}
    assert places(put("cluster.network", {"vpc": "vpc-0a1b2c3d4e5f67890", "subnets": zones})) == {}


@pytest.mark.parametrize(
    ("size", "pods", "fits"),
    # 8,187 addresses; a node takes 1 + 16 x (7 + 1) with 110 pods, and 1 + 16 x (2 + 1) with 30; serve takes 129 x 4.
    [(59, 110, True), (60, 110, False), (156, 30, True), (157, 30, False)],
)
def test_the_nodes_of_a_pool_fit_their_subnet(size: int, pods: int, fits: bool) -> None:
    errors = found(put("pools.train.size", size), put("pools.train.maxPods", pods))
    assert list(errors) == ([] if fits else ["cluster.network.cidr"])
    if not fits:
        assert "8187" in errors["cluster.network.cidr"].message
