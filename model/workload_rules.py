"""What is wrong with workloads, whatever kind they are: what they name, and what they ask for."""

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING

from . import gangs, gpu_requests, names, nodes, queues, tenants, topology
from .counts import Count, Size, count_problems
from .pools import MOST_GPUS
from .problems import ABSENT, NOTHING, Path, Problem, Subject, Unanswerable, answered, known, lost, nearest
from .quantities import Quantity, written
from .workloads import Leader, Workers, Workload, judged

if TYPE_CHECKING:
    from .environment import Environment

MOST_WORKERS = 2**31 - 2
"""With a pod that leads they are the `minMember` of the gang's PodGroup, an int32."""


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with each workload by itself."""
    yield from judged(env, _numbers, _priority)


def references(env: "Environment") -> Iterator[Problem]:
    """What a workload names that is not there."""
    yield from judged(env, _pool, _namespace, _queue, _level)


def limits(env: "Environment") -> Iterator[Problem]:
    """What a workload may not have where it is."""
    yield from judged(env, _queue_allowed, _profile, _gpus, _rdma, _gpu_variables, _pod_fits)


def _numbers(it: Subject[Workload]) -> Iterator[Problem]:
    workers, at = it.value.workers, (*it.at, "workers", "count")
    yield from answered(_count, at, workers.count)
    if not 0 <= workers.gpus <= MOST_GPUS:
        message = "must not be negative" if workers.gpus < 0 else f"is more than {MOST_GPUS}, and no node has so many"
        yield Problem((*it.at, "workers", "gpus"), workers.gpus, message, _gpus_allowed(it))


def _count(at: Path, count: Count) -> Iterator[Problem]:
    """Workers are no nodes: nobody starts more of them than `min` before there is work or room for them."""
    if isinstance(count, Size) and count.desired is not None:
        message = "it begins with min workers and gets more, up to max, one by one"
        yield Problem((*at, "desired"), known(count.desired), message, "min and max", "leave it out", spoils=NOTHING)
        count = count.model_copy(update={"desired": None})
    yield from count_problems(at, count, MOST_WORKERS)


def _gpus_allowed(it: Subject[Workload]) -> str:
    """How many GPUs a worker may have on its pool, or anywhere where that is not known."""
    try:
        pool = it.env.pools.get(it.value.pool)
        if pool is not None:
            offered = nodes.gpu_resources(pool)
            return "0" if not offered else "0, 1" if pool.plan else f"0 to {sum(offered.values())}"
    except Unanswerable:
        pass
    return f"0 to {MOST_GPUS}"


def _priority(it: Subject[Workload]) -> Iterator[Problem]:
    priority = it.value.priority
    if priority is not None and (fault := names.subdomain_fault(priority)):
        yield Problem((*it.at, "priority"), priority, fault, names.DNS_SUBDOMAIN.allowed)


def _pool(it: Subject[Workload]) -> Iterator[Problem]:
    pool, pools = it.value.pool, it.env.pools
    if pool not in pools:
        yield Problem((*it.at, "pool"), pool, "there is no such pool", ", ".join(pools), nearest(pool, pools))


def _namespace(it: Subject[Workload]) -> Iterator[Problem]:
    namespace = it.value.namespace
    if tenants.owner(it.env, namespace) is None:
        owned = sorted(tenants.by_namespace(it.env))
        message = "no tenant has this namespace"
        yield Problem((*it.at, "namespace"), namespace, message, tenants.listed(owned), nearest(namespace, owned))


def _queue(it: Subject[Workload]) -> Iterator[Problem]:
    path, leaves = it.value.queue, queues.leaves(it.env)
    found = queues.find(it.env, path)
    if found is None:
        yield tenants.unknown_queue((*it.at, "queue"), path, leaves)
    elif not found.leaf:
        below = [leaf for leaf in leaves if leaf.startswith(f"{path}.")]
        yield Problem((*it.at, "queue"), path, "has parts; jobs go to leaves only", tenants.listed(below))


def _level(it: Subject[Workload]) -> Iterator[Problem]:
    if it.value.within is None:
        return
    name, levels = it.value.within.level, [level.name for level in topology.levels(it.env)]
    if name not in levels:
        message = "topology has no such level" if levels else "there is no topology"
        fix = nearest(name, levels) if levels else "leave out within, or topology: {labels: [...]}"
        yield Problem((*it.at, "within", "level"), name, message, ", ".join(levels) or None, fix)


def _queue_allowed(it: Subject[Workload]) -> Iterator[Problem]:
    path, namespace = it.value.queue, it.value.namespace
    owner = tenants.owner(it.env, namespace)
    if owner is not None and not it.env.tenants[owner].may_use(path):
        usable = [leaf for leaf in queues.leaves(it.env) if it.env.tenants[owner].may_use(leaf)]
        message = f"tenant {owner}, whose namespace {namespace} is, may not use this queue"
        yield Problem((*it.at, "queue"), path, message, tenants.listed(usable))


def _profile(it: Subject[Workload]) -> Iterator[Problem]:
    """Which part of a GPU is meant must be clear."""
    workers, pool = it.value.workers, it.env.pools[it.value.pool]
    at, profile, cut = (*it.at, "workers", "profile"), known(workers.profile), pool.plan and pool.plan.mig
    offered, profiles = nodes.gpu_resources(pool), list(cut.profiles) if cut else []
    if profile is None:
        if workers.gpus > 0 and len(offered) > 1:
            message = f"pool {it.value.pool} is cut into several profiles, so which one is meant must be said"
            yield Problem(at, ABSENT, message, ", ".join(profiles), f"profile: {profiles[0]}")
    elif cut is None:
        message = f"the GPUs of pool {it.value.pool} are not cut into instances"
        yield Problem(at, profile, message, "no profile", "leave out profile")
    elif profile not in profiles:
        message = f"pool {it.value.pool} has no instances of this profile"
        meant = nearest(profile.removeprefix(gpu_requests.MIG).removesuffix(gpu_requests.SHARED), profiles)
        yield Problem(at, profile, message, ", ".join(profiles), meant)
    elif workers.gpus == 0:
        yield Problem(at, profile, "names a part of a GPU, and gpus is 0", "no profile, or gpus: 1", "gpus: 1")


def _gpus(it: Subject[Workload]) -> Iterator[Problem]:
    workers, name = it.value.workers, it.value.pool
    pool, gpus, at = it.env.pools[name], workers.gpus, (*it.at, "workers", "gpus")
    offered, both = nodes.gpu_resources(pool), (at, (*it.at, "pool"))
    if gpus > 0 and not offered:
        yield Problem(at, gpus, f"pool {name} has no GPUs", "0", spoils=both)
        return
    resource = nodes.gpu_resource(pool, workers.profile)
    if resource is None:
        return
    cut = pool.plan is not None and pool.plan.mig is not None
    if why := gpu_requests.fault(resource, gpus, cut=cut):
        yield Problem(at, gpus, f"pool {name} shares its GPUs: {why}", "0, 1", spoils=both)
    elif gpus > (has := offered[resource]):
        message = f"a worker asks for {gpus} of {resource}, a node of pool {name} offers {has}"
        yield Problem(at, gpus, message, f"at most {has}")


def _rdma(it: Subject[Workload]) -> Iterator[Problem]:
    pool, rdma = it.env.pools[it.value.pool], known(it.value.workers.rdma)
    if rdma and pool.plan and pool.plan.mig:
        message = f"pool {it.value.pool} is cut into instances, which are not for work that spans GPUs"
        yield Problem((*it.at, "workers", "rdma"), rdma, message, "0, or a pool of whole GPUs")


def _gpu_variables(it: Subject[Workload]) -> Iterator[Problem]:
    """Variables of GPUs that are not the pods' own to set: what the laws about workloads refuse, told before."""
    at, variables = (*it.at, "env"), known(it.value.env)
    visible = variables.get(gpu_requests.VISIBLE)
    if visible is not None and not lost(visible) and (why := gpu_requests.visibility_fault(visible)):
        message = f"{why}; what they ask for says which they get"
        yield Problem((*at, gpu_requests.VISIBLE), visible, message, "void, none", "leave it out")
    plan = it.env.pools[it.value.pool].plan
    if plan and plan.mps and it.value.workers.gpus > 0:
        for name, why in gpu_requests.mps_faults((), variables, host_ipc=False):
            yield Problem((*at, name), known(variables[name]), why, "no such variable", "leave it out")


def _pod_fits(it: Subject[Workload]) -> Iterator[Problem]:
    for part in filter(None, (it.value.leader, "workers")):
        for resource in ("cpu", "memory"):
            yield from answered(_part_fits, it, part, resource)


def _part_fits(it: Subject[Workload], part: str, resource: str) -> Iterator[Problem]:
    pod: Leader | Workers | None = getattr(it.value, part)
    if pod is None:
        return
    amount: Quantity = getattr(pod, resource)
    with_it = [sidecar for sidecar in gangs.sidecars(it.value, part) if resource in sidecar.amounts]
    beside = sum((sidecar.amounts[resource] for sidecar in with_it), Decimal(0))
    offered = nodes.offered(it.env, it.value.pool)[resource]
    if amount.value + beside > offered:
        whose = " and ".join(sidecar.called for sidecar in with_it)
        plus = f" and its {whose} for {written(resource, beside)}" if beside else ""
        asks = f"a {part.removesuffix('s')} asks for {amount}{plus} of {resource}"
        message = f"{asks}, a node of pool {it.value.pool} offers {written(resource, offered)}"
        yield Problem((*it.at, part, resource), amount.text, message, f"at most {written(resource, offered - beside)}")
