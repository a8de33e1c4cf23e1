"""How a gang is held back until the scheduler knows the topology that bounds it."""

import pulumi

from components.kubernetes.client import Reach
from components.scheduling.known_topology import known_topology
from model import topology
from model.environment import Environment
from model.topology import Level
from model.workloads import Within, Workload


def level(environment: Environment, within: Within) -> Level:
    """Give the level of topology that bounds a gang."""
    return next(level for level in topology.levels(environment) if level.name == within.level)


def hooks(name: str, environment: Environment, reach: Reach, workload: Workload) -> pulumi.ResourceHookBinding | None:
    """Give what comes before a gang is made, for one that topology bounds.

    Volcano is told of the topology by objects of its own. The others read the labels of nodes themselves.
    """
    if workload.within is None or environment.scheduler.kind != "volcano":
        return None
    known = known_topology(name, environment, reach, level(environment, workload.within))
    return pulumi.ResourceHookBinding(before_create=[known])
