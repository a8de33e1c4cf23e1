"""The tree of queues."""

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource, CustomResourcePatch
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.component import Component
from components.kubernetes.patches import UNCOMPARED
from components.scheduling.queue_guard import queue_guard
from model import queues, volcano
from model.environment import Environment

_API_VERSION = "scheduling.volcano.sh/v1beta1"
_WHEN_OPEN = {"pulumi.com/waitFor": "jsonpath={.status.state}=Open"}


@pulumi.type_token("gangline:index:Queues")
class Queues(Component):
    """Volcano's queues, parents before children.

    A queue counts as made when its controller has opened it: until then Volcano refuses jobs for it. The cluster
    refuses to delete one while pods are in it.
    """

    names: list[str]
    """Names of the queues, parents first."""

    def __init__(self, name: str, *, environment: Environment, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, {}, opts)
        made: dict[str, pulumi.Resource] = {}
        guard = queue_guard(name, self)
        for node in queues.flatten(environment):
            make = self._adopt if node.path == queues.DEFAULT else self._make
            # The webhook looks for the parent, so it must be there first and go last.
            above = [made.get(node.parent, guard)]
            made[node.path] = make(f"{name}-{node.path}", node, above)
        self.names = list(made)
        self.register_outputs({"names": self.names})

    def _make(self, name: str, node: queues.QueueNode, above: list[pulumi.Resource]) -> pulumi.Resource:
        return CustomResource(
            name,
            api_version=_API_VERSION,
            kind="Queue",
            metadata=ObjectMetaArgs(name=node.path, annotations=_WHEN_OPEN),
            spec=volcano.queue_spec(node),
            opts=pulumi.ResourceOptions(parent=self, depends_on=above),
        )

    def _adopt(self, name: str, node: queues.QueueNode, above: list[pulumi.Resource]) -> pulumi.Resource:
        """Give `default` what the document says: Volcano's scheduler made it, and refuses to let it go."""
        return CustomResourcePatch(
            name,
            api_version=_API_VERSION,
            kind="Queue",
            metadata=ObjectMetaArgs(name=node.path, annotations={**_WHEN_OPEN, "pulumi.com/patchForce": "true"}),
            spec=volcano.queue_spec(node),
            opts=pulumi.ResourceOptions(
                parent=self, depends_on=above, ignore_changes=[*UNCOMPARED], retain_on_delete=True
            ),
        )
