"""Whether the nodes of a pool take a pod, as Kubernetes decides it: taints and tolerations, labels and selectors.

Source: https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/ and .../assign-pod-node/.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import fabric, features, gpu_labels, nodes
from .derived import derived

if TYPE_CHECKING:
    from .environment import Environment
    from .pools import Taint

_REPELLING = ("NoSchedule", "NoExecute")


@dataclass(frozen=True)
class Toleration:
    """What a pod says that it tolerates.

    Attributes:
        key: Key of the taint; empty for every key, with `Exists`.
        exists: Whether any value will do.
        value: The value otherwise.
        effect: Effect of the taint; empty for every effect.
    """

    key: str = ""
    exists: bool = False
    value: str = ""
    effect: str = ""

    def tolerates(self, taint: "Taint") -> bool:
        """Whether it tolerates a taint."""
        if self.effect not in ("", taint.effect):
            return False
        if not self.key:
            return self.exists
        return self.key == taint.key and (self.exists or self.value == taint.value)


@dataclass(frozen=True)
class Requirement:
    """What a pod requires of one label of its node: an expression of a node selector.

    Attributes:
        key: The label.
        operator: In, NotIn, Exists or DoesNotExist.
        values: The values, of In and NotIn.
    """

    key: str
    operator: str
    values: Sequence[str] = ()

    def met(self, labels: Mapping[str, str]) -> bool:
        """Whether a node with these labels meets it."""
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value in self.values
            case "NotIn":
                return value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case _:
                return True  # numbers are compared in labels that no document speaks of


def may_meet(requirement: Requirement, labels: Mapping[str, str], told: Collection[str]) -> bool:
    """Whether a node with these labels, and perhaps others, may meet a requirement.

    Args:
        requirement: The requirement.
        labels: The labels that are known of it.
        told: Keys of labels that it does not have where they are not among those.
    """
    return requirement.met(labels) or not (requirement.key in labels or requirement.key in told)


def repelling(taints: Iterable["Taint"], tolerations: Sequence[Toleration]) -> list["Taint"]:
    """The taints that keep a pod with these tolerations from a node; those that it only would rather avoid do not."""
    return [
        taint
        for taint in taints
        if taint.effect in _REPELLING and not any(toleration.tolerates(taint) for toleration in tolerations)
    ]


@derived
def told(env: "Environment") -> frozenset[str]:
    """Keys of labels of which the document says for every pool whether its nodes have them.

    Others, such as those of NVIDIA's feature discovery, nodes may have from somebody else.
    """
    return frozenset({nodes.POOL_LABEL, "kubernetes.io/arch"}.union(*(pool.labels for pool in env.pools.values())))


@derived
def labels(env: "Environment") -> Mapping[str, Mapping[str, str]]:
    """The labels that all nodes of a pool have, by pool: what the document says and what follows from it.

    Labels of a node's own, such as its name and its place in the topology, are left out.
    """
    found: dict[str, Mapping[str, str]] = {}
    for name, pool in env.pools.items():
        found[name] = {
            "kubernetes.io/arch": nodes.machine(pool).architecture,
            "kubernetes.io/os": "linux",
            **pool.labels,
            **(fabric.node_labels(pool) if name in features.pools(env) else {}),
            **gpu_labels.labels(env, name),
            **features.labels(env, name),
            nodes.POOL_LABEL: name,
        }
    return found
