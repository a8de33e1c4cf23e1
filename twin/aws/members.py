"""The nodes that node groups bring: what EKS would have made of each group by now.

A group has as many nodes as its desired size. A node's name comes from what it was made of, so that a new version of
the launch template or of Kubernetes gives other nodes, and a smaller size takes the last ones away; labels and taints
of a group change the nodes that are there. What GPUs, fabric and sharing bring to a node is the model's to say, by
the pool that the group's label names.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalog import reader
from model import features, gpu_labels, nodes, topology
from model.derived import derived
from model.offers import NodeOffer
from model.pools import Taint
from twin.aws.cloud import Cloud
from twin.aws.row import Call

if TYPE_CHECKING:
    from model.environment import Environment

_EFFECTS = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}


@dataclass(frozen=True)
class Member:
    """A node of a node group.

    Attributes:
        name: The node's name.
        labels: What EKS and the cloud controller write on it, and the group's own labels.
        taints: The group's, in Kubernetes' spelling.
        number: Its number in its group, from 0.
        size: Nodes of its group.
    """

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    number: int
    size: int

    @property
    def pool(self) -> str | None:
        """Name of the pool that the group was made for; None for a group of somebody else's."""
        return self.labels.get(nodes.POOL_LABEL)


def members(cloud: Cloud, clusters: Iterable[str] | None = None, leaf: int = 16, spine: int = 4) -> list[Member]:
    """Give the nodes of all node groups.

    Args:
        cloud: The cloud.
        clusters: Names of the clusters; those that are not there have no nodes. None for all that there are.
        leaf: Nodes of a group that share the innermost layer of the network.
        spine: Innermost layers that share the next one.

    Raises:
        CloudError: The cloud does not answer.
    """
    found: list[Member] = []
    there = _ask(cloud, "list_clusters")["clusters"]
    for cluster in there if clusters is None else sorted(set(there) & set(clusters)):
        for name in _ask(cloud, "list_nodegroups", clusterName=cluster)["nodegroups"]:
            group = _ask(cloud, "describe_nodegroup", clusterName=cluster, nodegroupName=name)["nodegroup"]
            found.extend(_of_group(cloud, group, leaf, spine))
    return found


def offer(env: "Environment", member: Member) -> NodeOffer:
    """Give a node as the cluster shall show it.

    Raises:
        KeyError: The document has no pool of the name that the group's label says, or the group has no such label.
    """
    name = member.pool or ""
    pool = env.pools[name]
    # Where the document tells how its nodes lie in the network, they lie like that.
    place = _places(env, name, member.size)[member.number]
    return NodeOffer(
        name=member.name,
        pool=name,
        labels={**gpu_labels.labels(env, name), **features.labels(env, name), **member.labels, **place},
        taints=member.taints,
        capacity={key: str(amount) for key, amount in nodes.capacity(pool).items()},
        allocatable={key: str(amount) for key, amount in nodes.allocatable(pool).items()},
    )


@derived
def _places(env: "Environment", pool: str, size: int) -> list[dict[str, str]]:
    return topology.node_labels(env, pool, size)


def _ask(cloud: Cloud, operation: str, service: str = "eks", **parameters: Any) -> dict[str, Any]:
    return cloud.call(service, Call(operation), {}, parameters)


def _of_group(cloud: Cloud, group: Mapping[str, Any], leaf: int, spine: int) -> Iterator[Member]:
    subnets = _ask(cloud, "describe_subnets", "ec2", SubnetIds=group["subnets"])["Subnets"]
    template = group.get("launchTemplate") or {}
    instance = _instance(cloud, group, template)
    architecture = _architecture(cloud, instance)
    taints = tuple(
        Taint(key=taint["key"], value=taint.get("value", ""), effect=_EFFECTS[taint["effect"]])
        for taint in group.get("taints") or ()
    )
    made_of = f"{group['nodegroupArn']} {group['releaseVersion']} {template.get('version', '')}"
    size = group["scalingConfig"]["desiredSize"]
    for number in range(size):
        identity = f"i-{hashlib.sha256(f'{made_of} {number}'.encode()).hexdigest()[:17]}"
        name = f"{identity}.{cloud.region}.compute.internal"
        place = subnets[number % len(subnets)]
        zone = place["AvailabilityZone"]
        inner = number // leaf
        layers = zip(topology.AWS_LAYERS, ((), (inner // spine,), (inner // spine, inner)), strict=True)
        labels = {
            **(group.get("labels") or {}),
            "kubernetes.io/arch": architecture,
            "kubernetes.io/os": "linux",
            "kubernetes.io/hostname": name,
            "node.kubernetes.io/instance-type": instance,
            "topology.kubernetes.io/region": cloud.region,
            "topology.kubernetes.io/zone": zone,
            "topology.k8s.aws/zone-id": place["AvailabilityZoneId"],
            "eks.amazonaws.com/nodegroup": group["nodegroupName"],
            "eks.amazonaws.com/capacityType": group["capacityType"],
            **{label: _network_node(group, zone, *numbers) for label, numbers in layers},
        }
        if template:
            labels["eks.amazonaws.com/sourceLaunchTemplateId"] = template["id"]
            labels["eks.amazonaws.com/sourceLaunchTemplateVersion"] = str(template["version"])
        yield Member(name, labels, taints, number, size)


def _network_node(group: Mapping[str, Any], zone: str, *numbers: int) -> str:
    """Invent the id of a node of the network: groups share no inner layers, and zones no layer at all."""
    text = f"{zone} {group['nodegroupArn'] if numbers else ''} {numbers}"
    return f"nn-{hashlib.sha256(text.encode()).hexdigest()[:17]}"


def _instance(cloud: Cloud, group: Mapping[str, Any], template: Mapping[str, Any]) -> str:
    """Give the instance type: the group's, or that of its launch template."""
    kinds = group.get("instanceTypes")
    if kinds:
        return kinds[0]
    version = str(template["version"])
    answer = _ask(
        cloud, "describe_launch_template_versions", "ec2", LaunchTemplateId=template["id"], Versions=[version]
    )
    return answer["LaunchTemplateVersions"][0]["LaunchTemplateData"]["InstanceType"]


def _architecture(cloud: Cloud, instance: str) -> str:
    """Give the architecture as in `kubernetes.io/arch`; moto takes a second to tell it."""
    known = reader.instances().get(instance)
    if known is not None:
        return known.architecture
    [told] = _ask(cloud, "describe_instance_types", "ec2", InstanceTypes=[instance])["InstanceTypes"]
    return told["ProcessorInfo"]["SupportedArchitectures"][-1].replace("x86_64", "amd64")
