"""How a gang is told to Volcano by labels, and held back until the scheduler knows the topology that bounds it."""

import pulumi

from components.kubernetes.client import Reach
from components.scheduling.known_topology import known_topology
from model import topology
from model.environment import Environment
from model.topology import Level
from model.workloads import Within, Workload


def labels(environment: Environment, workload: Workload) -> dict[str, str]:
    """Give the labels that KubeRay copies to the gang's PodGroup when it makes it, and never again."""
    found = {"volcano.sh/queue-name": workload.queue}
    if workload.priority:
        found["ray.io/priority-class-name"] = workload.priority
    if workload.within:
        found["volcano.sh/network-topology-mode"] = workload.within.mode
        tier = level(environment, workload.within).tier
        found["volcano.sh/network-topology-highest-tier-allowed"] = str(tier)
    return found


def level(environment: Environment, within: Within) -> Level:
    """Give the level of topology that bounds a gang."""
    return next(level for level in topology.levels(environment) if level.name == within.level)


def hooks(name: str, environment: Environment, reach: Reach, workload: Workload) -> pulumi.ResourceHookBinding | None:
    """Give what comes before a gang is made, for one that topology bounds."""
    if workload.within is None:
        return None
    known = known_topology(name, environment, reach, level(environment, workload.within))
    return pulumi.ResourceHookBinding(before_create=[known])
