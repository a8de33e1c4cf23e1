"""The law that GPUs are measured where there are any."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from model import chart_values
from policies import placement
from policies.rules import Level, Report, Resource, Severity, Stack, StackRule, rule

if TYPE_CHECKING:
    from model.environment import Environment

_RELEASE = "kubernetes:helm.sh/v3:Release"
_PLUGIN = re.compile(r"(?:.*/)?k8s-device-plugin(?:[:@].*)?")
_EXPORTER = re.compile(r"(?:.*/)?dcgm-exporter(?:[:@].*)?")
_PLUGINS, _EXPORTERS = ("devicePlugin", "enabled"), ("dcgmExporter", "enabled")


@rule(
    StackRule,
    id="gpu-exporter",
    severity=Severity.MEDIUM,
    level=Level.ADVISORY,
    what="Where the stack makes GPUs available it measures them, too: each such pool has a DCGM exporter.",
    why=(
        "A GPU that is broken or idle looks like any other then: alerts on it never fire, and nobody knows what a team "
        "uses of what it has."
    ),
    fix="Extend the exporter to the pool; or say that somebody else measures: `monitoring: {dcgm: none}`.",
    link="https://docs.nvidia.com/datacenter/cloud-native/gpu-telemetry/latest/dcgm-exporter.html",
)
def gpu_exporter(stack: Stack, report: Report) -> None:
    """Judge the pools that plugins of the stack reach against those that its exporters reach."""
    plugins = _found(stack, report, _PLUGIN, chart_values.DEVICE_PLUGIN, _PLUGINS)
    env = stack.environment if plugins else None
    if env is None:
        return
    from model.monitoring.shape import Dcgm

    if not isinstance(env.monitoring.dcgm, Dcgm):
        return
    exporters = _found(stack, report, _EXPORTER, chart_values.EXPORTER, _EXPORTERS)
    measured = {pool for it in exporters for pool in _reached(it, env, report)}
    for pool in dict.fromkeys(pool for it in plugins for pool in _reached(it, env, report)):
        if pool not in measured:
            report.violation(f"environment.pools.{pool}", f"no exporter runs on the nodes of {pool}")


def _found(stack: Stack, report: Report, image: re.Pattern[str], chart: str, switch: tuple[str, str]) -> list[Resource]:
    """What brings a program: DaemonSets by their image, its own chart, and the operator unless it is told not to."""
    found: list[Resource] = []
    for resource in stack.resources:
        with report.reading(resource.urn):
            if resource.type == _RELEASE:
                name = chart_values.name(resource.properties["chart"].text() or "")
                operated = name == chart_values.GPU_OPERATOR
                off = operated and resource.properties["values"].at(*switch).boolean() is False
                if (operated and not off) or name == chart:
                    found.append(resource)
            elif any(
                image.fullmatch(container["image"].text() or "")
                for pod in resource.pods.pods
                if pod.kind == "DaemonSet"
                for container in pod.containers
            ):
                found.append(resource)
    return found


def _reached(resource: Resource, env: "Environment", report: Report) -> Iterable[str]:
    """The GPU pools that it runs on: all of them where it does not choose."""
    from model import agents, placing

    pools = agents.gpu_pools(env)
    names: list[str] = []
    with report.reading(resource.urn):
        for pod in resource.pods.pods:
            names += placement.chosen(placement.terms(pod), placing.labels(env))
    return [pool for pool in pools if pool in names] if names else pools


RULES = (gpu_exporter,)
