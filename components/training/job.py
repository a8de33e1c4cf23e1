"""Training jobs as Volcano runs them."""

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.component import Component
from components.kubernetes.client import Reach
from components.training.pods import templates
from components.workloads import gangs
from model import volcano_jobs
from model.environment import Environment


@pulumi.type_token("gangline:index:TrainingJob")
class TrainingJob(Component):
    """A job whose pods start together, and start anew together when one of them is lost.

    Volcano lets only the numbers of pods and the priority change; any other change is a new job in place of the old
    one. `up` waits until it has run, and not for its end: that may take weeks.
    """

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
        declared = environment.training.jobs[job]
        # Volcano gives pods the job's priority, and only there it may change.
        made = templates(environment, declared.model_copy(update={"priority": None}))
        tasks = [{**task, "template": made[task_name]} for task_name, task in volcano_jobs.tasks(declared).items()]
        CustomResource(
            f"{name}-job",
            api_version="batch.volcano.sh/v1alpha1",
            kind="Job",
            metadata=ObjectMetaArgs(
                name=job,
                namespace=declared.namespace,
                # Among the phases that it has been in: one that was short may have ended already.
                annotations={"pulumi.com/waitFor": 'jsonpath={.status.conditions[?(@.status=="Running")]}'},
            ),
            spec={**volcano_jobs.spec(environment, declared), "tasks": tasks},
            opts=pulumi.ResourceOptions(
                parent=self,
                hooks=gangs.hooks(name, environment, reach, declared),
                replace_on_changes=list(volcano_jobs.replaced(declared)),
                # The name is given, and so are the queue's GPUs.
                delete_before_replace=True,
                custom_timeouts=pulumi.CustomTimeouts(create="20m", update="20m", delete="5m"),
            ),
        )
        self.register_outputs({})
