"""What people run, of the document."""

from collections.abc import Callable, Mapping, Sequence

import pulumi

from components.kubernetes.client import Reach
from components.ray.cluster import RayCluster
from components.ray.job import RayJob
from components.ray.service import RayService
from components.training.job import TrainingJob
from components.training.job_set import TrainingJobSet
from model.environment import Environment
from model.tenants import by_namespace

Child = Callable[..., pulumi.ResourceOptions]


def workloads(
    name: str,
    environment: Environment,
    reach: Reach,
    *,
    child: Child,
    after: Sequence[pulumi.Resource],
    tenants: Mapping[str, Sequence[pulumi.Resource]],
) -> None:
    """Make all workloads, each when its namespace has what it needs.

    Args:
        name: Name of the stack's root component.
        environment: The checked document.
        reach: How the cluster is asked.
        child: Options of a component that needs others first.
        after: What each of them needs: queues and operators.
        tenants: What the namespaces of each tenant are complete with.
    """
    owner = by_namespace(environment)

    def options(namespace: str) -> pulumi.ResourceOptions:
        return child(*after, *tenants[owner[namespace]])

    for cluster, it in environment.ray.clusters.items():
        opts = options(it.namespace)
        RayCluster(f"{name}-ray-{cluster}", environment=environment, cluster=cluster, reach=reach, opts=opts)
    for job, it in environment.ray.jobs.items():
        opts = options(it.namespace)
        RayJob(f"{name}-ray-job-{job}", environment=environment, job=job, reach=reach, opts=opts)
    for service, it in environment.ray.services.items():
        opts = options(it.namespace)
        RayService(f"{name}-ray-service-{service}", environment=environment, service=service, reach=reach, opts=opts)
    for job, it in environment.training.jobs.items():
        opts = options(it.namespace)
        if environment.scheduler.kind == "volcano":
            TrainingJob(f"{name}-training-{job}", environment=environment, job=job, reach=reach, opts=opts)
        else:
            TrainingJobSet(f"{name}-training-{job}", environment=environment, job=job, opts=opts)
