"""JobSet's controller, by its own chart."""

import pulumi

from components.charts import installed
from components.component import Component
from components.namespaces import namespace
from components.placement import beside_gpus
from components.sources import Sources
from model.environment import Environment
from model.namespaces import JOBSET
from model.releases import Upstream

RELEASE = "jobset"


@pulumi.type_token("gangline:index:JobSets")
class JobSets(Component):
    """The controller that makes jobs of JobSets.

    Kueue and KAI have no kind of their own for a gang of pods that fails and starts again as a whole.
    """

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        upstream: Upstream,
        sources: Sources,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"version": upstream.version}, opts)
        own = namespace(f"{name}-namespace", JOBSET, "baseline", pulumi.ResourceOptions(parent=self))
        affinity, tolerations = beside_gpus(environment)
        repository, _, tag = upstream.images["controller"].rpartition(":")
        installed(
            f"{name}-release",
            RELEASE,
            namespace=JOBSET,
            upstream=upstream,
            sources=sources,
            values={
                "image": {"repository": repository, "tag": tag, "pullPolicy": "IfNotPresent"},
                "controller": {"tolerations": tolerations, **({"affinity": affinity} if affinity else {})},
            },
            opts=pulumi.ResourceOptions(parent=self, depends_on=[own]),
        )
        self.register_outputs({})
