"""What is measured on GPU nodes: the exporter, what Prometheus is told, and dashboards."""

import pulumi

from components.crds.definitions import CustomResourceDefinitions
from components.kubernetes.client import Reach
from components.monitoring.dashboards import Dashboards
from components.monitoring.definitions import PRODUCT, unclaimed
from components.monitoring.exporter import DcgmExporter
from components.monitoring.monitors import ServiceMonitors
from components.monitoring.rules import Rules
from components.sources import Sources
from model.environment import Environment
from model.monitoring import exporter
from model.monitoring.shape import Prometheus
from model.releases import upstream


def monitoring(
    name: str,
    environment: Environment,
    sources: Sources,
    reach: Reach,
    opts: pulumi.ResourceOptions,
    adopting: pulumi.ResourceOptions,
) -> None:
    """Make it.

    Args:
        name: What their names begin with.
        environment: The document.
        sources: Where upstream releases are found.
        reach: How the cluster is asked.
        opts: Their options: parent, provider, and the namespace that must be there.
        adopting: Options of definitions, whose provider takes over what an earlier stack left.
    """
    if exporter.deployments(environment):
        DcgmExporter(
            f"{name}-dcgm-exporter",
            environment=environment,
            upstream=upstream(environment, "dcgm-exporter"),
            opts=opts,
        )
    Dashboards(f"{name}-dashboards", environment=environment, opts=opts)
    prometheus = environment.monitoring.prometheus
    if not isinstance(prometheus, Prometheus) or not exporter.targets(environment):
        return
    kinds: list[pulumi.Resource] = []
    if prometheus.definitions == "install":
        kinds.append(
            CustomResourceDefinitions(
                f"{name}-monitoring-definitions",
                upstream=upstream(environment, PRODUCT),
                sources=sources,
                hooks=unclaimed(name, reach),
                opts=adopting,
            )
        )
    after = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=kinds))
    ServiceMonitors(f"{name}-service-monitors", environment=environment, prometheus=prometheus, reach=reach, opts=after)
    Rules(f"{name}-rules", environment=environment, prometheus=prometheus, reach=reach, opts=after)
