"""The scheduler that a document chooses, with its queues."""

from collections.abc import Callable, Mapping

import pulumi

from components.crds.definitions import CustomResourceDefinitions
from components.kubernetes.client import Reach
from components.scheduling.hypernodes import HyperNodes
from components.scheduling.job_sets import JobSets
from components.scheduling.kai import Kai, KaiQueues
from components.scheduling.kueue import ClusterQueues, Kueue, LocalQueues
from components.scheduling.queues import Queues
from components.scheduling.volcano import Volcano
from components.sources import Sources
from model.environment import Environment
from model.releases import upstream

Child = Callable[..., pulumi.ResourceOptions]
"""Gives the options of what is made in the cluster, after what it depends on."""
Definitions = Callable[[str, str], CustomResourceDefinitions]
"""Makes the definitions of a product, under a name."""


def scheduling(
    name: str, environment: Environment, *, sources: Sources, reach: Reach, definitions: Definitions, child: Child
) -> list[pulumi.Resource]:
    """Make the scheduler and its queues, and give what workloads have to wait for."""
    kind = environment.scheduler.kind
    its = definitions(kind, f"{kind}-definitions")
    if kind == "kueue":
        job_sets = _job_sets(name, environment, sources, definitions, child)
        kueue = Kueue(
            f"{name}-kueue",
            environment=environment,
            upstream=upstream(environment, kind),
            sources=sources,
            opts=child(its),
        )
        return [job_sets, ClusterQueues(f"{name}-queues", environment=environment, opts=child(kueue))]
    if kind == "kai":
        job_sets = _job_sets(name, environment, sources, definitions, child)
        kai = Kai(
            f"{name}-kai",
            environment=environment,
            upstream=upstream(environment, kind),
            sources=sources,
            opts=child(its),
        )
        return [job_sets, KaiQueues(f"{name}-queues", environment=environment, opts=child(kai))]
    volcano = Volcano(
        f"{name}-volcano",
        environment=environment,
        upstream=upstream(environment, kind),
        sources=sources,
        reach=reach,
        opts=child(its),
    )
    made: list[pulumi.Resource] = [Queues(f"{name}-queues", environment=environment, opts=child(volcano))]
    if environment.topology.racks:
        made.append(HyperNodes(f"{name}-hypernodes", environment=environment, opts=child(volcano)))
    return made


def _job_sets(name: str, environment: Environment, sources: Sources, definitions: Definitions, child: Child) -> JobSets:
    its = definitions("jobset", "jobset-definitions")
    return JobSets(
        f"{name}-job-sets",
        environment=environment,
        upstream=upstream(environment, "jobset"),
        sources=sources,
        opts=child(its),
    )


def in_namespaces(
    name: str,
    environment: Environment,
    *,
    after: list[pulumi.Resource],
    tenants: Mapping[str, pulumi.Resource],
    child: Child,
) -> list[pulumi.Resource]:
    """Make what the scheduler needs in the namespaces of teams, and give what workloads have to wait for."""
    if environment.scheduler.kind != "kueue" or not tenants:
        return []
    return [LocalQueues(f"{name}-local-queues", environment=environment, opts=child(*after, *tenants.values()))]
