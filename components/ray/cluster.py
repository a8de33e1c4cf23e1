"""Ray clusters as gangs."""

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.component import Component
from components.kubernetes.client import Reach
from components.ray.spec import spec
from components.workloads import gangs
from model import submission
from model.environment import Environment


@pulumi.type_token("gangline:index:RayCluster")
class RayCluster(Component):
    """A Ray cluster that is placed as a whole or not at all.

    Queue, priority and topology are labels, which KubeRay copies to the gang's PodGroup when it makes it and never
    again: so a change of labels replaces the cluster. `up` waits until all pods have been ready once. KubeRay accepts
    any specification and complains in events; the engine shows those while it waits.
    """

    pod_group: str
    """Name of the gang's PodGroup."""

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        cluster: str,
        reach: Reach,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"cluster": cluster}, opts)
        declared = environment.ray.clusters[cluster]
        self.pod_group = f"ray-{cluster}-pg"
        sent = submission.of(environment, declared)
        CustomResource(
            f"{name}-cluster",
            api_version="ray.io/v1",
            kind="RayCluster",
            metadata=ObjectMetaArgs(
                name=cluster,
                namespace=declared.namespace,
                labels=dict(sent.labels),
                annotations={**sent.annotations, "pulumi.com/waitFor": "condition=RayClusterProvisioned"},
            ),
            # Otherwise a changed pod template changes nothing until somebody deletes the pods.
            spec={**spec(environment, declared), "upgradeStrategy": {"type": "Recreate"}},
            opts=pulumi.ResourceOptions(
                parent=self,
                hooks=gangs.hooks(name, environment, reach, declared),
                replace_on_changes=["metadata.labels", *(["spec"] if sent.replaced else [])],
                # The name is given, so the new cluster cannot stand beside the old one.
                delete_before_replace=True,
                # Images of 10 GB and more are pulled on every node.
                custom_timeouts=pulumi.CustomTimeouts(create="20m", update="20m", delete="5m"),
            ),
        )
        self.register_outputs({"pod_group": self.pod_group})
