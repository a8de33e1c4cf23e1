"""NVIDIA's network operator, by its own chart, and the policy that follows from the pools."""

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.charts import installed
from components.component import Component
from components.namespaces import namespace
from components.placement import beside_gpus
from components.sources import Sources
from model import fabric_changes, network_operator
from model.environment import Environment
from model.namespaces import NETWORK_OPERATOR
from model.releases import Upstream

RELEASE = "network-operator"


@pulumi.type_token("gangline:index:NetworkOperator")
class NetworkOperator(Component):
    """The operator, and by its one policy the device plugins for RDMA."""

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        upstream: Upstream,
        sources: Sources,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        hardware = fabric_changes.set_in_hardware(environment)
        super().__init__(name, {"version": upstream.version, "drainToChange": hardware}, opts)
        own = namespace(f"{name}-namespace", NETWORK_OPERATOR, "privileged", pulumi.ResourceOptions(parent=self))
        release = installed(
            f"{name}-release",
            RELEASE,
            namespace=NETWORK_OPERATOR,
            upstream=upstream,
            sources=sources,
            values=_values(environment),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[own]),
        )
        CustomResource(
            f"{name}-policy",
            api_version="mellanox.com/v1alpha1",
            kind="NicClusterPolicy",
            metadata=ObjectMetaArgs(name=network_operator.POLICY, annotations=_awaited(environment)),
            spec=network_operator.policy(environment, upstream),
            opts=pulumi.ResourceOptions(
                parent=self, depends_on=[release], custom_timeouts=pulumi.CustomTimeouts(create="20m", update="20m")
            ),
        )
        self.register_outputs({"policy": network_operator.POLICY})


def _values(environment: Environment) -> dict[str, object]:
    values = network_operator.values()
    affinity, tolerations = beside_gpus(environment)
    values["operator"]["tolerations"] = tolerations
    if affinity is not None:
        values["operator"]["affinity"] = affinity
    return values


def _awaited(environment: Environment) -> dict[str, str] | None:
    """Wait for the device plugins, unless there may be no node for them yet: the policy would never be ready."""
    if not any(environment.pools[name].initial for name in network_operator.pools(environment)):
        return None
    return {"pulumi.com/waitFor": "jsonpath={.status.state}=ready"}
