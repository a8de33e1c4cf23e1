"""Products that come as a Helm chart."""

from typing import Any

import pulumi
from pulumi_kubernetes.helm.v3 import Release

from components.crds.source import chart_without_definitions
from components.sources import Sources
from model.releases import Upstream


def installed(
    name: str,
    release: str,
    *,
    namespace: str,
    upstream: Upstream,
    sources: Sources,
    values: dict[str, Any],
    version: str | None = None,
    opts: pulumi.ResourceOptions,
) -> Release:
    """Install a chart without its definitions, which this project brings itself.

    Args:
        name: Logical name.
        release: Name of the release.
        namespace: Its namespace, which exists.
        upstream: What is installed.
        sources: Where charts are.
        values: The chart's values.
        version: The version as the chart spells it, where that is not as the catalogue does.
        opts: Options.
    """
    return Release(
        name,
        name=release,
        chart=chart_without_definitions(upstream, sources),
        version=version or upstream.version,
        namespace=namespace,
        skip_crds=True,
        # A first install that fails would otherwise leave its name "still in use" for every later run.
        atomic=True,
        cleanup_on_fail=True,
        max_history=5,
        timeout=600,
        values=values,
        opts=opts,
    )
