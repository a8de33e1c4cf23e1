"""What pods ask for, and which of them are alike."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from model.quantities import Quantity
from model.waiting.seen import Amounts, Shape, total

Spec = Mapping[str, Any]


def requests(spec: Spec) -> Amounts:
    """Give what a pod asks for, as the scheduler counts it, in base units.

    Its containers and sidecars together, or the largest init container where that is more, and its overhead
    (https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#resource-sharing-within-containers).
    """
    first = spec.get("initContainers") or ()
    sidecars = [_asked(each) for each in first if each.get("restartPolicy") == "Always"]
    running = total([*(_asked(each) for each in spec["containers"]), *sidecars])
    starting = [_asked(each) for each in first if each.get("restartPolicy") != "Always"]
    peak = {
        name: max([running.get(name, Decimal(0)), *(each.get(name, Decimal(0)) for each in starting)])
        for name in {*running, *(name for each in starting for name in each)}
    }
    return total([peak, {name: Quantity.parse(amount).value for name, amount in (spec.get("overhead") or {}).items()}])


def _asked(container: Spec) -> Amounts:
    resources = container.get("resources") or {}
    found = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return {name: Quantity.parse(amount).value for name, amount in found.items()}


def shape_of(spec: Spec, count: int) -> Shape:
    """Give the shape of so many pods of a specification."""
    tolerated = frozenset(
        (each.get("key") or "", (each.get("value") or "") if each.get("operator", "Equal") == "Equal" else None)
        for each in spec.get("tolerations") or ()
        if each.get("effect") != "PreferNoSchedule"
    )
    return Shape(count, requests(spec), spec.get("nodeSelector") or {}, tolerated)


def shapes(found: Iterable[Shape], members: int) -> tuple[Shape, ...]:
    """Give the shapes of a gang: pods that are alike together, as many in all as must start together.

    Args:
        found: Shapes of its pods as far as they are there.
        members: How many must start together. The most common shape makes up the difference: pods that a quota keeps
            away, and those beyond the least that an elastic gang starts with.
    """
    alike: list[Shape] = []
    for shape in found:
        for index, other in enumerate(alike):
            if replace(other, count=0) == replace(shape, count=0):
                alike[index] = replace(other, count=other.count + shape.count)
                break
        else:
            alike.append(shape)
    if not alike:
        return ()
    common = max(range(len(alike)), key=lambda index: alike[index].count)
    others = sum(shape.count for index, shape in enumerate(alike) if index != common)
    alike[common] = replace(alike[common], count=max(0, members - others))
    return tuple(shape for shape in alike if shape.count)


def away(taints: Iterable[str], *, ready: bool, cordoned: bool) -> str | None:
    """Say why nothing new is put on a node; None when it takes pods.

    Args:
        taints: Keys of its taints that keep pods away.
        ready: Whether it is ready.
        cordoned: Whether it is marked as unschedulable.
    """
    if not ready:
        return "not ready"
    if cordoned:
        return "cordoned"
    kept = sorted(key.removeprefix("node.kubernetes.io/") for key in taints if key.startswith("node.kubernetes.io/"))
    return kept[0] if kept else None
