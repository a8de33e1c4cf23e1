"""Programs that bring a Ray cluster of their own."""

from typing import Any

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.component import Component
from components.kubernetes.client import Reach
from components.ray.spec import spec, submitter
from components.workloads import gangs
from model import submission
from model.environment import Environment
from model.ray import RayJob as Declared


@pulumi.type_token("gangline:index:RayJob")
class RayJob(Component):
    """A program and the Ray cluster that it runs on, which is placed as a whole and goes when the program has ended.

    KubeRay makes the cluster once and looks at its specification never again, so any change is a new job. `up` waits
    until the cluster has been ready, and not for the program: that may take weeks.
    """

    pod_group: str
    """Name of the gang's PodGroup."""

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        job: str,
        reach: Reach,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"job": job}, opts)
        declared = environment.ray.jobs[job]
        self.pod_group = f"ray-{job}-pg"
        sent = submission.of(environment, declared)
        CustomResource(
            f"{name}-job",
            api_version="ray.io/v1",
            kind="RayJob",
            metadata=ObjectMetaArgs(
                name=job,
                namespace=declared.namespace,
                labels=dict(sent.labels),
                # It is there from when the cluster was ready, and stays when the cluster is gone.
                annotations={**sent.annotations, "pulumi.com/waitFor": "jsonpath={.status.dashboardURL}"},
            ),
            spec=_spec(environment, declared),
            opts=pulumi.ResourceOptions(
                parent=self,
                hooks=gangs.hooks(name, environment, reach, declared),
                replace_on_changes=["spec", "metadata.labels"],
                delete_before_replace=True,
                custom_timeouts=pulumi.CustomTimeouts(create="20m", update="20m", delete="5m"),
            ),
        )
        self.register_outputs({"pod_group": self.pod_group})


def _spec(environment: Environment, job: Declared) -> dict[str, Any]:
    own = {"submitterPodTemplate": submitter(environment, job)} if job.apart else {}
    return {
        "entrypoint": job.entrypoint,
        "submissionMode": job.submission,
        "backoffLimit": job.restarts,
        # Otherwise its GPUs stay taken when it has ended.
        "shutdownAfterJobFinishes": True,
        **({"ttlSecondsAfterFinished": job.ttl.seconds} if job.ttl else {}),
        **own,
        "rayClusterSpec": spec(environment, job),
    }
