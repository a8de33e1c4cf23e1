"""How many nodes a gang needs, against a plain search."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from model.gangs import Gang, most_workers, nodes_needed
from tests.model.documents import environment, put

_amount = st.integers(1, 12).map(Decimal)
_pod = st.fixed_dictionaries({"cpu": _amount, "memory": _amount})
_node = st.fixed_dictionaries({"cpu": st.integers(4, 24).map(Decimal), "memory": st.integers(4, 24).map(Decimal)})


def _search(gang: Gang, node: dict[str, Decimal], most: int) -> int | None:
    """Put the leading pod on one node and workers wherever they fit, node by node."""
    free = [dict(node) for _ in range(most)]

    def place(pod: dict[str, Decimal]) -> int | None:
        for index, room in enumerate(free):
            if room.get("pods", Decimal(110)) >= 1 and all(room[name] >= amount for name, amount in pod.items()):
                for name, amount in pod.items():
                    room[name] -= amount
                return index
        return None

    used = [place(dict(gang.leading_pod)), *(place(dict(gang.worker)) for _ in range(gang.workers))]
    return None if None in used else max(index for index in used if index is not None) + 1


@given(_pod, _pod, _node, st.integers(0, 9))
def test_the_fewest_nodes_are_what_a_search_finds(lead: dict, worker: dict, node: dict, workers: int):
    gang = Gang("pool", lead, {}, worker, workers)
    assert nodes_needed(gang, node) == _search(gang, node, workers + 1)


@given(_pod, _pod, _node, st.integers(1, 6))
def test_the_most_workers_fill_the_nodes_and_one_more_does_not_fit(lead: dict, worker: dict, node: dict, count: int):
    gang = Gang("pool", lead, {}, worker, 0)
    most = most_workers(gang, node, count)
    if most < 0:
        assert nodes_needed(gang, node) is None
        return
    fits = nodes_needed(Gang("pool", lead, {}, worker, most), node)
    assert fits is not None
    assert fits <= count
    more = nodes_needed(Gang("pool", lead, {}, worker, most + 1), node)
    assert more is None or more > count


def test_the_number_of_pods_of_a_node_counts():
    env = environment(
        put("pools.serve.maxPods", 3),
        put("ray.clusters.answers.workers", {"count": 6, "cpu": "100m", "memory": "64Mi", "gpus": 1}),
    )
    from model import gangs

    assert gangs.ray_nodes_needed(env, "answers") == 3
