"""How Prometheus finds the exporters."""

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.component import Component
from components.kubernetes.client import Reach
from components.monitoring.definitions import known_kinds
from model.environment import Environment
from model.monitoring import exporter
from model.monitoring.shape import Prometheus
from model.namespaces import AGENTS
from model.nodes import POOL_LABEL

_TIMEOUT = 10
"""Seconds; upstream's own. Never more than the interval, or Prometheus refuses the monitor."""

_RELABELINGS = [
    {"action": "replace", "sourceLabels": ["__meta_kubernetes_pod_node_name"], "targetLabel": "node"},
    {
        "action": "replace",
        "sourceLabels": ["__meta_kubernetes_node_label_" + POOL_LABEL.replace(".", "_").replace("/", "_")],
        "targetLabel": "pool",
    },
    # One name for the exporter, whoever runs it.
    {"action": "replace", "targetLabel": "job", "replacement": exporter.JOB},
    # A GPU that no pod holds has no pod of its own, and would otherwise count as held by the exporter.
    {"action": "labeldrop", "regex": "pod|namespace|container|service|endpoint"},
]


@pulumi.type_token("gangline:index:ServiceMonitors")
class ServiceMonitors(Component):
    """One ServiceMonitor for each Service of an exporter, ours or the GPU Operator's."""

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
        interval = exporter.interval(environment)
        for target in exporter.targets(environment):
            CustomResource(
                f"{name}-{target.name}",
                api_version="monitoring.coreos.com/v1",
                kind="ServiceMonitor",
                metadata=ObjectMetaArgs(name=target.name, namespace=AGENTS, labels=prometheus.labels or None),
                spec={
                    "selector": {"matchLabels": dict(target.labels)},
                    "namespaceSelector": {"matchNames": [target.namespace]},
                    # The pool stands on the node.
                    "attachMetadata": {"node": True},
                    "endpoints": [
                        {
                            "port": target.port,
                            "interval": f"{interval}s",
                            "scrapeTimeout": f"{min(interval, _TIMEOUT)}s",
                            # The pod that a metric names is the one that holds the GPU. Without this Prometheus would
                            # write the exporter's own over it.
                            "honorLabels": True,
                            "relabelings": _RELABELINGS,
                        }
                    ],
                },
                opts=pulumi.ResourceOptions(parent=self, hooks=known_kinds(name, environment, reach)),
            )
        self.register_outputs({})
