"""NVIDIA's GPU Operator, by its own chart, with values that follow from the pools."""

import pulumi
from pulumi_kubernetes.apiextensions import CustomResourcePatch
from pulumi_kubernetes.core.v1 import ConfigMap
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.charts import installed
from components.component import Component
from components.kubernetes.patches import UNCOMPARED
from components.namespaces import namespace
from components.placement import beside_gpus
from components.sources import Sources
from model import operators
from model.environment import Environment
from model.namespaces import GPU_OPERATOR
from model.releases import Upstream

RELEASE = "gpu-operator"
# Fixed in the chart (templates/clusterpolicy.yaml): there is one per cluster.
_POLICY = "cluster-policy"


@pulumi.type_token("gangline:index:GpuOperator")
class GpuOperator(Component):
    """The operator, and by it all that GPU nodes need: driver, container toolkit, device plugin, exporter.

    It is complete when the operator says that all of it is ready on all nodes that it looks after.
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
        own = namespace(f"{name}-namespace", GPU_OPERATOR, "privileged", pulumi.ResourceOptions(parent=self))
        inside = pulumi.ResourceOptions(parent=self, depends_on=[own])
        files = [
            ConfigMap(
                f"{name}-{file.role}",
                metadata=ObjectMetaArgs(name=file.name, namespace=GPU_OPERATOR),
                immutable=True,
                data=file.data,
                opts=inside,
            )
            for file in operators.files(environment)
        ]
        release = installed(
            f"{name}-release",
            RELEASE,
            namespace=GPU_OPERATOR,
            upstream=upstream,
            sources=sources,
            version=f"v{upstream.version}",
            values=_values(environment),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[own, *files]),
        )
        # Helm is done when the operator runs; what it deploys takes longer, most of all a driver.
        CustomResourcePatch(
            f"{name}-ready",
            api_version="nvidia.com/v1",
            kind="ClusterPolicy",
            metadata=ObjectMetaArgs(name=_POLICY, annotations={"pulumi.com/waitFor": "jsonpath={.status.state}=ready"}),
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=[release],
                ignore_changes=[*UNCOMPARED],
                custom_timeouts=pulumi.CustomTimeouts(create="30m", update="30m"),
            ),
        )
        self.register_outputs({"configurations": operators.plugin_file(environment).name})


def _values(environment: Environment) -> dict[str, object]:
    values = operators.gpu_operator_values(environment)
    affinity, tolerations = beside_gpus(environment)
    values["operator"]["tolerations"] = tolerations
    if affinity is not None:
        values["operator"]["affinity"] = affinity
    return values
