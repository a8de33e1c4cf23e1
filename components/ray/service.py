"""Models that are served on Ray."""

from typing import Any

import pulumi
import yaml
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.component import Component
from components.kubernetes.client import Reach
from components.ray.spec import spec
from components.workloads import gangs
from model import submission
from model.environment import Environment
from model.ray import RayService as Declared


@pulumi.type_token("gangline:index:RayService")
class RayService(Component):
    """Applications of Ray Serve and the Ray cluster that they run on.

    A change of applications goes to the running cluster. A change of its pods brings a second cluster beside the
    first, or, with `upgrade: Recreate`, the service goes and comes anew. `up` waits until it serves.
    """

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        service: str,
        reach: Reach,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"service": service}, opts)
        declared = environment.ray.services[service]
        sent = submission.of(environment, declared)
        CustomResource(
            f"{name}-service",
            api_version="ray.io/v1",
            kind="RayService",
            metadata=ObjectMetaArgs(
                name=service,
                namespace=declared.namespace,
                labels=dict(sent.labels),
                annotations={**sent.annotations, "pulumi.com/waitFor": "condition=Ready"},
            ),
            spec=_spec(environment, declared),
            opts=pulumi.ResourceOptions(
                parent=self,
                hooks=gangs.hooks(name, environment, reach, declared),
                replace_on_changes=[
                    "metadata.labels",
                    *(["spec.rayClusterConfig"] if sent.replaced or declared.upgrade == "Recreate" else []),
                ],
                delete_before_replace=True,
                custom_timeouts=pulumi.CustomTimeouts(create="30m", update="30m", delete="5m"),
            ),
        )
        self.register_outputs({})


def _spec(environment: Environment, service: Declared) -> dict[str, Any]:
    return {
        "serveConfigV2": yaml.safe_dump(service.serve, sort_keys=False),
        "upgradeStrategy": {"type": "NewCluster" if service.upgrade == "NewCluster" else "None"},
        "rayClusterConfig": spec(environment, service),
    }
