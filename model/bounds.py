"""What bounds the size of a gang: its queue and those above, its team's quota, its pool, its domain."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal

from . import nodes, queue_limits, quotas, tenants, topology
from .gangs import Amounts, Gang, added, gang, most_workers, nodes_needed
from .problems import Subject, Unanswerable, lost
from .quantities import written
from .workloads import Workload


@dataclass(frozen=True)
class Bound:
    """A bound on the number of workers in a gang.

    Attributes:
        place: What bounds it, such as `pool train` or `queue research`.
        has: What there is, in words.
        needs: What a number of workers, and what runs with them, need of it, in words.
        workers: The most workers within the bound; -1 when not even what runs with them is.
        hard: Whether the gang waits for ever beyond it.
        quota: Tenant and resource, where it is the quota of a team.
    """

    place: str
    has: str
    needs: Callable[[int], str]
    workers: int
    hard: bool = True
    quota: tuple[str, str] | None = None

    def broken_by(self, workers: int) -> str:
        """Both numbers: what the gang needs and what there is."""
        return f"it needs {self.needs(workers)}, {self.place} {self.has}"


def bounds(it: Subject[Workload]) -> list[Bound]:
    """All that bounds the gang of a workload."""
    return [*shared(it, gang(it.env, it.at)), *_answered(_domain_bounds, it, gang(it.env, it.at))]


def shared(it: Subject[Workload], gang: Gang) -> list[Bound]:
    """What bounds a gang of the workload beside everybody else's: all but the topology domain."""
    return [bound for rule in (_queue_bounds, _quota_bounds, _pool_bounds) for bound in _answered(rule, it, gang)]


_Rule = Callable[[Subject[Workload], Gang], Iterator[Bound]]


def _answered(rule: _Rule, it: Subject[Workload], gang: Gang) -> Iterator[Bound]:
    with suppress(Unanswerable):
        yield from rule(it, gang)


def _queue_bounds(it: Subject[Workload], gang: Gang) -> Iterator[Bound]:
    once, worker = added(gang.lead or {}, gang.apart), added(gang.worker, gang.beside)
    for limit in queue_limits.limits(it.env, it.value.queue):
        if limit.resource in once or limit.resource in worker:
            amounts = (once.get(limit.resource, Decimal(0)), worker.get(limit.resource, Decimal(0)))
            bound = _amount_bound(f"queue {limit.queue}", limit.resource, amounts, limit.amount)
            kept = ", the rest of the queue above being guaranteed to others" if limit.kept else ""
            yield replace(bound, has=f"{bound.has}{kept}")


def _quota_bounds(it: Subject[Workload], gang: Gang) -> Iterator[Bound]:
    """A ResourceQuota counts every container, sidecars too, and the pods themselves."""
    owner = tenants.owner(it.env, it.value.namespace)
    if owner is not None:
        place, once = f"the quota of namespace {it.value.namespace}", added(*gang.single_pods)
        for resource, bound in _amount_bounds(place, once, gang.worker_pod, it.env.tenants[owner].quota):
            yield replace(bound, quota=(owner, resource))


def _amount_bounds(place: str, once: Amounts, worker: Amounts, limits: quotas.Quota) -> Iterator[tuple[str, Bound]]:
    for resource, limit in quotas.resolved(limits).items():
        if not lost(limit) and (resource in once or resource in worker):
            amounts = (once.get(resource, Decimal(0)), worker.get(resource, Decimal(0)))
            yield resource, _amount_bound(place, resource, amounts, limit.value)


def _amount_bound(place: str, resource: str, amounts: tuple[Decimal, Decimal], limit: Decimal) -> Bound:
    once, each = amounts
    workers = -1 if once > limit else int((limit - once) // each) if each else _ANY

    def needs(count: int) -> str:
        return f"{written(resource, once + each * count)} of {resource}"

    return Bound(place, f"may use {written(resource, limit)}", needs, workers)


_ANY = 2**31 - 1
"""More workers than any gang has."""


def _pool_bounds(it: Subject[Workload], gang: Gang) -> Iterator[Bound]:
    yield _node_bound(it, gang, f"pool {gang.pool}", it.env.pools[gang.pool].most)


def _domain_bounds(it: Subject[Workload], gang: Gang) -> Iterator[Bound]:
    within = it.value.within
    if within is None:
        return
    room = topology.largest_domain(it.env, gang.pool, within.level)
    if room is not None:
        yield _node_bound(it, gang, f"a {within.level} of pool {gang.pool}", room, hard=within.mode == "hard")


def _node_bound(it: Subject[Workload], gang: Gang, place: str, room: int, *, hard: bool = True) -> Bound:
    node = nodes.offered(it.env, gang.pool)

    def needs(count: int) -> str:
        needed = nodes_needed(replace(gang, workers=count), node)
        return "larger nodes" if needed is None else f"{needed} nodes"

    return Bound(place, f"holds {room}", needs, most_workers(gang, node, room), hard)
