"""Pools that Karpenter makes, as its own objects ask for them.

Sources: https://github.com/aws/karpenter-provider-aws, tag v1.14.1: pkg/apis/crds (fields and what they refuse),
charts/karpenter (values); https://karpenter.sh/docs/concepts/nodepools/ and nodeclasses/.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from catalog import reader as catalog
from model import agents, bottlerocket, images, nodes
from model.derived import derived
from model.pools import Pool

from . import karpenter as pools
from . import managed, subnets, tags
from .node_groups import root_volume

if TYPE_CHECKING:
    from model.environment import Environment

NODE_CLASS = "karpenter.k8s.aws/v1"
"""API version of EC2NodeClass."""
NODE_POOL = "karpenter.sh/v1"
"""API version of NodePool."""
OVERLAY = "karpenter.sh/v1alpha1"
"""API version of NodeOverlay."""
EVENTS: Mapping[str, tuple[str, str]] = {
    "health": ("aws.health", "AWS Health Event"),
    "spot": ("aws.ec2", "EC2 Spot Instance Interruption Warning"),
    "rebalance": ("aws.ec2", "EC2 Instance Rebalance Recommendation"),
    "state": ("aws.ec2", "EC2 Instance State-change Notification"),
    "reservation": ("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning"),
}
"""What its queue is told of, as source and kind of the event
(website/content/en/preview/getting-started/getting-started-with-karpenter/cloudformation.yaml)."""

_CAPACITY = {"on-demand": "on-demand", "spot": "spot", "reservation": "reserved", "block": "reserved"}
_KNOWN = frozenset({"cpu", "memory", "pods", "ephemeral-storage", "nvidia.com/gpu", "vpc.amazonaws.com/efa"})
"""Resources that Karpenter expects of an instance type by itself, where it has them."""
_REPLICAS = 2


def node_class(
    env: "Environment", name: str, *, profile: Any, subnet_ids: Sequence[Any], security_groups: Sequence[Any]
) -> dict[str, Any]:
    """The spec of a pool's EC2NodeClass. What is only known once it is there may be given as a promise of it.

    Args:
        env: The document.
        name: The pool.
        profile: Name of the nodes' instance profile.
        subnet_ids: Subnets that its nodes may be in.
        security_groups: Their security groups, by id.
    """
    pool = env.pools[name]
    instance = catalog.instances()[pool.instance or ""]
    spec: dict[str, Any] = {
        "amiSelectorTerms": [{"alias": _alias(env, name)}],
        "instanceProfile": profile,
        "subnetSelectorTerms": [{"id": each} for each in subnet_ids],
        "securityGroupSelectorTerms": [{"id": each} for each in security_groups],
        "blockDeviceMappings": _volumes(env, name),
        "kubelet": {"maxPods": pool.max_pods},
        "tags": tags(env, f"{env.cluster.name}-{name}"),
    }
    if pool.capacity.reservation is not None:
        spec["capacityReservationSelectorTerms"] = [{"id": pool.capacity.reservation}]
    if pool.capacity.placement_group is not None:
        spec["placementGroupSelector"] = {"name": pool.capacity.placement_group}
    if instance.disks:
        # Without it Karpenter leaves the disks out of what a node has for pods, and pods that ask for it wait for ever.
        spec["instanceStorePolicy"] = "RAID0"
    if settings := bottlerocket.settings(env, name):
        spec["userData"] = settings
    return spec


def node_pool(env: "Environment", name: str) -> dict[str, Any]:
    """The spec of a pool's NodePool."""
    pool = env.pools[name]
    gpus = name in agents.gpu_pools(env)
    return {
        "template": {
            "metadata": {"labels": {**pool.labels, nodes.POOL_LABEL: name}},
            "spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": name},
                "requirements": [
                    _one_of("node.kubernetes.io/instance-type", [pool.instance or ""]),
                    _one_of("karpenter.sh/capacity-type", [_CAPACITY[pool.capacity.kind]]),
                    _one_of("topology.kubernetes.io/zone", subnets.zones(env, pool)),
                ],
                "taints": [_taint(each.key, each.value, each.effect) for each in pool.taints],
                # A node is not ended because of its age: what runs on it may run for weeks.
                "expireAfter": "Never",
            },
        },
        "disruption": {
            # Nothing that runs is moved to save a node; loading a model anew costs more than the node.
            "consolidationPolicy": "WhenEmpty",
            "consolidateAfter": "5m",
            # Nor for a newer image: nodes with GPUs get it when the pool makes new ones.
            "budgets": [{"nodes": "0", "reasons": ["Drifted"]}, {"nodes": "100%", "reasons": ["Empty"]}]
            if gpus
            else [{"nodes": "10%"}],
        },
        "limits": {"nodes": str(pool.most)},
    }


@derived
def overlays(env: "Environment") -> dict[str, dict[str, Any]]:
    """The specs of NodeOverlays by pool: resources that Karpenter does not expect of an instance type.

    It knows whole GPUs only. Shares and MIG instances come into being when the device plugin runs on the node, so pods
    that ask for them would wait for ever for a pool that has none.
    """
    found: dict[str, dict[str, Any]] = {}
    for name in pools(env):
        offered = {key: str(amount) for key, amount in nodes.allocatable(env.pools[name]).items() if key not in _KNOWN}
        if offered:
            found[name] = {"requirements": [_one_of("karpenter.sh/nodepool", [name])], "capacity": offered}
    return found


def chart(env: "Environment", *, endpoint: Any, queue: Any) -> dict[str, Any]:
    """Values of its chart.

    Args:
        env: The document.
        endpoint: Address of the cluster's API.
        queue: Name of its queue.
    """
    closed = env.cluster.network.nat == "none"
    return {
        "replicas": min(_REPLICAS, sum(env.pools[name].initial for name in homes(env))),
        "settings": {
            "clusterName": env.cluster.name,
            "clusterEndpoint": endpoint,
            "interruptionQueue": queue,
            **({"isolatedVPC": True} if closed else {}),
            **({"featureGates": {"nodeOverlay": True}} if overlays(env) else {}),
        },
        # What upstream's own guide gives it (getting-started-with-karpenter).
        "controller": {"resources": {"requests": {"cpu": 1, "memory": "1Gi"}, "limits": {"cpu": 1, "memory": "1Gi"}}},
        # On nodes that it made it would end itself.
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [_one_of(nodes.POOL_LABEL, homes(env))]}]
                }
            }
        },
        "tolerations": [
            {"key": each.key, "operator": "Exists", "effect": each.effect}
            for each in agents.tolerations(env, homes(env))
        ],
    }


@derived
def homes(env: "Environment") -> tuple[str, ...]:
    """The pools that its controller may run on: managed ones without GPUs that begin with nodes."""
    gpus = agents.gpu_pools(env)
    return tuple(name for name in managed(env) if name not in gpus and env.pools[name].initial)


def has_gpus(pool: Pool) -> bool:
    """Whether a pool's nodes have GPUs, and so stand in the subnets of such nodes."""
    return catalog.instances()[pool.instance or ""].gpus > 0


def _alias(env: "Environment", name: str) -> str:
    """The newest image of a family; for nodes with GPUs Karpenter takes the accelerated one by itself.

    A newer one replaces no node that works: see the budgets of `node_pool`.
    """
    return f"{'bottlerocket' if images.of(env, name).startswith('bottlerocket') else 'al2023'}@latest"


def _volumes(env: "Environment", name: str) -> list[dict[str, Any]]:
    size = root_volume(env.pools[name])
    if images.of(env, name).startswith("bottlerocket"):
        # Its system is on a small volume of its own (https://bottlerocket.dev/en/faq/).
        return [_volume("/dev/xvda", 4), _volume("/dev/xvdb", size) | {"rootVolume": True}]
    return [_volume("/dev/xvda", size)]


def _volume(device: str, size: int) -> dict[str, Any]:
    ebs = {"volumeSize": f"{size}Gi", "volumeType": "gp3", "encrypted": True, "deleteOnTermination": True}
    return {"deviceName": device, "ebs": ebs}


def _one_of(key: str, among: Sequence[str]) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": list(among)}


def _taint(key: str, value: str, effect: str) -> dict[str, str]:
    # Its definition refuses an empty value, and none means the same.
    return {"key": key, "effect": effect} | ({"value": value} if value else {})
