"""Which instance types a NodePool of Karpenter may make nodes of, by its requirements."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from catalog import reader as catalog
from catalog.reader import Instance

TYPE = "node.kubernetes.io/instance-type"
_PREFIXES = ("karpenter.k8s.aws/instance-", "eks.amazonaws.com/instance-")
"""Of Karpenter's own labels, and of those of EKS Auto Mode, which have the same names behind it
(https://docs.aws.amazon.com/eks/latest/userguide/create-node-pool.html)."""
_NAME = re.compile(r"([a-z]+)(?:-[0-9]+tb)?([0-9]+).*")


@dataclass(frozen=True)
class Requirement:
    """What a node must have.

    Attributes:
        key: Key of a label.
        operator: Such as `In` or `Gt`.
        values: Values of the label.
    """

    key: str
    operator: str
    values: tuple[str, ...]

    @property
    def aspect(self) -> str | None:
        """What it says of instance types, such as `family`; None where it speaks of something else."""
        if self.key == TYPE:
            return "type"
        name = next((self.key.removeprefix(each) for each in _PREFIXES if self.key.startswith(each)), None)
        return name if name in _ASPECTS else None


def _family(instance: Instance) -> str:
    return instance.name.partition(".")[0]


def _part(number: int) -> Callable[[Instance], str | None]:
    def part(instance: Instance) -> str | None:
        found = _NAME.fullmatch(_family(instance))
        return found[number] if found else None

    return part


_ASPECTS: Mapping[str, Callable[[Instance], str | None]] = {
    # The labels of an instance type (https://karpenter.sh/docs/concepts/scheduling/#well-known-labels).
    "type": lambda instance: instance.name,
    "family": _family,
    "size": lambda instance: instance.name.partition(".")[2],
    "category": _part(1),
    "generation": _part(2),
    "gpu-count": lambda instance: str(instance.gpus) if instance.gpus else None,
    "gpu-manufacturer": lambda instance: "nvidia" if instance.gpus else None,
    # Karpenter names it without its memory.
    "gpu-name": lambda instance: instance.gpu.partition("-")[0] if instance.gpu else None,
}


def fitting(requirements: Iterable[Requirement]) -> list[Instance]:
    """Give the types of the catalogue that meet all requirements; what they say of other things leaves out none.

    Args:
        requirements: Those of the pool.
    """
    known = [each for each in requirements if each.aspect]
    return [instance for instance in catalog.instances().values() if all(_meets(instance, each) for each in known)]


def _meets(instance: Instance, requirement: Requirement) -> bool:
    value = _ASPECTS[requirement.aspect or "type"](instance)
    values = requirement.values
    if requirement.aspect == "gpu-name":
        values = tuple(each.partition("-")[0] for each in values)
    match requirement.operator:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case _:
            return _compares(requirement.operator, value, values)


def _compares(operator: str, value: str | None, values: tuple[str, ...]) -> bool:
    if value is None or len(values) != 1 or not (value.isdecimal() and values[0].isdecimal()):
        return False
    left, right = int(value), int(values[0])
    return {"Gt": left > right, "Lt": left < right, "Gte": left >= right, "Lte": left <= right}.get(operator, True)
