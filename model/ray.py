"""Ray clusters."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from . import gangs, gpu_requests, names, nodes, queues, quotas, tenants, topology
from .base import Declared
from .counts import Count, Size, count_problems, most
from .derived import derived
from .pools import MOST_GPUS
from .problems import ABSENT, NOTHING, Problem, Subject, Unanswerable, answered, each, known, lost, nearest, readable
from .quantities import Cpu, Memory, Quantity, written

if TYPE_CHECKING:
    from .environment import Environment

NAME = names.dns_1035(53)
"""KubeRay refuses longer names, because of what it makes from them
(ray-operator/controllers/ray/utils/constant.go, MaxRayClusterNameLength)."""
MOST_WORKERS = 2**31 - 2
"""With the head they are the `minMember` of the gang's PodGroup, an int32."""
_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")
_HOST = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_PART = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_IMAGE = re.compile(
    rf"(?P<repository>(?:(?:{_HOST}(?:\.{_HOST})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?/)?{_PART}(?:/{_PART})*)"
    r"(?::(?P<tag>\w[\w.-]{0,127}))?(?P<digest>@sha256:[0-9a-f]{64})?",
    re.ASCII,
)
"""The grammar of https://github.com/distribution/reference (regexp.go)."""
_LONGEST_IMAGE = 255
"""Characters of its repository (https://github.com/distribution/reference, RepositoryNameTotalLengthMax)."""


class Head(Declared):
    """The one head pod. It runs no work of its own by default, so it asks for no GPU."""

    misplaced: ClassVar = {
        "replicas": "a Ray cluster has exactly one head pod; more pods are workers: workers.count",
        "count": "a Ray cluster has exactly one head pod; more pods are workers: workers.count",
        "gpus": "the head runs no work of its own; GPUs belong to workers: workers.gpus",
    }

    cpu: Cpu
    """Cores."""
    memory: Memory
    """Memory."""


class Workers(Declared):
    """The worker pods, all alike."""

    synonyms: ClassVar = {"replicas": "count", "size": "count", "gpu": "gpus"}

    count: Count
    """Number of pods, or {min, max, desired}: then Ray's autoscaler owns the number and the gang is head + min."""
    cpu: Cpu
    """Cores per worker."""
    memory: Memory
    """Memory per worker."""
    gpus: int = 0
    """GPUs per worker: whole ones, or parts on a pool that shares them."""
    profile: str | None = None
    """The MIG profile of its GPU, on a pool that is cut into several."""
    rdma: int | None = None
    """RDMA devices per worker, where it is not what follows from its GPUs: one ticket where NICs are shared, else its
    share of the node's. 0 for none."""


class Within(Declared):
    """A bound on where a gang may be spread."""

    level: str
    """A level of `topology`, such as `rack`: the gang stays within one domain of it."""
    mode: Literal["hard", "soft"] = "hard"
    """`hard`: waits until one domain holds it; `soft`: prefers it."""


class RayCluster(Declared):
    """A Ray cluster: head and workers, one gang."""

    namespace: str
    """A namespace of a tenant."""
    queue: str
    """A leaf queue, by path: `research.llm`."""
    pool: str
    """The pool whose nodes it runs on."""
    ray: str
    """Ray version, as text: "2.52.0". The image is rayproject/ray of that version unless `image` says otherwise."""
    image: str | None = None
    """Image of all its pods, with a tag or digest, where the usual one does not do."""
    head: Head
    """The head pod."""
    workers: Workers
    """The worker pods."""
    within: Within | None = None
    """Keep the gang within one topology domain."""
    priority: str | None = None
    """A PriorityClass."""
    checkpoints: bool = False
    """Whether workers get the tiers of checkpoints, and an uploader each."""
    env: dict[str, str] = Field(default_factory=dict)
    """Environment variables of its pods. Values are text: "1", not 1."""

    @property
    def autoscaled(self) -> bool:
        """Whether Ray's autoscaler owns the number of workers."""
        return isinstance(self.workers.count, Size)


class Ray(Declared):
    """Ray on this cluster."""

    clusters: dict[str, RayCluster] = Field(default_factory=dict)
    """Ray clusters by name."""


def image(env: "Environment", cluster: RayCluster) -> str:
    """The image of a Ray cluster's pods: the declared one, or rayproject/ray of its version.

    Tags: https://docs.ray.io/en/latest/ray-overview/installation.html#docker-source-images (`-gpu` has CUDA,
    `-aarch64` is for Arm).
    """
    if cluster.image is not None:
        return cluster.image
    arm = nodes.machine(env.pools[cluster.pool]).architecture == "arm64"
    return f"rayproject/ray:{cluster.ray}{'-gpu' if cluster.workers.gpus else ''}{'-aarch64' if arm else ''}"


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with each Ray cluster by itself."""
    yield from each(_CLUSTERS, env.ray.clusters, env, _name, _numbers, _version, _priority)


def references(env: "Environment") -> Iterator[Problem]:
    """What a Ray cluster names that is not there."""
    yield from each(_CLUSTERS, env.ray.clusters, env, _image, _pool, _namespace, _queue, _level)


def limits(env: "Environment") -> Iterator[Problem]:
    """What a Ray cluster may not have where it is."""
    yield from each(_CLUSTERS, env.ray.clusters, env, _queue_allowed, _profile, _gpus, _rdma, _gpu_variables, _pod_fits)


def fits(env: "Environment") -> Iterator[Problem]:
    """Gangs for which there is never room, and those that are no whole gang."""
    yield from answered(_quotas, env)
    yield from each(_CLUSTERS, env.ray.clusters, env, _gang_fits, _domains_known, _autoscaled)


_CLUSTERS = ("ray", "clusters")


def _name(it: Subject[RayCluster]) -> Iterator[Problem]:
    if fault := NAME.fault(it.name):
        yield Problem(it.at, it.name, fault, NAME.allowed, spoils=NOTHING)


def _numbers(it: Subject[RayCluster]) -> Iterator[Problem]:
    workers = it.value.workers
    yield from answered(count_problems, (*it.at, "workers", "count"), workers.count, MOST_WORKERS)
    if not 0 <= workers.gpus <= MOST_GPUS:
        message = "must not be negative" if workers.gpus < 0 else f"is more than {MOST_GPUS}, and no node has so many"
        yield Problem((*it.at, "workers", "gpus"), workers.gpus, message, _gpus_allowed(it))


def _gpus_allowed(it: Subject[RayCluster]) -> str:
    """How many GPUs a worker may have on its pool, or anywhere where that is not known."""
    try:
        pool = it.env.pools.get(it.value.pool)
        if pool is not None:
            offered = nodes.gpu_resources(pool)
            return "0" if not offered else "0, 1" if pool.plan else f"0 to {sum(offered.values())}"
    except Unanswerable:
        pass
    return f"0 to {MOST_GPUS}"


def _version(it: Subject[RayCluster]) -> Iterator[Problem]:
    if not _VERSION.fullmatch(known(it.value.ray)):
        yield Problem((*it.at, "ray"), it.value.ray, "must be one exact version", 'such as "2.52.0"')


def _priority(it: Subject[RayCluster]) -> Iterator[Problem]:
    priority = it.value.priority
    if priority is not None and (fault := names.subdomain_fault(priority)):
        yield Problem((*it.at, "priority"), priority, fault, names.DNS_SUBDOMAIN.allowed)


def _image(it: Subject[RayCluster]) -> Iterator[Problem]:
    image, version = known(it.value.image), known(it.value.ray)
    if image is None:
        return
    at, allowed = (*it.at, "image"), "[registry/]repository in lower case, with a tag or digest"
    match = _IMAGE.fullmatch(image)
    if match is None or len(match["repository"]) > _LONGEST_IMAGE:
        yield Problem(at, image, "is no image reference", allowed, f"rayproject/ray:{version}")
    elif match["digest"] is None and match["tag"] in (None, "latest"):
        message = "names no exact image, so pods of one cluster may differ"
        yield Problem(at, image, message, allowed, f"{match['repository']}:{version}")
    elif match["tag"] and (tagged := _VERSION.match(match["tag"])) and tagged[0] != version:
        message = f"has Ray {tagged[0]}, the cluster says {version}"
        yield Problem(at, image, message, f"Ray {version} in both", image.replace(tagged[0], version))


def _pool(it: Subject[RayCluster]) -> Iterator[Problem]:
    pool, pools = it.value.pool, it.env.pools
    if pool not in pools:
        yield Problem((*it.at, "pool"), pool, "there is no such pool", ", ".join(pools), nearest(pool, pools))


def _namespace(it: Subject[RayCluster]) -> Iterator[Problem]:
    namespace = it.value.namespace
    if tenants.owner(it.env, namespace) is None:
        owned = sorted(tenants.by_namespace(it.env))
        message = "no tenant has this namespace"
        yield Problem((*it.at, "namespace"), namespace, message, tenants.listed(owned), nearest(namespace, owned))


def _queue(it: Subject[RayCluster]) -> Iterator[Problem]:
    path, leaves = it.value.queue, queues.leaves(it.env)
    found = queues.find(it.env, path)
    if found is None:
        yield tenants.unknown_queue((*it.at, "queue"), path, leaves)
    elif not found.leaf:
        below = [leaf for leaf in leaves if leaf.startswith(f"{path}.")]
        yield Problem((*it.at, "queue"), path, "has parts; jobs go to leaves only", tenants.listed(below))


def _level(it: Subject[RayCluster]) -> Iterator[Problem]:
    if it.value.within is None:
        return
    name, levels = it.value.within.level, [level.name for level in topology.levels(it.env)]
    if name not in levels:
        message = "topology has no such level" if levels else "there is no topology"
        yield Problem((*it.at, "within", "level"), name, message, ", ".join(levels) or None, nearest(name, levels))


def _queue_allowed(it: Subject[RayCluster]) -> Iterator[Problem]:
    path, namespace = it.value.queue, it.value.namespace
    owner = tenants.owner(it.env, namespace)
    if owner is not None and not it.env.tenants[owner].may_use(path):
        usable = [leaf for leaf in queues.leaves(it.env) if it.env.tenants[owner].may_use(leaf)]
        message = f"tenant {owner}, whose namespace {namespace} is, may not use this queue"
        yield Problem((*it.at, "queue"), path, message, tenants.listed(usable))


def _profile(it: Subject[RayCluster]) -> Iterator[Problem]:
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


def _gpus(it: Subject[RayCluster]) -> Iterator[Problem]:
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


def _rdma(it: Subject[RayCluster]) -> Iterator[Problem]:
    pool, rdma = it.env.pools[it.value.pool], known(it.value.workers.rdma)
    if rdma and pool.plan and pool.plan.mig:
        message = f"pool {it.value.pool} is cut into instances, which are not for work that spans GPUs"
        yield Problem((*it.at, "workers", "rdma"), rdma, message, "0, or a pool of whole GPUs")


def _gpu_variables(it: Subject[RayCluster]) -> Iterator[Problem]:
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


def _pod_fits(it: Subject[RayCluster]) -> Iterator[Problem]:
    for part in ("head", "workers"):
        for resource in ("cpu", "memory"):
            yield from answered(_part_fits, it, part, resource)


def _part_fits(it: Subject[RayCluster], part: str, resource: str) -> Iterator[Problem]:
    amount: Quantity = getattr(getattr(it.value, part), resource)
    beside, whose = gangs.beside(it.value, part).get(resource, Decimal(0)), gangs.SIDECARS[part]
    offered = nodes.offered(it.env, it.value.pool)[resource]
    if amount.value + beside > offered:
        plus = f" and its {whose} for {written(resource, beside)}" if beside else ""
        asks = f"a {part.removesuffix('s')} asks for {amount}{plus} of {resource}"
        message = f"{asks}, a node of pool {it.value.pool} offers {written(resource, offered)}"
        yield Problem((*it.at, part, resource), amount.text, message, f"at most {written(resource, offered - beside)}")


@derived
def _small_quotas(env: "Environment") -> Mapping[tuple[str, str], Mapping[str, str]]:
    """Quotas, by tenant and resource, in which none of a team's Ray clusters fits, with what each needs.

    Where there are several that is one mistake, made in the quota.
    """
    clusters, broken = Counter[str](), dict[tuple[str, str], dict[str, str]]()
    for name, cluster in readable(env.ray.clusters):
        with suppress(Unanswerable):
            owner, workers = tenants.owner(env, cluster.namespace), gangs.ray_gang(env, name).workers
            if owner is None:
                continue
            clusters[owner] += 1
            for bound in gangs.bounds(env, name):
                if bound.quota and bound.workers < workers:
                    broken.setdefault(bound.quota, {})[name] = bound.needs(workers)
    return MappingProxyType({at: needs for at, needs in broken.items() if len(needs) == clusters[at[0]] > 1})


def _quotas(env: "Environment") -> Iterator[Problem]:
    for (tenant, resource), needs in _small_quotas(env).items():
        quota = env.tenants[tenant].quota
        key = next(name for name in quota if quotas.resource_name(name) == resource)
        told = ", ".join(f"{name} needs {needed}" for name, needed in needs.items())
        message = f"none of the Ray clusters in its namespaces fits: {told}"
        yield Problem(("tenants", tenant, "quota", key), quota[key].text, message, "as much as the smallest needs")


def _gang_fits(it: Subject[RayCluster]) -> Iterator[Problem]:
    """One problem with every bound that the gang breaks: the tightest alone would only lead to the next."""
    count = it.value.workers.count
    gang, whole = gangs.ray_gang(it.env, it.name).workers, most(count)
    small = _small_quotas(it.env)
    bounds = [bound for bound in gangs.bounds(it.env, it.name) if bound.quota not in small]
    at, value = (*it.at, "workers", "count"), _count(count)
    if hard := [bound for bound in bounds if bound.hard and bound.workers < gang]:
        broken = "; ".join(bound.broken_by(gang) for bound in hard)
        room = min(bound.workers for bound in hard)
        allowed = f"at most {room} workers" if room >= 0 else "a smaller head, or more room for it"
        yield Problem(at, value, f"the gang never fits: {broken}", allowed)
        return
    for workers, beginning in ((gang, "the gang does not fit"), (whole, "at its largest it does not fit")):
        if soft := [bound for bound in bounds if bound.workers < workers]:
            broken = "; ".join(bound.broken_by(workers) for bound in soft)
            room = max(min(bound.workers for bound in soft), 0)
            yield Problem(at, value, f"{beginning}: {broken}", f"at most {room} workers", severity="warning")
            return


def _count(count: int | Size) -> object:
    return {"min": count.min, "max": count.max} if isinstance(count, Size) else count


def _domains_known(it: Subject[RayCluster]) -> Iterator[Problem]:
    within, pool = it.value.within, it.value.pool
    # On AWS nobody can say beforehand: the scheduler sees it once the nodes are there.
    if within is None or it.env.topology.source or topology.largest_domain(it.env, pool, within.level) is not None:
        return
    message = f"how many domains of it pool {pool} fills is not said, so whether the gang fits is unknown"
    fix = f"pools.{pool}.domains: {{{within.level}: …}}"
    yield Problem((*it.at, "within", "level"), within.level, message, fix=fix, severity="warning")


def _autoscaled(it: Subject[RayCluster]) -> Iterator[Problem]:
    count = it.value.workers.count
    if isinstance(count, Size) and count.min < count.max:
        later = count.max - count.min
        message = f"the gang is the head and {count.min} workers; {later} more come one by one, each when there is room"
        allowed = "a fixed count where all must start together"
        yield Problem((*it.at, "workers", "count"), _count(count), message, allowed, severity="warning")
