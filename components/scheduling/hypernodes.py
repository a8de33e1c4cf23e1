"""Static topology for the scheduler."""

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.component import Component
from model import topology
from model.environment import Environment


@pulumi.type_token("gangline:index:HyperNodes")
class HyperNodes(Component):
    """One HyperNode per declared rack or wider domain.

    Only for static racks. Where nodes carry topology labels Volcano's controller makes the HyperNodes itself, and
    deletes those that it does not know: nobody else may write them.
    """

    def __init__(self, name: str, *, environment: Environment, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, {}, opts)
        for hypernode in topology.hypernodes(environment):
            CustomResource(
                f"{name}-{hypernode.name}",
                api_version="topology.volcano.sh/v1alpha1",
                kind="HyperNode",
                metadata=ObjectMetaArgs(name=hypernode.name),
                spec=_spec(hypernode),
                opts=pulumi.ResourceOptions(parent=self),
            )
        self.register_outputs({})


def _spec(hypernode: topology.HyperNode) -> dict[str, object]:
    kind = "Node" if hypernode.tier == 1 else "HyperNode"
    return {
        "tier": hypernode.tier,
        "tierName": hypernode.tier_name,
        "members": [{"type": kind, "selector": {"exactMatch": {"name": name}}} for name in hypernode.members],
    }
