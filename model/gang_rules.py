"""Gangs for which there is never room, and those that are no whole gang."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING

from . import quotas, tenants, topology
from .bounds import bounds
from .counts import Count, Size, most
from .derived import derived
from .gangs import gang
from .problems import Problem, Subject, Unanswerable, answered
from .workloads import Workload, every, judged

if TYPE_CHECKING:
    from .environment import Environment


def fits(env: "Environment") -> Iterator[Problem]:
    """All that is wrong with the sizes of gangs."""
    yield from answered(_quotas, env)
    yield from judged(env, _gang_fits, _domains_known, _elastic)


@derived
def _small_quotas(env: "Environment") -> Mapping[tuple[str, str], tuple[str, ...]]:
    """Quotas, by tenant and resource, in which none of a team's workloads fits, with what each needs.

    Where there are several that is one mistake, made in the quota.
    """
    workloads, broken = Counter[str](), dict[tuple[str, str], list[str]]()
    for it in every(env):
        with suppress(Unanswerable):
            owner, workers = tenants.owner(env, it.value.namespace), gang(env, it.at).workers
            if owner is None:
                continue
            workloads[owner] += 1
            for bound in bounds(it):
                if bound.quota and bound.workers < workers:
                    broken.setdefault(bound.quota, []).append(f"{it.name} needs {bound.needs(workers)}")
    return MappingProxyType({at: tuple(needs) for at, needs in broken.items() if len(needs) == workloads[at[0]] > 1})


def _quotas(env: "Environment") -> Iterator[Problem]:
    for (tenant, resource), needs in _small_quotas(env).items():
        quota = env.tenants[tenant].quota
        key = next(name for name in quota if quotas.resource_name(name) == resource)
        message = f"none of the workloads in its namespaces fits: {', '.join(needs)}"
        yield Problem(("tenants", tenant, "quota", key), quota[key].text, message, "as much as the smallest needs")


def _gang_fits(it: Subject[Workload]) -> Iterator[Problem]:
    """One problem with every bound that the gang breaks: the tightest alone would only lead to the next."""
    count = it.value.workers.count
    together, whole = gang(it.env, it.at).workers, most(count)
    small = _small_quotas(it.env)
    found = [bound for bound in bounds(it) if bound.quota not in small]
    at, value = (*it.at, "workers", "count"), written(count)
    if hard := [bound for bound in found if bound.hard and bound.workers < together]:
        broken = "; ".join(bound.broken_by(together) for bound in hard)
        room = min(bound.workers for bound in hard)
        allowed = f"at most {room} workers" if room >= 0 else f"a smaller {it.value.leader}, or more room for it"
        yield Problem(at, value, f"the gang never fits: {broken}", allowed)
        return
    for workers, beginning in ((together, "the gang does not fit"), (whole, "at its largest it does not fit")):
        if soft := [bound for bound in found if bound.workers < workers]:
            broken = "; ".join(bound.broken_by(workers) for bound in soft)
            room = max(min(bound.workers for bound in soft), 0)
            yield Problem(at, value, f"{beginning}: {broken}", f"at most {room} workers", severity="warning")
            return


def written(count: Count) -> object:
    """A number of workers as it stands in a document."""
    return {"min": count.min, "max": count.max} if isinstance(count, Size) else count


def _domains_known(it: Subject[Workload]) -> Iterator[Problem]:
    within, pool = it.value.within, it.value.pool
    # On AWS nobody can say beforehand: the scheduler sees it once the nodes are there.
    if within is None or it.env.topology.source or topology.largest_domain(it.env, pool, within.level) is not None:
        return
    message = f"how many domains of it pool {pool} fills is not said, so whether the gang fits is unknown"
    fix = f"pools.{pool}.domains: {{{within.level}: …}}"
    yield Problem((*it.at, "within", "level"), within.level, message, fix=fix, severity="warning")


def _elastic(it: Subject[Workload]) -> Iterator[Problem]:
    count = it.value.workers.count
    if isinstance(count, Size) and count.min < count.max:
        lead = f"the {it.value.leader} and " if it.value.leads else ""
        message = f"the gang is {lead}{count.min} workers; {count.max - count.min} more come one by one, each when"
        allowed = "a fixed count where all must start together"
        at = (*it.at, "workers", "count")
        yield Problem(at, written(count), f"{message} there is room", allowed, severity="warning")
