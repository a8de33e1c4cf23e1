"""The claims of the shared tier: one in each namespace of a tenant, of the size that the tenant's quota says."""

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING

from model import aws, names, tenants
from model.derived import derived
from model.problems import (
    ABSENT,
    NOTHING,
    Path,
    Problem,
    Subject,
    Unanswerable,
    answered,
    each,
    known,
    lost,
    nearest,
    readable,
)
from model.quantities import Quantity, beside, written
from model.quantities import readable as told
from model.tenants import STORAGE

from .names import CLAIM
from .shared import ExistingClaims, ExistingClass

if TYPE_CHECKING:
    from model.environment import Environment
    from model.tenants import Tenant

CLASS = "shared"
"""The class of those claims whose volumes are made beforehand."""
_AT: Path = ("storage", "shared")
_ALIKE = (STORAGE, "ephemeral-storage")
"""Names of quotas, of which a misspelt one is the nearest to either."""


def claim(env: "Environment", namespace: str) -> str | None:
    """The claim of the shared tier in a namespace of a tenant; None where there is none."""
    shared = known(env.storage.shared)
    if shared is None:
        return None
    if isinstance(shared, ExistingClaims):
        return shared.claims.get(namespace)
    return CLAIM


def storage_class(env: "Environment") -> str | None:
    """The class of the claims that are made; None where none are."""
    shared = known(env.storage.shared)
    if shared is None or isinstance(shared, ExistingClaims):
        return None
    return shared.name if isinstance(shared, ExistingClass) else CLASS


def prepared(env: "Environment") -> bool:
    """Whether the claims' volumes are made beforehand, and not by the class itself."""
    shared = known(env.storage.shared)
    return shared is not None and not isinstance(shared, (ExistingClass, ExistingClaims))


def kept(env: "Environment") -> bool:
    """Whether a `destroy` leaves the tenants' namespaces, and the claims in them, as they are.

    Where volumes are a class's own, it says what happens to the data of a claim that goes with its namespace.
    """
    return aws.permanent(env) and isinstance(known(env.storage.shared), (ExistingClass, ExistingClaims))


def size(env: "Environment", tenant: str) -> Quantity:
    """The size of the claim in each namespace of a tenant.

    Raises:
        Unanswerable: It could not be read.
    """
    given = known(env.tenants[tenant].quota).get(STORAGE)
    if given is None:
        raise Unanswerable
    return known(given)


def hard(env: "Environment", tenant: str) -> dict[str, str]:
    """What a namespace's ResourceQuota says of the shared tier.

    By class, so that claims of other classes are not counted against it
    (https://kubernetes.io/docs/concepts/policy/resource-quotas/#storage-resource-quota).
    """
    of = storage_class(env)
    return {} if of is None else {f"{of}.storageclass.storage.k8s.io/requests.storage": size(env, tenant).text}


def references(env: "Environment") -> Iterator[Problem]:
    """Tenants whose claim has no size, sizes without a shared tier, and claims in namespaces of nobody."""
    yield from each(("tenants",), env.tenants, env, _size)
    yield from answered(_namespaces, env)


def _size(it: Subject["Tenant"]) -> Iterator[Problem]:
    shared, at = known(it.env.storage.shared), (*it.at, "quota", STORAGE)
    quota = known(it.value.quota)
    given = quota.get(STORAGE)
    if shared is not None and not isinstance(shared, ExistingClaims):
        if given is None and not any(
            nearest(name, _ALIKE) == STORAGE for name in quota
        ):  # a misspelt one is told already
            message = "says how much of storage.shared the claim in each of its namespaces holds"
            most = None if lost(shared.size) else f"at most {shared.size}"
            yield Problem(at, ABSENT, message, most, f"quota: {{{STORAGE}: …}}")
    elif given is not None and not lost(given):
        why = "the claims are there already" if shared else "there is no storage.shared of which it could be"
        yield Problem(at, given.text, why, fix="leave it out")


def _namespaces(env: "Environment") -> Iterator[Problem]:
    shared = known(env.storage.shared)
    if not isinstance(shared, ExistingClaims):
        return
    owned = tenants.by_namespace(env)
    unclaimed = [namespace for namespace in owned if namespace not in shared.claims]
    for namespace in shared.claims:
        if tenants.owner(env, namespace) is None:
            message, meant = "is a namespace of no tenant", nearest(namespace, unclaimed)
            at = (*_AT, "claims", namespace)
            yield Problem(at, namespace, message, ", ".join(owned) or None, meant)
            unclaimed = [it for it in unclaimed if it != meant]  # whose claim it is, once it is spelt right
    for namespace in unclaimed:
        at = (*_AT, "claims", namespace)
        yield Problem(at, ABSENT, "a tenant works in this namespace, and which claim is its?", "the claim's name")


def values(env: "Environment") -> Iterator[Problem]:
    """Names that cannot be those of a class or a claim."""
    shared = known(env.storage.shared)
    if isinstance(shared, ExistingClass) and (fault := names.subdomain_fault(known(shared.name))):
        yield Problem((*_AT, "name"), shared.name, fault, names.DNS_SUBDOMAIN.allowed, spoils=NOTHING)
    if isinstance(shared, ExistingClaims):
        for namespace, name in readable(shared.claims):
            if fault := names.subdomain_fault(name):
                at = (*_AT, "claims", namespace)
                yield Problem(at, name, fault, names.DNS_SUBDOMAIN.allowed, spoils=NOTHING)


def limits(env: "Environment") -> Iterator[Problem]:
    """Claims that hold more, all together, than there is."""
    shared = known(env.storage.shared)
    if shared is None or isinstance(shared, ExistingClaims):
        return
    total = _claimed(env)
    if total > known(shared.size).value:
        has, asked = beside("memory", shared.size, Quantity.parse(written("memory", total)))
        message = f"the claims of all tenants hold {asked} in sum, it has {has}"
        least = written("memory", total)
        spoils = (*((("tenants", name, "quota", STORAGE)) for name in env.tenants), (*_AT, "size"))
        yield Problem(
            (*_AT, "size"),
            shared.size.text,
            message,
            f"at least {told('memory', total)}",
            f"size: {least}",
            spoils=spoils,
        )


@derived
def _claimed(env: "Environment") -> Decimal:
    found = ((tenant, size(env, name).value) for name, tenant in env.tenants.items())
    return sum((each * len(tenant.namespaces) for tenant, each in found), Decimal(0))
