"""KAI, by its own chart, and the same queues as its objects."""

from typing import Any

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.charts import installed
from components.component import Component
from components.namespaces import namespace
from components.placement import beside_gpus
from components.sources import Sources
from model import kai, queues
from model.environment import Environment
from model.namespaces import KAI
from model.releases import Upstream

RELEASE = "kai-scheduler"


@pulumi.type_token("gangline:index:Kai")
class Kai(Component):
    """NVIDIA's scheduler with its operator, which makes all else of it.

    Its own queues `default-parent-queue` and `default-queue`, which limit nothing, are left out: what names no queue
    waits, as it does with the other schedulers.
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
        own = namespace(f"{name}-namespace", KAI, "baseline", pulumi.ResourceOptions(parent=self))
        affinity, tolerations = beside_gpus(environment)
        installed(
            f"{name}-release",
            RELEASE,
            namespace=KAI,
            upstream=upstream,
            sources=sources,
            values={
                "global": {"tolerations": tolerations, **({"affinity": affinity} if affinity else {})},
                "defaultQueue": {"createDefaultQueue": False},
                **kai.chart_values(environment),
            },
            opts=pulumi.ResourceOptions(parent=self, depends_on=[own]),
        )
        self.register_outputs({})


@pulumi.type_token("gangline:index:KaiQueues")
class KaiQueues(Component):
    """The tree of queues for KAI, parents before children, and its view of the network."""

    def __init__(self, name: str, *, environment: Environment, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, {}, opts)
        if levels := kai.topology_spec(environment):
            self._made(f"{name}-topology", ("kai.scheduler/v1alpha1", "Topology"), kai.NAME, levels)
        made: dict[str, pulumi.Resource] = {}
        for node in queues.flatten(environment):
            above = [made[node.parent]] if node.parent in made else []
            kind = ("scheduling.run.ai/v2", "Queue")
            made[node.path] = self._made(f"{name}-{node.path}", kind, node.path, kai.queue_spec(node), *above)
        self.register_outputs({})

    def _made(
        self, name: str, kind: tuple[str, str], called: str, spec: dict[str, Any], *depends_on: pulumi.Resource
    ) -> pulumi.Resource:
        return CustomResource(
            name,
            api_version=kind[0],
            kind=kind[1],
            metadata=ObjectMetaArgs(name=called),
            spec=spec,
            opts=pulumi.ResourceOptions(parent=self, depends_on=list(depends_on)),
        )
