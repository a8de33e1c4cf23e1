"""Pieces of CEL that the laws are written with, and where an object has its pods.

Kubernetes' dialect is described at https://kubernetes.io/docs/reference/using-api/cel/. Only what 1.30 knows is used:
lists cannot be flattened there, so what is wrong is joined to a text at each level.
"""

import json
from collections.abc import Iterable

from model.pod_templates import CORE, EACH, RAY_AUTOSCALER, RAY_HEAD, TEMPLATES, Path


def literal(text: str) -> str:
    """Write a text as CEL does. Its escapes are those of JSON."""
    return json.dumps(text)


def texts(values: Iterable[str]) -> str:
    """Write a list of texts."""
    return f"[{', '.join(map(literal, values))}]"


def joined(faults: str, by: str = "; ") -> str:
    """Make one text of a list of texts of which some are empty."""
    return f"{faults}.filter(told, told != '').join({literal(by)})"


def per_pod(fault: str, of: str = "variables.pods") -> str:
    """What is wrong with each `pod`."""
    return joined(f"{of}.map(pod, {fault})")


CONTAINERS = (
    "(pod.?spec.?initContainers.orValue([]) + pod.?spec.?containers.orValue([])"
    " + pod.?spec.?ephemeralContainers.orValue([]))"
)
"""All containers of a `pod`."""


def per_container(faults: str, of: str = "variables.pods") -> str:
    """What is wrong with each `container` of each `pod`: a list of texts, told with the container's name."""
    told = f"{faults}.map(fault, 'container ' + container.?name.orValue('') + ': ' + fault).join('; ')"
    return per_pod(joined(f"{CONTAINERS}.map(container, {told})"), of)


def names(path: Path) -> str:
    """The key of a kind in `variables.kind`."""
    return "/".join(path)


KIND = "request.kind.group + '/' + request.kind.kind"
"""Kinds of different groups have the same name: a Job is Kubernetes' or Volcano's."""


def pods() -> str:
    """The expression of `variables.pods`: the object itself, or the templates of pods in it."""
    found = "[]"
    shapes: dict[str, list[str]] = {}
    for (group, kind), paths in TEMPLATES.items():
        key = names(("" if group == CORE else group, kind))
        shapes.setdefault(" + ".join(_templates(paths)), []).append(key)
    for shape, kinds in reversed(shapes.items()):
        found = f"variables.kind in {texts(kinds)} ? {shape} : {found}"
    return found


def _templates(paths: tuple[Path, ...]) -> Iterable[str]:
    for path in paths:
        if not path:
            yield "[object]"
        elif EACH not in path:
            yield f"[?object{_optional(path)}]"
        else:
            at = path.index(EACH)
            each = f".map(each, each{_optional(path[at + 1 :])}.orValue({{}}))"
            yield f"object{_optional(path[:at])}.orValue([]){each}"
        if path[-len(RAY_HEAD) :] == RAY_HEAD:
            beside = f"object{_optional((*path[: -len(RAY_HEAD)], RAY_AUTOSCALER))}"
            # What Ray's operator adds to the head, in the shape of a pod.
            yield f"[?{beside}].map(each, {{'spec': {{'containers': [each]}}}})"


def _optional(path: Path) -> str:
    return "".join(f".?{key}" for key in path)
