"""Kueue, by its own chart, and the same queues as its objects."""

from typing import Any

import pulumi
import yaml
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.charts import installed
from components.component import Component
from components.crds.templated import RELEASE
from components.namespaces import namespace
from components.placement import beside_gpus
from components.sources import Sources
from model import kueue, queues
from model.environment import Environment
from model.namespaces import KUEUE
from model.releases import Upstream

_API_VERSION = "kueue.x-k8s.io/v1beta2"
_WHEN_ACTIVE = {"pulumi.com/waitFor": "condition=Active"}


@pulumi.type_token("gangline:index:Kueue")
class Kueue(Component):
    """The manager that admits workloads; the cluster's own scheduler binds their pods.

    What depends on this component may write queues: the manager is ready when its webhooks answer.
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
        own = namespace(f"{name}-namespace", KUEUE, "baseline", pulumi.ResourceOptions(parent=self))
        installed(
            f"{name}-release",
            RELEASE,
            namespace=KUEUE,
            upstream=upstream,
            sources=sources,
            values=_values(environment, upstream),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[own]),
        )
        self.register_outputs({})


def _values(environment: Environment, upstream: Upstream) -> dict[str, Any]:
    repository, _, tag = upstream.images["manager"].rpartition(":")
    return {
        "controllerManager": {
            "manager": {
                "image": {"repository": repository, "tag": tag, "pullPolicy": "IfNotPresent"},
                "priorityClassName": "system-cluster-critical",
            },
            # It has no value for an affinity. GPU nodes stay clear by their taints.
            "tolerations": beside_gpus(environment)[1],
        },
        # Text, as the chart reads it itself.
        "managerConfig": {"controllerManagerConfigYaml": yaml.safe_dump(kueue.manager_configuration())},
    }


@pulumi.type_token("gangline:index:ClusterQueues")
class ClusterQueues(Component):
    """The tree of queues for Kueue: cohorts above cluster queues, and the one flavour of nodes that they share.

    A cluster queue counts as made when it is active. While it holds workloads Kueue does not let it go.
    """

    def __init__(self, name: str, *, environment: Environment, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, {}, opts)
        called = kueue.flavor(environment)
        topology = self._made(f"{name}-topology", "Topology", called, kueue.topology_spec(environment))
        flavor = self._made(f"{name}-flavor", "ResourceFlavor", called, kueue.flavor_spec(environment), topology)
        root = self._made(f"{name}-root", "Cohort", queues.ROOT, kueue.root_spec(environment), flavor)
        made = {queues.ROOT: root}
        for node in queues.flatten(environment):
            above = made[node.parent]
            if node.leaf:
                spec = kueue.cluster_queue_spec(environment, node)
                made[node.path] = self._made(f"{name}-{node.path}", "ClusterQueue", node.path, spec, above)
            else:
                spec = kueue.cohort_spec(environment, node)
                made[node.path] = self._made(f"{name}-{node.path}", "Cohort", node.path, spec, above)
        self.register_outputs({})

    def _made(
        self, name: str, kind: str, called: str, spec: dict[str, Any], *depends_on: pulumi.Resource
    ) -> pulumi.Resource:
        return CustomResource(
            name,
            api_version=_API_VERSION,
            kind=kind,
            metadata=ObjectMetaArgs(name=called, annotations=_WHEN_ACTIVE if kind == "ClusterQueue" else None),
            spec=spec,
            opts=pulumi.ResourceOptions(parent=self, depends_on=list(depends_on)),
        )


@pulumi.type_token("gangline:index:LocalQueues")
class LocalQueues(Component):
    """What teams see of the queues: in each of their namespaces those that they may use."""

    def __init__(self, name: str, *, environment: Environment, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, {}, opts)
        for queue in kueue.local_queues(environment):
            CustomResource(
                f"{name}-{queue.namespace}-{queue.name}",
                api_version=_API_VERSION,
                kind="LocalQueue",
                metadata=ObjectMetaArgs(name=queue.name, namespace=queue.namespace, annotations=_WHEN_ACTIVE),
                spec={"clusterQueue": queue.queue},
                # What queue is behind it cannot be changed, and its name is given.
                opts=pulumi.ResourceOptions(
                    parent=self, replace_on_changes=["spec.clusterQueue"], delete_before_replace=True
                ),
            )
        self.register_outputs({})
