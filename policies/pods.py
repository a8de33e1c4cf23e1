"""Finds the pods that a resource makes, whatever kind of workload it is."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from model.pod_templates import EACH, RAY_AUTOSCALER, RAY_HEAD, TEMPLATES
from policies.fields import SIGNATURE, Field, UnreadableError, absent

_TYPE = re.compile(
    r"kubernetes:(?P<group>[^:/]+)/(?P<version>[^:/]+):(?P<kind>[A-Za-z0-9]+?)(?P<patch>Patch)?(?P<list>List)?"
)
_GROUPS = {"extensions": "apps"}  # Deployment and DaemonSet lived there once, and the provider still takes them
_NOT_OBJECTS = frozenset({"helm.sh"})  # a release holds values of a chart, which may look like anything
_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")


@dataclass(frozen=True)
class Pod:
    """A pod, or the template of one.

    Attributes:
        group: API group of the object that makes it, `core` for the nameless one.
        kind: Kind of that object.
        object: That object, from `metadata` down.
        metadata: The metadata of the pod.
        spec: The specification of the pod.
        containers: Its containers of all kinds, and what an operator adds to them.
        partial: Whether the object is a patch of one that somebody else wrote, so that anything may be missing.
    """

    group: str
    kind: str
    object: Field
    metadata: Field
    spec: Field
    containers: tuple[Field, ...]
    partial: bool


@dataclass(frozen=True)
class Walk:
    """What was found in a resource: its pods, and the places that may hold more of them but cannot be read."""

    pods: tuple[Pod, ...] = ()
    unreadable: tuple[UnreadableError, ...] = ()


@dataclass(frozen=True)
class _Kind:
    """What a type token says of pods: the paths to their templates, None where only their looks tell."""

    group: str
    kind: str
    patch: bool
    list: bool
    paths: tuple[tuple[str, ...], ...] | None


@lru_cache(maxsize=1024)
def _kind(token: str) -> _Kind | None:
    """Read a type token; None for one that makes no pods."""
    match = _TYPE.fullmatch(token)
    if match is None or match["group"] in _NOT_OBJECTS:
        return None
    group = _GROUPS.get(match["group"], match["group"])
    paths = TEMPLATES.get((group, match["kind"]))
    if paths is None and ("." not in group or group.endswith(".k8s.io")):
        return None
    return _Kind(group, match["kind"], match["patch"] is not None, match["list"] is not None, paths)


def may_hold(token: str) -> bool:
    """Whether a resource of that type may make pods."""
    return _kind(token) is not None


def walk(token: str, properties: Callable[[], Field]) -> Walk:
    """Find the pods of a resource by its type token and its properties, which are read only where there may be pods."""
    kind = _kind(token)
    if kind is None:
        return Walk()
    walker = _Walker(kind.group, kind.kind, partial=kind.patch)
    for owner in walker.read(properties(), "items") if kind.list else [properties()]:
        walker.visit(owner, kind.paths)
    return Walk(tuple(walker.pods), tuple(walker.unreadable))


class _Walker:
    """Goes through the objects of one kind."""

    def __init__(self, group: str, kind: str, partial: bool) -> None:
        self.group, self.kind, self.partial = group, kind, partial
        self.pods: list[Pod] = []
        self.unreadable: list[UnreadableError] = []

    def visit(self, owner: Field, paths: tuple[tuple[str, ...], ...] | None) -> None:
        """Find the pods of one object: at the paths of its kind, or by their looks where the kind is not known."""
        if paths is None:
            for metadata, spec in _resembling(owner):
                self._add(owner, metadata, spec)
        else:
            for path in paths:
                self._follow(owner, owner, path)

    def read(self, field: Field, *keys: str) -> list[Field]:
        """Give the items of a list, or of one inside; note what cannot be read."""
        try:
            return field.at(*keys).items()
        except UnreadableError as error:
            self.unreadable.append(error)
            return []

    def _follow(self, owner: Field, here: Field, path: tuple[str, ...]) -> None:
        """Follow a path from a field; what is missing there gives nothing, what is unknown is taken for a pod."""
        beside: tuple[Field, ...] = ()
        try:
            for index, key in enumerate(path):
                if key == EACH:
                    for item in self.read(here):
                        self._follow(owner, item, path[index + 1 :])
                    return
                if path[index:] == RAY_HEAD:
                    beside = (here[RAY_AUTOSCALER],)
                here = here[key]
            if here.value is not None:
                self._add(owner, here["metadata"], here["spec"], *beside)
        except UnreadableError as error:
            self.unreadable.append(error)

    def _add(self, owner: Field, metadata: Field, spec: Field, *beside: Field) -> None:
        containers = [each for name in _CONTAINERS for each in self.read(spec[name])]
        containers += [each for each in beside if each.value is not None]
        self.pods.append(Pod(self.group, self.kind, owner, metadata, spec, tuple(containers), self.partial))


def _resembling(owner: Field) -> Iterator[tuple[Field, Field]]:
    """Find what looks like a pod: a map in which `containers` is a list."""
    stack = [(absent("metadata"), owner)]
    while stack:
        metadata, here = stack.pop()
        if isinstance(here.value, Mapping) and SIGNATURE not in here.value:
            if isinstance(here.value.get("containers"), list):
                yield metadata, here
            stack += [(here["metadata"], member) for member in here.members().values()]
        elif isinstance(here.value, list):
            stack += [(absent("metadata"), item) for item in here.items()]
