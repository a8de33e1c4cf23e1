"""The law that each node has one device plugin of NVIDIA."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from policies.fields import Field
from policies.pods import Pod
from policies.rules import Report, Resource, Severity, Stack, StackRule, rule

_RELEASE = "kubernetes:helm.sh/v3:Release"
_CHART = re.compile(r"(?:gpu-operator|nvidia-device-plugin)(?:-[0-9].*)?")
_IMAGE = re.compile(r"(?:.*/)?k8s-device-plugin(?:[:@].*)?")
_PLUGIN = "nvidia-device-plugin"


@dataclass(frozen=True)
class Plugin:
    """A device plugin of a stack.

    Attributes:
        resource: What brings it.
        where: What says so.
        pod: The pod that it runs in; None for a chart's.
    """

    resource: Resource
    where: Field
    pod: Pod | None


@rule(
    StackRule,
    id="device-plugins",
    severity=Severity.HIGH,
    what="No node has two device plugins of NVIDIA, its image's own included.",
    why=(
        "Each registers the same resource with the kubelet, which believes the last one: GPUs vanish from the node or "
        "are given to two pods, whenever one of the two restarts."
    ),
    fix=(
        "Leave out the plugin, or its chart, that you added: `sharing` and `devices.install` say what each pool gets "
        "(docs/guides/install-modes.md)."
    ),
    link="https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/",
)
def device_plugins(stack: Stack, report: Report) -> None:
    """Judge where the plugins of a stack run, against each other and against the images of the document's pools."""
    found: list[Plugin] = []
    for resource in stack.resources:
        with report.reading(resource.urn):
            found += _plugins(resource)
    if stack.document is None or not found:
        return
    pools = stack.document["pools"].members()
    operator = stack.document.at("devices", "install").text() == "operator"
    owner = {name: "its image" for name, pool in pools.items() if _of_image(pool)}
    for plugin in found:
        with report.reading(plugin.resource.urn):
            name = plugin.resource.urn.rpartition("::")[2]
            for pool in _reached(plugin, pools, operator=operator):
                other = owner.setdefault(pool, name)
                if other != name:
                    message = f"is a second device plugin on pool {pool}, beside that of {other}"
                    report.violation(plugin.where, message, plugin.resource.urn)


def _of_image(pool: Field) -> bool:
    # Not at the top: the pack starts without what few stacks need.
    from catalog import reader as catalog

    image = catalog.images().get(pool["image"].text() or "")
    return image is not None and "device-plugin" in image.brings


def _plugins(resource: Resource) -> list[Plugin]:
    if resource.type != _RELEASE:
        pods = [pod for pod in resource.pods.pods if pod.kind == "DaemonSet"]
        return [
            Plugin(resource, container["image"], pod)
            for pod in pods
            for container in pod.containers
            if _runs(container)
        ]
    chart = resource.properties["chart"]
    match = _CHART.fullmatch((chart.text() or "").rpartition("/")[2])
    if match is None or resource.properties.at("values", "devicePlugin", "enabled").boolean() is False:
        return []
    return [Plugin(resource, chart, None)]


def _runs(container: Field) -> bool:
    """Whether it is the plugin: feature discovery and the MPS control daemon are programs of the same image."""
    if not _IMAGE.fullmatch(container["image"].text() or ""):
        return False
    command = [item.text() for item in container["command"].items()]
    return not command or any((word or "").rpartition("/")[2] == _PLUGIN for word in command)


def _reached(plugin: Plugin, pools: Mapping[str, Field], *, operator: bool) -> list[str]:
    """The pools whose nodes a plugin may run on; all of them where it does not choose by pool."""
    if plugin.pod is None:
        # Labels keep the document's own operator away from nodes whose image runs a plugin.
        own = operator and "gpu-operator" in (plugin.where.text() or "")
        return [name for name, pool in pools.items() if not (own and _of_image(pool))]
    return _selected(plugin.pod, pools)


def _selected(pod: Pod, pools: Mapping[str, Field]) -> list[str]:
    # Not at the top: the model behind it would double the time that the pack needs to start.
    from model.nodes import POOL_LABEL

    chosen = set(pools)
    if name := pod.spec["nodeSelector"][POOL_LABEL].text():
        chosen &= {name}
    required = pod.spec.at("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    terms = [_term(term, POOL_LABEL, set(pools)) for term in required["nodeSelectorTerms"].items()]
    if terms:
        chosen &= set().union(*terms)
    return [name for name in pools if name in chosen]


def _term(term: Field, label: str, pools: set[str]) -> set[str]:
    for expression in term["matchExpressions"].items():
        if expression["key"].text() == label and expression["operator"].text() in ("In", "NotIn"):
            values = {value.text() for value in expression["values"].items()}
            pools = pools & values if expression["operator"].text() == "In" else pools - values
    return pools


RULES = (device_plugins,)
