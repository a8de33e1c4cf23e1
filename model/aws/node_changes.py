"""What a change of document does to nodes on AWS beside fabric and sharing: groups replaced, nodes rolled or ended.

Sources: https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html (a new version of the launch
template, of Kubernetes or of the image: nodes are drained and replaced); aws_eks_node_group in the Terraform provider
(ForceNew: ami_type, capacity_type, instance_types, subnet_ids); https://karpenter.sh/docs/concepts/disruption/ (drift).
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from model.disruption import Disruption

from . import here, managed, node_pools
from . import karpenter as made_by_karpenter
from .node_groups import NodeGroup, node_group

if TYPE_CHECKING:
    from model.environment import Environment

_REPLACED: Mapping[str, str] = {
    "instance": "instance type",
    "ami_type": "kind of image",
    "capacity": "capacity",
    "zones": "zones",
    "gpu": "subnets",
}
"""What of a node group cannot be changed in place, in words."""
_ROLLED: Mapping[str, str] = {
    "ami_release": "release of the image",
    "reservation": "reservation",
    "placement_group": "placement group",
    "root_device": "root volume",
    "root_volume": "root volume",
    "user_data": "settings of the nodes",
}
"""What its nodes get when they start, in words. Interfaces and placement follow from the fabric."""


def disruptions(before: "Environment", after: "Environment") -> list[Disruption]:
    """What a change of document does to the nodes of pools on AWS; nothing for clusters that were there already."""
    if not (here(before) and here(after)):
        return []
    found: list[Disruption] = []
    for name in managed(before):
        if name in managed(after):
            found += _of_group(before, after, name)
        else:
            change = "no longer a managed node group" if name in after.pools else "removed"
            found.append(Disruption(f"pool {name}", change, "EKS drains its nodes and ends them", drains=True))
    for name in made_by_karpenter(before):
        found += _of_karpenter(before, after, name)
    return found


def _of_group(before: "Environment", after: "Environment", name: str) -> Iterator[Disruption]:
    old, new = node_group(before, name), node_group(after, name)
    subject = f"pool {name}"
    # A block wants its instance type in the launch template, where it can be changed.
    block = old.capacity == new.capacity == "CAPACITY_BLOCK"
    replaced = [
        key for key in _REPLACED if getattr(old, key) != getattr(new, key) and not (block and key == "instance")
    ]
    if replaced:
        order = (
            "its nodes end before new ones come, as the reservation has no machines to spare"
            if new.replaces_first
            else "new nodes come, then the old ones are drained"
        )
        yield Disruption(
            subject, _told(_REPLACED, old, new, replaced), f"the node group is replaced: {order}", drains=True
        )
        return
    rolled = [key for key in _ROLLED if getattr(old, key) != getattr(new, key)]
    if block and old.instance != new.instance:
        rolled.insert(0, "instance")
    changes = [_told({**_REPLACED, **_ROLLED}, old, new, rolled)] if rolled else []
    versions = [env.cluster.kubernetes for env in (before, after)]
    if versions[0] != versions[1]:
        changes.append(f"Kubernetes {versions[0]} -> {versions[1]}")
    if changes:
        yield Disruption(subject, ", ".join(changes), "EKS drains and replaces its nodes, one at a time", drains=True)
    if not new.autoscaled and new.initial < old.initial:
        gone = old.initial - new.initial
        effect = f"EKS drains {gone} of its nodes and ends them, whichever it chooses"
        yield Disruption(subject, f"{old.initial} -> {new.initial} nodes", effect, drains=True)


def _of_karpenter(before: "Environment", after: "Environment", name: str) -> Iterator[Disruption]:
    subject = f"pool {name}"
    if name not in made_by_karpenter(after):
        yield Disruption(subject, "removed", "Karpenter drains its nodes and ends them", drains=True)
        return
    if _nodes(before, name) == _nodes(after, name):
        return
    budgets: list[dict[str, Any]] = node_pools.node_pool(after, name)["disruption"]["budgets"]
    stays = any(each["nodes"] == "0" and "Drifted" in each.get("reasons", ()) for each in budgets)
    effect = (
        "its nodes stay as they are until they are empty; new ones are as the document says"
        if stays
        else "Karpenter drains and replaces its nodes, a tenth of them at a time"
    )
    yield Disruption(subject, "its nodes are asked for otherwise", effect, drains=not stays)


def _nodes(env: "Environment", name: str) -> Any:
    """What Karpenter compares nodes with: their class and the template of their pool."""
    declared = node_pools.node_class(env, name, profile="", subnet_ids=(), security_groups=())
    return declared, node_pools.node_pool(env, name)["template"]


def _told(words: Mapping[str, str], old: NodeGroup, new: NodeGroup, keys: list[str]) -> str:
    return ", ".join(dict.fromkeys(_one(words[key], getattr(old, key), getattr(new, key)) for key in keys))


def _one(word: str, old: Any, new: Any) -> str:
    if isinstance(old, bool) or "\n" in f"{old}{new}" or None in (old, new):
        return word
    sides = (", ".join(side) if isinstance(side, tuple) else side for side in (old, new))
    return f"{word} {' -> '.join(str(side) for side in sides)}"
