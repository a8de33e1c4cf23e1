"""Where something stands: the line of the document, or else of the program, that a resource comes from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from model.environment import Environment
    from model.problems import Path, Positions
    from twin.monitor import Resource

_ROOT = "environment"
_TELLING = 3
"""Letters of a text from which on finding it in the document says something."""
_SECTIONS: "Mapping[str, Path]" = {
    "Archive": ("storage", "archive"),
    "Checkpoints": ("storage", "checkpoints"),
    "Cluster": ("cluster",),
    "Dashboards": ("monitoring",),
    "DcgmExporter": ("monitoring",),
    "DevicePlugin": ("pools",),
    "Efs": ("storage", "shared"),
    "FabricDevicePlugins": ("pools",),
    "FeatureDiscovery": ("pools",),
    "Folders": ("storage", "shared"),
    "HyperNodes": ("topology",),
    "Kai": ("scheduler",),
    "Karpenter": ("pools",),
    "Kueue": ("scheduler",),
    "LocalVolumes": ("storage", "scratch"),
    "Lustre": ("storage", "shared"),
    "MigManager": ("pools",),
    "MpsDaemon": ("pools",),
    "Network": ("cluster",),
    "NodeFeatures": ("pools",),
    "NodePool": ("pools",),
    "RayCluster": ("ray", "clusters"),
    "RayJob": ("ray", "jobs"),
    "RayService": ("ray", "services"),
    "Registry": ("cluster", "registry"),
    "Rules": ("monitoring",),
    "ServiceMonitors": ("monitoring",),
    "SharedVolumes": ("storage", "shared"),
    "StorageClasses": ("storage",),
    "Tenant": ("tenants",),
    "TenantStorage": ("tenants",),
    "TrainingJob": ("training", "jobs"),
    "TrainingJobSet": ("training", "jobs"),
    "Volcano": ("scheduler",),
}
"""The section of the document that a component is made from, by its name. Where it has entries, the names of resources
say which."""


@dataclass(frozen=True)
class Place:
    """A line of a file.

    Attributes:
        file: From the top of the repository.
        line: From 1.
        path: What stands there in the document; empty for a line of the program.
    """

    file: str
    line: int
    path: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Places:
    """Finds the places of an environment.

    Args:
        file: Its stack file, from the top of the repository.
        prefix: The folder of the project there.
        value: The document as it was written.
        positions: Where its values stand.
        environment: The document as it was read; None where it has mistakes.
        resources: All resources.
    """

    def __init__(
        self,
        file: str,
        prefix: str,
        value: Any,
        positions: "Positions",
        environment: "Environment | None" = None,
        resources: "Sequence[Resource]" = (),
    ) -> None:
        self._file = file
        self._prefix = prefix
        self._value = value
        self._positions = positions
        self._environment = environment
        self._resources = {resource.urn: resource for resource in resources}

    def of_path(self, path: "Path") -> Place:
        """Give the place of a value of the document, or of the closest thing around it."""
        from model.problems import spoken

        return Place(self._file, self._positions.line(path) or 1, spoken(path))

    def of_field(self, urn: str, field: str) -> Place:
        """Give the place that a field of a resource comes from.

        That is the line of the document with the field's value, in the section that the resource is made from; else
        that section; else the line of the program that makes the resource.

        Args:
            urn: The resource; empty for the stack itself.
            field: The field as a rule writes it, such as `spec.containers[0].image`.
        """
        steps = list(_steps(field))
        if steps[:1] == [_ROOT]:
            return self.of_path(tuple(steps[1:]))
        resource = self._resources.get(urn)
        if resource is None:
            return self.of_path(())
        section = self._section(resource)
        if section is not None:
            return self.of_path(self._narrowed(section, _at(resource.inputs, steps)))
        file, _, line = resource.source.rpartition(":")
        return Place(f"{self._prefix}{file}", int(line)) if file else self.of_path(())

    def _section(self, resource: "Resource") -> "Path | None":
        """Give the part of the document that a resource is made from."""
        if (queue := self._queue(resource)) is not None:
            return queue
        above: Resource | None = resource
        while above is not None:
            section = _SECTIONS.get(above.type.rpartition(":")[2]) if not above.custom else None
            if section is not None:
                entries = _at(self._value, section)
                named = [name for name in entries if f"-{name}-" in f"{resource.name}-"] if _is_map(entries) else []
                return (*section, max(named, key=len)) if named else section
            above = self._resources.get(above.parent or "")
        return None

    def _queue(self, resource: "Resource") -> "Path | None":
        from model import queues

        name = (resource.inputs.get("metadata") or {}).get("name") if "Queue" in resource.type else None
        if self._environment is None or not isinstance(name, str):
            return None
        found = queues.by_path(self._environment).get(name)
        return found.keys if found else None

    def _narrowed(self, section: "Path", value: Any) -> "Path":
        """Give the one value of a section that is the one sought, or the section."""
        telling = isinstance(value, str) and len(value) >= _TELLING
        found = [path for path, each in _leaves(section, _at(self._value, section)) if each == value] if telling else []
        return found[0] if len(found) == 1 else section


def _is_map(value: Any) -> bool:
    return isinstance(value, Mapping)


def _leaves(path: "Path", value: Any) -> "Iterator[tuple[Path, Any]]":
    if isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _leaves((*path, key), entry)
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _leaves((*path, index), entry)
    else:
        yield path, value


def _at(value: Any, steps: "Sequence[str | int]") -> Any:
    """Give what is at a path; None where there is nothing."""
    for step in steps:
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def _steps(field: str) -> "Iterator[str | int]":
    """Take a path apart as policies and problems write it: `spec.containers[0].limits["nvidia.com/gpu"]`."""
    rest = field
    while rest:
        if rest.startswith('["') and (end := rest.find('"]')) > 0:
            yield rest[2:end]
            rest = rest[end + 2 :]
        elif rest.startswith("[") and (end := rest.find("]")) > 0:
            index = rest[1:end]
            yield int(index) if index.isdigit() else index
            rest = rest[end + 1 :]
        else:
            rest = rest.removeprefix(".")
            end = min((at for at in (rest.find("."), rest.find("[")) if at >= 0), default=len(rest))
            if end == 0:
                return
            yield rest[:end]
            rest = rest[end:]
