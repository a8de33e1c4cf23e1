"""Alert and recording rules, for a Prometheus that the Prometheus Operator runs."""

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.component import Component
from components.kubernetes.client import Reach
from components.monitoring.definitions import known_kinds
from model.environment import Environment
from model.monitoring import rules
from model.monitoring.shape import Prometheus
from model.namespaces import AGENTS

NAME = "gangline-gpus"


@pulumi.type_token("gangline:index:Rules")
class Rules(Component):
    """The rules of an environment as one PrometheusRule."""

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        prometheus: Prometheus,
        reach: Reach,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {}, opts)
        CustomResource(
            f"{name}-rule",
            api_version="monitoring.coreos.com/v1",
            kind="PrometheusRule",
            metadata=ObjectMetaArgs(name=NAME, namespace=AGENTS, labels=prometheus.labels or None),
            spec={"groups": rules.groups(environment)},
            opts=pulumi.ResourceOptions(parent=self, hooks=known_kinds(name, environment, reach)),
        )
        self.register_outputs({})
