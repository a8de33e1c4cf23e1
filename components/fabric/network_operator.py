"""NVIDIA's network operator, by its own chart, and the policy that follows from the pools."""

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.core.v1 import Namespace
from pulumi_kubernetes.helm.v3 import Release
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.component import Component
from components.crds.source import chart_without_definitions
from components.placement import beside_gpus
from components.sources import Sources
from model import fabric_changes, network_operator
from model.environment import Environment
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
        namespace = Namespace(
            f"{name}-namespace",
            metadata=ObjectMetaArgs(
                name=network_operator.NAMESPACE, labels={"pod-security.kubernetes.io/enforce": "privileged"}
            ),
            opts=pulumi.ResourceOptions(parent=self),
        )
        release = Release(
            f"{name}-release",
            name=RELEASE,
            chart=chart_without_definitions(upstream, sources),
            version=upstream.version,
            namespace=network_operator.NAMESPACE,
            skip_crds=True,
            atomic=True,
            cleanup_on_fail=True,
            max_history=5,
            timeout=600,
            values=_values(environment),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[namespace]),
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
