"""Training jobs as JobSets, for Kueue and KAI."""

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.component import Component
from components.workloads import pods
from components.workloads.pods import Program
from model import job_sets
from model.environment import Environment


@pulumi.type_token("gangline:index:TrainingJobSet")
class TrainingJobSet(Component):
    """A job whose pods start together, and start anew together when one of them is lost.

    Any change is a new job in place of the old one: of a JobSet that runs next to nothing may be changed. `up` waits
    until all pods have been ready, and not for its end: that may take weeks.
    """

    def __init__(
        self, name: str, *, environment: Environment, job: str, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, {"job": job}, opts)
        declared = environment.training.jobs[job]
        known = job_sets.metadata(environment, declared)
        program = Program(
            "train",
            declared.image,
            declared.command,
            environment=job_sets.variables(job, declared),
            fields=job_sets.fields(declared),
        )
        template = pods.worker(environment, declared, program, restart="Never")
        CustomResource(
            f"{name}-job",
            api_version="jobset.x-k8s.io/v1alpha2",
            kind="JobSet",
            metadata=ObjectMetaArgs(
                name=job,
                namespace=declared.namespace,
                labels=known["labels"],
                annotations={
                    **known["annotations"],
                    "pulumi.com/waitFor": "jsonpath={.status.replicatedJobsStatus[0].ready}=1",
                },
            ),
            spec=job_sets.spec(declared, template),
            opts=pulumi.ResourceOptions(
                parent=self,
                replace_on_changes=["spec", "metadata.labels", "metadata.annotations"],
                # The name is given, and so are the queue's GPUs.
                delete_before_replace=True,
                custom_timeouts=pulumi.CustomTimeouts(create="20m", update="20m", delete="5m"),
            ),
        )
        self.register_outputs({})
