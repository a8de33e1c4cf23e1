"""Laws about the configuration files of NVIDIA's device plugin, wherever a stack holds them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from model import chart_values
from policies.agents import RELEASES
from policies.fields import Field
from policies.rules import Report, Resource, Severity, Stack, StackRule, rule

_MAP = "kubernetes:core/v1:ConfigMap"
_CHARTS = {"nvidia-device-plugin": ("config", "map"), "gpu-operator": ("devicePlugin", "config", "data")}
"""Charts that take files by name, and where among their values."""
_WORDS = re.compile(r"\b(?:migStrategy|timeSlicing|mps|renameByDefault)\b|nvidia\.com/(?:gpu|mig-)")
"""What no such file lacks that does more than the default."""


@rule(
    StackRule,
    id="plugin-files",
    severity=Severity.HIGH,
    what="A configuration file of NVIDIA's device plugin says only what the plugin obeys.",
    why=(
        "The plugin ignores a misspelt key, one of another level, and all that it does not support; it ends where a "
        "value cannot be. Of several files in its chart it takes none without a default. Nodes then offer whole GPUs, "
        "or none, and workloads wait."
    ),
    fix="Correct the file; better, let `sharing` of a pool write it.",
    link="https://github.com/NVIDIA/k8s-device-plugin#configuring-the-nvidia-device-plugin-binary",
)
def plugin_files(stack: Stack, report: Report) -> None:
    """Judge the files in ConfigMaps and among the values of NVIDIA's charts."""
    for resource in stack.resources:
        with report.reading(resource.urn):
            for file in _files(resource):
                with report.reading(resource.urn):
                    _judge(file, resource, report)
            if resource.type in RELEASES:
                _default(resource, report)


def _files(resource: Resource) -> Iterator[Field]:
    if resource.type == _MAP:
        yield from resource.properties["data"].members().values()
    elif resource.type in RELEASES and (place := _CHARTS.get(_chart(resource))):
        yield from resource.properties.at("values", *place).members().values()


def _chart(resource: Resource) -> str:
    return chart_values.name(resource.properties["chart"].text() or "")


def _judge(file: Field, resource: Resource, report: Report) -> None:
    text = file.text()
    if text is None or not _WORDS.search(text):
        return
    # Not at the top: the model behind it would double the time that the pack needs to start.
    from model import device_plugin
    from model.problems import shown, spoken

    try:
        value: Any = yaml.safe_load(text)
    except yaml.YAMLError:
        return  # of which program it is, nobody can tell
    if not isinstance(value, Mapping) or not device_plugin.recognised(value):
        return
    for problem in device_plugin.problems(value):
        if problem.severity == "error":
            place = spoken(problem.path).partition(".")[2]
            said = "[secret]" if file.secret else shown(problem.value)
            report.violation(file, f"{place}: {said}: {problem.message}", resource.urn)


def _default(resource: Resource, report: Report) -> None:
    """The chart of the device plugin refuses several files without a default, and a default that is no file."""
    if _chart(resource) != "nvidia-device-plugin":
        return
    config = resource.properties.at("values", "config")
    names, default = sorted(config["map"].members()), config["default"].text()
    if default and default not in names and names:
        report.violation(config["default"], f"{default} is none of the files: {', '.join(names)}", resource.urn)
    elif len(names) > 1 and not default:
        report.violation(config["default"], f"says not which of the files is meant: {', '.join(names)}", resource.urn)


RULES = (plugin_files,)
