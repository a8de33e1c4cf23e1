"""Teams: the namespaces they work in, the queues they may use and who they are."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from . import names, namespaces, queues, quotas
from .base import Declared, Listed
from .derived import derived
from .problems import NOTHING, Path, Problem, Subject, Unanswerable, answered, each, lost, nearest, readable
from .quantities import GIBIBYTE
from .quotas import Quota

if TYPE_CHECKING:
    from .environment import Environment


LABEL = "gangline.dev/tenant"
"""On each namespace of a tenant, with its name."""
QUEUES = "gangline.dev/queues"
"""The annotation of each that lists what its workloads may name as their queue, separated by commas."""
STORAGE = "storage"
"""In a tenant's quota: how much of the shared tier the claim in each of its namespaces holds."""


class Tenant(Declared):
    """A team."""

    namespaces: Listed[str]
    """Namespaces made for the team. Each belongs to one team only."""
    queues: Listed[str]
    """Queues (paths such as `research.llm`) that the team submits to; naming a parent includes its parts."""
    default_queue: str | None = None
    """The leaf queue of workloads that name none; written on the namespaces."""
    quota: Quota = Field(default_factory=dict)
    """Upper bound of requests per namespace (a ResourceQuota on `requests.*`), pods that wait counted in: what does not
    fit waits without pods, and takes nobody's place, whatever its priority. `storage` is the size of the namespace's
    claim of the shared tier."""
    groups: dict[Literal["admin", "edit", "view"], Listed[str]] = Field(default_factory=dict)
    """RBAC groups by the Kubernetes role (ClusterRole admin, edit or view) that they get in the namespaces."""

    def may_use(self, path: str) -> bool:
        """Whether the team may submit to a queue: to those it names and to their parts."""
        return any(path == queue or path.startswith(f"{queue}.") for queue in self.queues)


def usable(env: "Environment", tenant: Tenant) -> tuple[str, ...]:
    """The queues that a team may submit to: leaves, since work goes to no others."""
    return tuple(leaf for leaf in queues.leaves(env) if tenant.may_use(leaf))


def nameable(env: "Environment", tenant: Tenant) -> tuple[str, ...]:
    """What a workload of a team may name as its queue: one of its queues, or `default` where that means one of them."""
    stands_for = tenant.default_queue is not None and env.scheduler.kind != "kai"
    return tuple(dict.fromkeys((*usable(env, tenant), *((queues.DEFAULT,) if stands_for else ()))))


def hard(tenant: Tenant) -> dict[str, str]:
    """The `hard` of each namespace's ResourceQuota, empty without a quota.

    Only requests are limited: for extended resources such as GPUs Kubernetes knows quotas on `requests.*` alone
    (https://kubernetes.io/docs/concepts/policy/resource-quotas/), and requests equal limits there.
    """
    amounts = quotas.resolved({name: amount for name, amount in tenant.quota.items() if name != STORAGE})
    return {name if name == "pods" else f"requests.{name}": amount.text for name, amount in amounts.items()}


@derived
def by_namespace(env: "Environment") -> Mapping[str, str]:
    """The tenant of each namespace, of those that could be read."""
    owners: dict[str, str] = {}
    for name, tenant in readable(env.tenants):
        for namespace in () if lost(tenant.namespaces) else tenant.namespaces:
            if not lost(namespace):
                owners.setdefault(namespace, name)
    return MappingProxyType(owners)


@derived
def _contested(env: "Environment") -> frozenset[str]:
    owners = by_namespace(env)
    return frozenset(
        namespace
        for name, tenant in readable(env.tenants)
        for namespace in (() if lost(tenant.namespaces) else tenant.namespaces)
        if not lost(namespace) and owners[namespace] != name
    )


@derived
def _all_readable(env: "Environment") -> bool:
    return not any(
        lost(tenant) or lost(tenant.namespaces) or any(lost(namespace) for namespace in tenant.namespaces)
        for tenant in env.tenants.values()
    )


def owner(env: "Environment", namespace: str) -> str | None:
    """The tenant that a namespace belongs to; None when it is nobody's.

    Raises:
        Unanswerable: It may be one that could not be read, or two claim it.
    """
    found = by_namespace(env).get(namespace)
    if (found is None and not _all_readable(env)) or namespace in _contested(env):
        raise Unanswerable
    return found


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with each tenant by itself, and with two that claim the same namespace."""
    owners: dict[str, str] = {}
    rules = (_name, lambda it: _namespaces(it, owners), _some_queue, _amounts, _groups)
    yield from each(_TENANTS, env.tenants, env, *rules)


def references(env: "Environment") -> Iterator[Problem]:
    """Queues and resources that are not there."""
    yield from each(_TENANTS, env.tenants, env, _queues, _resources)


def limits(env: "Environment") -> Iterator[Problem]:
    """Default queues that the tenant may not use."""
    yield from each(_TENANTS, env.tenants, env, _default_queue)


_TENANTS = ("tenants",)


def _name(it: Subject[Tenant]) -> Iterator[Problem]:
    if fault := names.DNS_LABEL.fault(it.name):
        yield Problem(it.at, it.name, fault, names.DNS_LABEL.allowed, spoils=NOTHING)


def _namespaces(it: Subject[Tenant], owners: dict[str, str]) -> Iterator[Problem]:
    named = [name for name in it.env.policies.system_namespaces if not lost(name)]
    if not it.value.namespaces:
        yield Problem((*it.at, "namespaces"), [], "a tenant needs at least one namespace")
    for index, namespace in enumerate(it.value.namespaces):
        at = (*it.at, "namespaces", index)
        if lost(namespace):
            continue
        if fault := names.DNS_LABEL.fault(namespace):
            yield Problem(at, namespace, fault, names.DNS_LABEL.allowed, spoils=NOTHING)
        elif namespace in named:
            fix = "take it out of one of the two"
            message = "stands in policies.systemNamespaces, and is the platform's"
            yield Problem(at, namespace, message, "a namespace of the team's own", fix, spoils=NOTHING)
        elif namespace == "default" or namespaces.of_system(namespace):
            yield Problem(
                at, namespace, "is a namespace of the system", "a namespace of the team's own", spoils=NOTHING
            )
        elif namespace in owners:
            other = owners[namespace]
            message = "is there twice" if other == it.name else f"belongs to tenant {other} already"
            yield Problem(at, namespace, message, "each namespace once", spoils=NOTHING)
        owners.setdefault(namespace, it.name)


def _some_queue(it: Subject[Tenant]) -> Iterator[Problem]:
    if not it.value.queues:
        yield Problem((*it.at, "queues"), [], "a tenant needs at least one queue")


def _amounts(it: Subject[Tenant]) -> Iterator[Problem]:
    yield from quotas.values((*it.at, "quota"), it.value.quota)
    size = it.value.quota.get(STORAGE)
    if size is not None and not lost(size) and size.value < GIBIBYTE:
        yield Problem((*it.at, "quota", STORAGE), size.text, "is less than 1Gi", "1Gi or more")


def _resources(it: Subject[Tenant]) -> Iterator[Problem]:
    yield from quotas.references((*it.at, "quota"), it.value.quota, it.env, (STORAGE,))


def _queues(it: Subject[Tenant]) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, path in enumerate(it.value.queues):
        if not lost(path):
            yield from answered(_queue, (*it.at, "queues", index), path, seen, it.env)
            seen.add(path)


def _queue(at: Path, path: str, seen: set[str], env: "Environment") -> Iterator[Problem]:
    if path in seen:
        yield Problem(at, path, "is there twice", "each queue once", spoils=NOTHING)
    elif queues.find(env, path) is None:
        yield unknown_queue(at, path, [node.path for node in queues.flatten(env)])


def unknown_queue(at: Path, path: str, known: Sequence[str]) -> Problem:
    """The problem of a queue that nobody declared."""
    message = "there is no such queue"
    if path == queues.ROOT:
        message = "queues are below the root, which takes no jobs"
    elif path == queues.DEFAULT:
        message = "Volcano's own default queue is for use only when it is declared under queues"
    ends = [each for each in known if each.endswith(f".{path}")]
    return Problem(at, path, message, listed(known), ends[0] if len(ends) == 1 else nearest(path, known))


def listed(known: Sequence[str], most: int = 12) -> str:
    """Names for a message: all, or the first dozen and how many more there are."""
    rest = len(known) - most
    return ", ".join(known[:most]) + (f" and {rest} more" if rest > 0 else "") if known else "none is declared"


def _default_queue(it: Subject[Tenant]) -> Iterator[Problem]:
    path = it.value.default_queue
    if path is None:
        return
    at = (*it.at, "defaultQueue")
    found = queues.find(it.env, path)
    if found is not None and found.leaf and it.value.may_use(path):
        return
    its = usable(it.env, it.value)
    if found is None:
        yield unknown_queue(at, path, its)
    elif not it.value.may_use(path):
        yield Problem(at, path, "is not among the queues of this tenant", listed(its))
    else:
        yield Problem(at, path, "has parts; jobs go to leaves only", listed(its))


def _groups(it: Subject[Tenant]) -> Iterator[Problem]:
    for role, members in readable(it.value.groups):
        seen: set[str] = set()
        for index, group in enumerate(members):
            at = (*it.at, "groups", role, index)
            if lost(group):
                continue
            if not group.strip() or group != group.strip():
                yield Problem(at, group, "must be the name of a group, without spaces around it")
            elif group in seen:
                yield Problem(at, group, "is there twice", "each group once per role")
            seen.add(group)
