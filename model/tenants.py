"""Teams: the namespaces they work in, the queues they may use and who they are."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from . import names, queues
from .base import Declared, Listed
from .derived import derived
from .problems import Path, Problem, Unanswerable, answered, lost, nearest, readable
from .queues import Quota

if TYPE_CHECKING:
    from .environment import Environment

OUR_NAMESPACES = ("volcano-system", "kuberay-system", "gangline-system")
"""Namespaces that this project makes for what it installs."""


class Tenant(Declared):
    """A team."""

    namespaces: Listed[str]
    """Namespaces made for the team. Each belongs to one team only."""
    queues: Listed[str]
    """Queues (paths such as `research.llm`) that the team submits to; naming a parent includes its parts."""
    default_queue: str | None = None
    """The leaf queue of workloads that name none; written on the namespaces."""
    quota: Quota = Field(default_factory=dict)
    """Upper bound of requests per namespace (a ResourceQuota on `requests.*`)."""
    groups: dict[Literal["admin", "edit", "view"], Listed[str]] = Field(default_factory=dict)
    """RBAC groups by the Kubernetes role (ClusterRole admin, edit or view) that they get in the namespaces."""

    def may_use(self, path: str) -> bool:
        """Whether the team may submit to a queue: to those it names and to their parts."""
        return any(path == queue or path.startswith(f"{queue}.") for queue in self.queues)


def hard(tenant: Tenant) -> dict[str, str]:
    """The `hard` of each namespace's ResourceQuota, empty without a quota.

    Only requests are limited: for extended resources such as GPUs Kubernetes knows quotas on `requests.*` alone
    (https://kubernetes.io/docs/concepts/policy/resource-quotas/), and requests equal limits there.
    """
    amounts = queues.resolved(tenant.quota)
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
def _all_readable(env: "Environment") -> bool:
    return not any(
        lost(tenant) or lost(tenant.namespaces) or any(lost(namespace) for namespace in tenant.namespaces)
        for tenant in env.tenants.values()
    )


def owner(env: "Environment", namespace: str) -> str | None:
    """The tenant that a namespace belongs to; None when it is nobody's.

    Raises:
        Unanswerable: It may be one that could not be read.
    """
    found = by_namespace(env).get(namespace)
    if found is None and not _all_readable(env):
        raise Unanswerable
    return found


def problems(env: "Environment") -> Iterator[Problem]:
    """What is wrong with each tenant, and with two that claim the same."""
    owners: dict[str, Path] = {}
    for name, tenant in readable(env.tenants):
        at: Path = ("tenants", name)
        if fault := names.DNS_LABEL.fault(name):
            yield Problem(at, name, fault, names.DNS_LABEL.allowed)
        yield from answered(_namespaces, at, tenant, owners)
        for rule in (_queues, _default_queue, _quota, _groups):
            yield from answered(rule, at, tenant, env)


def _namespaces(at: Path, tenant: Tenant, owners: dict[str, Path]) -> Iterator[Problem]:
    if not tenant.namespaces:
        yield Problem((*at, "namespaces"), [], "a tenant needs at least one namespace")
    for index, namespace in enumerate(tenant.namespaces):
        here = (*at, "namespaces", index)
        if lost(namespace):
            continue
        if fault := names.DNS_LABEL.fault(namespace):
            yield Problem(here, namespace, fault, names.DNS_LABEL.allowed)
        elif namespace == "default" or namespace.startswith("kube-") or namespace in OUR_NAMESPACES:
            yield Problem(here, namespace, "is a namespace of the system", "a namespace of the team's own")
        elif namespace in owners:
            other = owners[namespace]
            message = "is there twice" if other == at else f"belongs to tenant {other[1]} already"
            yield Problem(here, namespace, message, "each namespace once")
        owners.setdefault(namespace, at)


def _queues(at: Path, tenant: Tenant, env: "Environment") -> Iterator[Problem]:
    if not tenant.queues:
        yield Problem((*at, "queues"), [], "a tenant needs at least one queue")
    seen: set[str] = set()
    for index, path in enumerate(tenant.queues):
        if not lost(path):
            yield from answered(_queue, (*at, "queues", index), path, seen, env)
            seen.add(path)


def _queue(at: Path, path: str, seen: set[str], env: "Environment") -> Iterator[Problem]:
    if path in seen:
        yield Problem(at, path, "is there twice", "each queue once")
    elif queues.find(env, path) is None:
        yield unknown_queue(at, path, [node.path for node in queues.flatten(env)])


def unknown_queue(at: Path, path: str, known: list[str]) -> Problem:
    """The problem of a queue that nobody declared."""
    message = "queues are below the root, which takes no jobs" if path == queues.ROOT else "there is no such queue"
    return Problem(at, path, message, listed(known), nearest(path, known))


def listed(known: list[str], most: int = 12) -> str:
    """Names for a message: all, or the first dozen and how many more there are."""
    rest = len(known) - most
    return ", ".join(known[:most]) + (f" and {rest} more" if rest > 0 else "") if known else "none is declared"


def _default_queue(at: Path, tenant: Tenant, env: "Environment") -> Iterator[Problem]:
    path = tenant.default_queue
    if path is None:
        return
    here = (*at, "defaultQueue")
    usable = [leaf for leaf in queues.leaves(env) if tenant.may_use(leaf)]
    found = queues.find(env, path)
    if found is None:
        yield unknown_queue(here, path, usable)
    elif not found.leaf:
        yield Problem(here, path, "has parts; jobs go to leaves only", listed(usable))
    elif not tenant.may_use(path):
        yield Problem(here, path, "is not among the queues of this tenant", listed(usable))


def _quota(at: Path, tenant: Tenant, env: "Environment") -> Iterator[Problem]:
    yield from queues.quota_problems((*at, "quota"), tenant.quota, env)


def _groups(at: Path, tenant: Tenant, _: "Environment") -> Iterator[Problem]:
    for role, members in readable(tenant.groups):
        seen: set[str] = set()
        for index, group in enumerate(members):
            here = (*at, "groups", role, index)
            if lost(group):
                continue
            if not group.strip() or group != group.strip():
                yield Problem(here, group, "must be the name of a group, without spaces around it")
            elif group in seen:
                yield Problem(here, group, "is there twice", "each group once per role")
            seen.add(group)
