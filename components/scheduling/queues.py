"""The tree of queues."""

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.component import Component
from model import queues, volcano
from model.environment import Environment


@pulumi.type_token("gangline:index:Queues")
class Queues(Component):
    """Volcano's queues, parents before children.

    A queue counts as made when its controller has opened it: until then Volcano refuses jobs for it.
    """

    names: list[str]
    """Names of the queues, parents first."""

    def __init__(self, name: str, *, environment: Environment, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, {}, opts)
        nodes = queues.flatten(environment)
        made: dict[str, CustomResource] = {}
        for node in nodes:
            parent = made.get(node.parent)
            made[node.path] = CustomResource(
                f"{name}-{node.path}",
                api_version="scheduling.volcano.sh/v1beta1",
                kind="Queue",
                metadata=ObjectMetaArgs(
                    name=node.path, annotations={"pulumi.com/waitFor": "jsonpath={.status.state}=Open"}
                ),
                spec=volcano.queue_spec(node),
                # The webhook looks for the parent, so it must be there first and go last.
                opts=pulumi.ResourceOptions(parent=self, depends_on=[parent] if parent else None),
            )
        self.names = list(made)
        self.register_outputs({"names": self.names})
