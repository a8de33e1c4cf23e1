"""Dashboards, for the sidecar of Grafana's chart that looks for them."""

import json

import pulumi
from pulumi_kubernetes.core.v1 import ConfigMap
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.component import Component
from model.environment import Environment
from model.monitoring import dashboards
from model.namespaces import AGENTS

_FOUND_BY = {"grafana_dashboard": "1"}
"""What the sidecar looks for unless told otherwise, in kube-prometheus-stack in all namespaces
(https://github.com/prometheus-community/helm-charts, charts/kube-prometheus-stack/values.yaml, grafana.sidecar)."""


@pulumi.type_token("gangline:index:Dashboards")
class Dashboards(Component):
    """One ConfigMap per dashboard."""

    def __init__(self, name: str, *, environment: Environment, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, {}, opts)
        for board in dashboards.dashboards(environment):
            ConfigMap(
                f"{name}-{board.uid}",
                metadata=ObjectMetaArgs(name=f"dashboard-{board.uid}", namespace=AGENTS, labels=_FOUND_BY),
                data={f"{board.uid}.json": json.dumps(dashboards.render(board), indent=1)},
                opts=pulumi.ResourceOptions(parent=self),
            )
        self.register_outputs({})
