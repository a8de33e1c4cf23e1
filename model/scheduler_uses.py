"""Where a document asks for what not every scheduler can do."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING

from . import job_sets, kueue, nodes, queues, quotas, volcano, workloads
from .counts import Size
from .gang_rules import written
from .problems import ABSENT, Path, Unanswerable, known, lost, readable
from .quotas import UNCOUNTED, resource_name

if TYPE_CHECKING:
    from .environment import Environment

Use = tuple[Path, object]
"""Where a document asks for something, and what stands there."""


def _declared(path: Path, value: object, default: object) -> Iterator[Use]:
    if not lost(value) and value != default:
        yield path, value


def setting(name: str, default: object) -> Callable[["Environment"], Iterator[Use]]:
    """An aim of the scheduler that is not the usual one."""
    return lambda env: _declared(("scheduler", name), getattr(env.scheduler, name), default)


def in_queues(name: str, default: object) -> Callable[["Environment"], Iterator[Use]]:
    """Queues with another value than the usual one."""

    def found(env: "Environment") -> Iterator[Use]:
        for node in queues.flatten(env):
            yield from _declared((*node.keys, name), getattr(node.queue, name), default)

    return found


def in_wholes(name: str, default: object) -> Callable[["Environment"], Iterator[Use]]:
    """Queues with parts that have another value than the usual one."""

    def found(env: "Environment") -> Iterator[Use]:
        for node in _wholes(env):
            yield from _declared((*node.keys, name), getattr(node.queue, name), default)

    return found


def _wholes(env: "Environment") -> Iterator[queues.QueueNode]:
    """Queues that have parts."""
    return (node for node in queues.flatten(env) if not lost(node.queue.queues) and node.queue.queues)


def undivided_shares(env: "Environment") -> Iterator[Use]:
    """What queues with parts deserve and none of their parts does, of that by which Volcano judges a share."""
    for node in _wholes(env):
        with suppress(Unanswerable):
            for name in sorted(volcano.deciding(node.queue.deserved)):
                if _undivided(node.queue, "deserved", name):
                    yield (*node.keys, "deserved", name), node.queue.deserved[name].text


def undivided_guarantees(env: "Environment") -> Iterator[Use]:
    """What queues with parts are guaranteed and none of their parts is, although some part deserves of it."""
    for node in _wholes(env):
        with suppress(Unanswerable):
            for name, amount in node.queue.guarantee.items():
                if _undivided(node.queue, "guarantee", name) and not _undivided(node.queue, "deserved", name):
                    yield (*node.keys, "guarantee", name), amount.text


def _undivided(queue: queues.Queue, kind: str, name: str) -> bool:
    """Whether a queue has something of a resource, and none of its parts does."""
    quotas_of = (getattr(it, kind) for it in (queue, *queue.queues.values()))
    own, *parts = (_value(quota, name) for quota in quotas_of)
    return own > 0 and not any(parts)


def _value(quota: quotas.Quota, name: str) -> Decimal:
    amount = quotas.resolved(quota).get(resource_name(name))
    return Decimal(0) if amount is None else amount.value


def nothing_allowed(env: "Environment") -> Iterator[Use]:
    """Capabilities of no cores or no memory; where some are deserved, the two contradict each other, which is told."""
    for node in queues.flatten(env):
        for name in ("cpu", "memory"):
            with suppress(Unanswerable):
                amount = node.queue.capability.get(name)
                if amount is not None and not amount.value and not _value(node.queue.deserved, name):
                    yield (*node.keys, "capability", name), amount.text


def top_guarantees_without_reclaim(env: "Environment") -> Iterator[Use]:
    """What top queues are guaranteed where nothing is taken back."""
    if known(env.scheduler.reclaim):
        return
    for node in queues.flatten(env):
        if node.parent == queues.ROOT:
            with suppress(Unanswerable):
                for name, amount in node.queue.guarantee.items():
                    if not lost(amount) and amount.value:
                        yield (*node.keys, "guarantee", name), amount.text


def pods(env: "Environment") -> Iterator[Use]:
    """Numbers of pods in queues."""
    for at, name, amount in _amounts(env, "guarantee", "deserved", "capability"):
        if name == "pods":
            yield (*at, name), amount


def guarantees(env: "Environment") -> Iterator[Use]:
    """What queues are guaranteed."""
    for at, name, amount in _amounts(env, "guarantee"):
        yield (*at, name), amount


def _amounts(env: "Environment", *kinds: str) -> Iterator[tuple[Path, str, object]]:
    for node in queues.flatten(env):
        for kind in kinds:
            quota = getattr(node.queue, kind)
            for name, amount in () if lost(quota) else quota.items():
                if not lost(amount):
                    yield (*node.keys, kind), name, amount.text


def others(known_ones: Sequence[str]) -> Callable[["Environment"], Iterator[Use]]:
    """Amounts of resources in queues, but for some."""

    def found(env: "Environment") -> Iterator[Use]:
        for at, name, amount in _amounts(env, "guarantee", "deserved", "capability"):
            if resource_name(name) not in known_ones:
                yield (*at, name), amount

    return found


def uncounted(env: "Environment") -> Iterator[Use]:
    """Amounts in queues of what Kueue cannot count."""
    for at, name, amount in _amounts(env, "guarantee", "deserved", "capability"):
        if name == UNCOUNTED:
            yield (*at, name), amount


def shareless(env: "Environment") -> Iterator[Use]:
    """Leaves that deserve something, but nothing of the cores or the memory that others deserve."""
    deserved = {name for node in queues.flatten(env) for name in node.queue.deserved}
    for node in queues.flatten(env):
        if node.leaf and node.queue.deserved:
            branch = {name for above in queues.branch(env, node.path) for name in above.queue.deserved}
            for name in sorted({"cpu", "memory"} & deserved - branch):
                yield (*node.keys, "deserved", name), ABSENT


def racks(env: "Environment") -> Iterator[Use]:
    """Racks that are listed by their nodes."""
    if env.topology.racks:
        yield ("topology", "racks"), ", ".join(env.topology.racks)


def default_queues(env: "Environment") -> Iterator[Use]:
    """Default queues of tenants."""
    for name, tenant in readable(env.tenants):
        if tenant.default_queue is not None:
            yield ("tenants", name, "defaultQueue"), known(tenant.default_queue)


def two_defaults(env: "Environment") -> Iterator[Use]:
    """Default queues of tenants where another queue is called `default`."""
    if kueue.DEFAULT not in queues.leaves(env):
        return
    for name, tenant in readable(env.tenants):
        other = known(tenant.default_queue)
        if other not in (None, kueue.DEFAULT) and tenant.may_use(kueue.DEFAULT):
            yield ("tenants", name, "defaultQueue"), other


def elastic(*parts: str) -> Callable[["Environment"], Iterator[Use]]:
    """Workloads of some kind, by the first keys of their path, that may grow beyond their gang."""

    def found(env: "Environment") -> Iterator[Use]:
        for it in workloads.every(env):
            if it.at[: len(parts)] == parts:
                with suppress(Unanswerable):
                    if it.value.elastic:
                        yield (*it.at, "workers", "count"), written(it.value.workers.count)

    return found


def mpi(env: "Environment") -> Iterator[Use]:
    """Training jobs with MPI."""
    for name, job in readable(env.training.jobs):
        with suppress(Unanswerable):
            if job.framework == "mpi":
                yield ("training", "jobs", name, "framework"), job.framework


def long_names(env: "Environment") -> Iterator[Use]:
    """Training jobs of which a JobSet would make a pod with too long a name."""
    for name, job in readable(env.training.jobs):
        with suppress(Unanswerable):
            if not job_sets.fits(name, job):
                yield ("training", "jobs", name), name


def ray_setting(kind: str, name: str, value: str) -> Callable[["Environment"], Iterator[Use]]:
    """Ray jobs or services with one value of a setting."""

    def found(env: "Environment") -> Iterator[Use]:
        for it in workloads.every(env):
            if it.at[:2] == ("ray", kind) and getattr(it.value, name) == value:
                yield (*it.at, name), value

    return found


def growing(env: "Environment") -> Iterator[Use]:
    """GPU pools whose number of nodes changes."""
    for name, pool in readable(env.pools):
        with suppress(Unanswerable):
            if isinstance(pool.size, Size) and pool.size.min < pool.size.max and nodes.gpu_resources(pool):
                yield ("pools", name, "size"), {"min": pool.size.min, "max": pool.size.max}


def unlabelled(env: "Environment") -> Iterator[Use]:
    """Workloads on pools of plain machines, of whose nodes nothing says that they carry the labels of the topology."""
    if not env.topology.node_labels:
        return
    for it in workloads.every(env):
        with suppress(Unanswerable):
            pool = env.pools[it.value.pool]
            if not pool.domains and not nodes.gpu_resources(pool):
                yield (*it.at, "pool"), it.value.pool
