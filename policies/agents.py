"""Finds what serves the GPUs of nodes: device plugins, exporters and their like, as DaemonSets or by charts."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from model import chart_values
from policies import placement
from policies.fields import Field
from policies.pods import Pod
from policies.rules import Report, Resource, Stack

if TYPE_CHECKING:
    from model.environment import Environment
    from model.placing import Toleration

RELEASES = ("kubernetes:helm.sh/v3:Release", "kubernetes:helm.sh/v4:Chart", "kubernetes:helm.sh/v3:Chart")
PLUGIN, EXPORTER = "nvidia-device-plugin", "dcgm-exporter"
_IMAGES: Mapping[str, re.Pattern[str]] = {
    # What the last part of an image's name says of the program in it.
    PLUGIN: re.compile(r"(?:.*/)?k8s-device-plugin(?:[:@].*)?"),
    EXPORTER: re.compile(r"(?:.*/)?dcgm-exporter(?:[:@].*)?"),
}
_OF_GPUS = re.compile(r"(?:.*/)?(?:k8s-device-plugin|dcgm-exporter|k8s-mig-manager|gpu-feature-discovery)(?:[:@].*)?")
_OF_NICS = re.compile(
    r"(?:.*/)?(?:k8s-rdma-shared-dev-plugin|sriov-network-device-plugin|aws-efa-k8s-device-plugin)(?:[:@].*)?"
)
"""Images of what serves GPUs, and NICs of the fabric, wherever there are any."""
_ANYWHERE = {"kubernetes.io/os", "kubernetes.io/arch"}
"""Labels by which one chooses what runs on a node, and not the node."""
_SWITCHES = {PLUGIN: ("devicePlugin", "enabled"), EXPORTER: ("dcgmExporter", "enabled")}
"""What keeps NVIDIA's operator from bringing a program."""


@dataclass(frozen=True)
class Agent:
    """A program that serves GPUs, and what says where it runs.

    Attributes:
        resource: What brings it.
        program: Which one it is: `PLUGIN`, `EXPORTER`.
        where: What says that it is this one: its image, or the name of its chart.
        spec: What holds `nodeSelector`, `affinity` and `tolerations`: its pod's specification, or values of its chart.
        chart: Its chart; empty for a DaemonSet.
    """

    resource: Resource
    program: str
    where: Field
    spec: Field
    chart: str = ""


def charts(stack: Stack, report: Report) -> Iterator[tuple[Resource, str, Field]]:
    """Releases of charts, with the chart's plain name and the values."""
    for resource in stack.of(*RELEASES):
        with report.reading(resource.urn):
            yield resource, chart_values.name(resource.properties["chart"].text() or ""), resource.properties["values"]


def found(stack: Stack, report: Report, program: str) -> list[Agent]:
    """What brings a program: DaemonSets by their images, its own chart, and the operator unless it is told not to."""
    agents: list[Agent] = []
    for resource in stack.resources:
        with report.reading(resource.urn):
            if resource.type in RELEASES:
                agents += _of_chart(resource, program)
        for pod in resource.pods.pods:
            if pod.kind == "DaemonSet":
                for container in pod.containers:
                    with report.reading(resource.urn):
                        if _runs(container, program):
                            agents.append(Agent(resource, program, container["image"], pod.spec))
    return agents


def _of_chart(resource: Resource, program: str) -> list[Agent]:
    chart, values = resource.properties["chart"], resource.properties["values"]
    name = chart_values.name(chart.text() or "")
    if name == chart_values.GPU_OPERATOR:
        if values.at(*_SWITCHES[program]).boolean() is False:
            return []
    elif name != program:
        return []
    place, _ = chart_values.PODS[name]
    return [Agent(resource, program, chart, values.at(*place), name)]


def _runs(container: Field, program: str) -> bool:
    """Whether it is the program: feature discovery and the MPS control daemon are in the plugin's image, too."""
    if not _IMAGES[program].fullmatch(container["image"].text() or ""):
        return False
    command = [item.text() for item in container["command"].items()]
    return program != PLUGIN or not command or any((word or "").rpartition("/")[2] == PLUGIN for word in command)


def meant(spec: Field, env: "Environment") -> list[str]:
    """The GPU pools that an agent chooses: all of them where it does not choose.

    Raises:
        UnreadableError: What chooses is not known yet.
    """
    from model import agents, placing

    pools, chosen = agents.gpu_pools(env), placement.chosen(placement.terms(spec), placing.labels(env))
    return [pool for pool in pools if pool in chosen] if chosen else list(pools)


def reached(agent: Agent, env: "Environment") -> list[str]:
    """The GPU pools whose nodes an agent runs on: those it means, as far as it tolerates their taints.

    Raises:
        UnreadableError: What chooses or tolerates is not known yet.
    """
    from model import placing

    tolerations = tolerations_of(agent.chart, agent.spec) if agent.chart else placement.tolerations(agent.spec)
    return [pool for pool in meant(agent.spec, env) if not placing.repelling(env.pools[pool].taints, tolerations)]


def tolerations_of(chart: str, spec: Field) -> "list[Toleration]":
    """What the agents of a chart tolerate: what the values say, or what the chart says by itself.

    Raises:
        UnreadableError: It is not known yet.
    """
    from model.placing import Toleration

    _, usual = chart_values.PODS[chart]
    if usual and spec["tolerations"].value is None:
        key, effect = chart_values.USUAL_TAINT
        return [Toleration(key=key, exists=True, effect=effect)]
    return placement.tolerations(spec)


def served(pod: Pod, env: "Environment") -> list[str]:
    """The pools that a DaemonSet without a selector is meant for by what it runs: those whose devices it serves.

    Raises:
        UnreadableError: One of its images is not known yet.
    """
    from model import agents, fabric, images

    found: list[str] = []
    selecting = {requirement.key for term in placement.terms(pod.spec) for requirement, _ in term}
    if pod.partial or selecting - _ANYWHERE:
        return found  # what it does not say may be said elsewhere
    for container in pod.containers:
        image = container["image"].text() or ""
        if _OF_GPUS.fullmatch(image):
            plugin = _runs(container, PLUGIN)
            # A node whose image has a plugin may be tainted to keep another one away.
            found += [
                pool for pool in agents.gpu_pools(env) if not (plugin and images.brings(env, pool, "device-plugin"))
            ]
        elif _OF_NICS.fullmatch(image):
            found += [name for name, pool in env.pools.items() if fabric.resource(fabric.of(pool))]
    return list(dict.fromkeys(found))
