"""Quotas: amounts by resource, as queues and teams have them."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from . import nodes
from .problems import Path, Problem, answered, lost, nearest
from .quantities import BYTES, MEBIBYTE, Quantity

if TYPE_CHECKING:
    from .environment import Environment

Quota = dict[str, Quantity]
"""Amounts by resource: cpu, memory, gpu (short for nvidia.com/gpu) or a resource that some pool advertises."""

UNCOUNTED = "ephemeral-storage"
"""The resource of which the pools do not say how much they have."""
_BASIC = ("cpu", "memory", UNCOUNTED, "pods")
_HUGE_PAGES = "hugepages-"
"""How the resources of huge pages begin, the one kind beside the basic ones whose name has no slash."""


def resource_name(name: str) -> str:
    """The Kubernetes name of a resource in a quota: `gpu` is short for `nvidia.com/gpu`."""
    return nodes.GPU if name == "gpu" else name


def key(quota: Quota, resource: str) -> str:
    """The name by which a quota has a resource, or would have it."""
    return "gpu" if resource == nodes.GPU and resource not in quota else resource


def resolved(quota: Quota) -> dict[str, Quantity]:
    """A quota by the Kubernetes names of its resources."""
    return {resource_name(name): amount for name, amount in quota.items()}


def values(at: Path, quota: Quota) -> Iterator[Problem]:
    """What is wrong with the amounts of a quota."""
    for name in quota:
        yield from answered(_amount_of, (*at, name), name, quota)


def _amount_of(at: Path, name: str, quota: Quota) -> Iterator[Problem]:
    if name == "gpu" and nodes.GPU in quota:
        yield Problem(at, name, f"is short for {nodes.GPU}, which is there too", "one of both")
        return
    amount = quota[name]
    if ("/" in resource_name(name) or name == "pods") and amount.value % 1:
        yield Problem(at, amount.text, f"{name} is counted in whole numbers", "a whole number")
    if name == "cpu" and amount.value * 1000 % 1:
        yield Problem(at, amount.text, "is finer than 1m, a thousandth of a core", "whole millicores")
    if name in BYTES and 0 < amount.value < MEBIBYTE:
        meant = f"{amount.text[:-1]}Mi" if amount.text.endswith("m") else None
        yield Problem(at, amount.text, f"is less than 1Mi of {name}", "1Mi or more", meant)


def references(
    at: Path, quota: Quota, env: "Environment", others: tuple[str, ...] = (), useless: tuple[str, ...] = ()
) -> Iterator[Problem]:
    """Resources of a quota that nothing offers; upstream any key is legal, and limits nothing.

    Args:
        at: Where the quota stands.
        quota: The quota.
        env: The environment around it.
        others: What else it may speak of.
        useless: What exists but has no effect here, so that nobody meant it.
    """
    offered = nodes.sure_devices(env)
    known = [*_BASIC, *others, *(["gpu"] if nodes.GPU in offered else []), *sorted(offered)]
    meant = [name for name in known if name not in useless]
    for name in quota:
        if name not in known:
            yield from answered(_unknown_resource, (*at, name), name, meant, env)


_OF_QUOTAS = re.compile(r"^(requests|limits)\.")
"""How a ResourceQuota of Kubernetes begins the names of what it limits."""


def _unknown_resource(at: Path, name: str, known: list[str], env: "Environment") -> Iterator[Problem]:
    plain = _OF_QUOTAS.sub("", name)
    if plain in known:
        yield Problem(at, name, "is how a ResourceQuota calls it; here it is without that", ", ".join(known), plain)
    elif "/" not in resource_name(name) and not name.startswith(_HUGE_PAGES):
        yield Problem(at, name, "is no resource", ", ".join(known), nearest(name, known))
    elif resource_name(name) not in nodes.devices(env):
        whole = f"whole GPUs ({nodes.GPU})" if name == "gpu" else "this resource"
        meant = nearest(resource_name(name), [found for found in known if found not in (*_BASIC, "gpu")])
        yield Problem(at, name, f"no pool offers {whole}", ", ".join(known), meant)


def misnamed(quota: Quota, env: "Environment") -> bool:
    """Whether it limits something that is not there, which is told: what was meant may be anything that is."""
    unread = [resource_name(name) for name in quota if lost(quota[name])]
    return any(name not in (*_BASIC, *nodes.devices(env)) for name in unread)
