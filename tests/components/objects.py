"""What tests ask of a rehearsal."""

from collections.abc import Iterator, Mapping
from typing import Any

from twin.rehearsal import Rehearsal, Resource


def named(rehearsal: Rehearsal, name: str) -> Resource:
    return next(resource for resource in rehearsal.resources if resource.name == name)


def of_kind(rehearsal: Rehearsal, kind: str) -> list[Resource]:
    return [resource for resource in rehearsal.resources if resource.type.endswith(f":{kind}")]


def pod_specs(rehearsal: Rehearsal) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every pod specification, wherever it stands, with a name for it."""
    for resource in rehearsal.resources:
        for place, spec in _pod_specs(resource.inputs, ()):
            yield f"{resource.name} {'.'.join(place)}", spec


def _pod_specs(value: Any, place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    if isinstance(value, Mapping):
        if "containers" in value:
            yield place, value
        for key, entry in value.items():
            yield from _pod_specs(entry, (*place, key))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _pod_specs(entry, (*place, str(index)))


def pools_selected(spec: Mapping[str, Any]) -> tuple[str, frozenset[str]] | None:
    """How a pod selects pools: the operator and the pools, whether by node selector or affinity."""
    label = "gangline.dev/pool"
    if label in spec.get("nodeSelector", {}):
        return "In", frozenset({spec["nodeSelector"][label]})
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    for term in spec.get("affinity", {}).get("nodeAffinity", {}).get(required, {}).get("nodeSelectorTerms", ()):
        for expression in term["matchExpressions"]:
            if expression["key"] == label:
                return expression["operator"], frozenset(expression["values"])
    return None


def depends_on(rehearsal: Rehearsal, later: Resource, earlier: Resource) -> bool:
    """Whether the engine makes one resource after another, and deletes it before: by dependency, parents included."""
    by_urn = {resource.urn: resource for resource in rehearsal.resources}
    todo, seen = [later.urn], set()
    while todo:
        urn = todo.pop()
        if urn == earlier.urn:
            return True
        if urn in seen:
            continue
        seen.add(urn)
        resource = by_urn[urn]
        todo += [*resource.dependencies, *([resource.parent] if resource.parent else [])]
    return False
