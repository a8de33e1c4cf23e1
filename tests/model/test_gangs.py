"""How many nodes a gang needs, against a plain search."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from model.gangs import Gang, most_workers, nodes_needed
from tests.model.documents import environment, put

_amount = st.integers(1, 12).map(Decimal)
_pod = st.fixed_dictionaries({"cpu": _amount, "memory": _amount})
_node = st.fixed_dictionaries({"cpu": st.integers(4, 24).map(Decimal), "memory": st.integers(4, 24).map(Decimal)})


_gangs = st.builds(
    Gang,
    st.just("pool"),
    st.none() | _pod,
    _pod,
    st.integers(0, 9),
    apart=st.just({}) | _pod,
)


def _search(gang: Gang, node: dict[str, Decimal]) -> int | None:
    """The fewest nodes over every place of each pod that is no worker, with workers wherever they fit, node by node."""
    found: list[int] = []
    for places in product(range(2), repeat=len(gang.single_pods)):
        free = [{"pods": Decimal(110), **node} for _ in range(gang.workers + 2)]
        put = [_take(free[place], pod) for place, pod in zip(places, gang.single_pods, strict=True)]
        put += [any(_take(room, gang.worker_pod) for room in free) for _ in range(gang.workers)]
        if all(put):
            found.append(sum(room["pods"] < 110 for room in free))
    return min(found, default=None)


def _take(room: dict[str, Decimal], pod: Mapping[str, Decimal]) -> bool:
    if any(room[name] < amount for name, amount in pod.items()):
        return False
    for name, amount in pod.items():
        room[name] -= amount
    return True


@given(_gangs, _node)
def test_the_fewest_nodes_are_what_a_search_finds(gang: Gang, node: dict[str, Decimal]):
    assert nodes_needed(gang, node) == _search(gang, node)


@given(_gangs, _node, st.integers(1, 6))
def test_the_most_workers_fill_the_nodes_and_one_more_does_not_fit(gang: Gang, node: dict[str, Decimal], count: int):
    most = most_workers(gang, node, count)
    if most < 0:
        least = nodes_needed(replace(gang, workers=0), node)
        assert least is None or least > count
        return
    fits = nodes_needed(replace(gang, workers=most), node)
    assert fits is not None
    assert fits <= count
    more = nodes_needed(replace(gang, workers=most + 1), node)
    assert more is None or more > count


def test_the_number_of_pods_of_a_node_counts():
    env = environment(
        put("pools.serve.maxPods", 3),
        put("ray.clusters.answers.workers", {"count": 6, "cpu": "100m", "memory": "64Mi", "gpus": 1}),
    )
    from model import gangs

    assert gangs.nodes_of(env, ("ray", "clusters", "answers")) == 3
