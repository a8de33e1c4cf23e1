"""Laws about counters files of NVIDIA's DCGM exporter, wherever a stack holds them."""

import re
from collections.abc import Iterator
from itertools import pairwise

from policies.agents import RELEASES
from policies.fields import Field
from policies.pods import Pod
from policies.rules import Report, Resource, Severity, Stack, StackRule, rule

_MAP = "kubernetes:core/v1:ConfigMap"
_COUNTER = re.compile(r"(?m)^[ \t]*#?[ \t]*DCGM_(?:FI|EXP)_\w+[ \t]*,")
"""A line that no other file has."""
_OPTIONS = ("-m", "--configmap-data")
_VARIABLE = "DCGM_EXPORTER_CONFIGMAP_DATA"
"""How an exporter is told to read a ConfigMap itself, as <namespace>:<name>."""


@rule(
    StackRule,
    id="counter-files",
    severity=Severity.HIGH,
    what="A counters file of the DCGM exporter has a field that it knows, a type and a help text in every line.",
    why=(
        "At the first line that it cannot read the exporter ends on every GPU node; in place of a ConfigMap that it "
        "reads itself it takes counters of its own, without a word. Alerts on what is missing never fire."
    ),
    fix="Correct the line; better, let `monitoring.dcgm.counters` write the file.",
    link="https://github.com/NVIDIA/dcgm-exporter#changing-metrics",
)
def counter_files(stack: Stack, report: Report) -> None:
    """Judge the files in ConfigMaps and among the values of NVIDIA's charts."""
    named = _named(stack, report)
    for resource in stack.resources:
        with report.reading(resource.urn):
            if resource.type == _MAP:
                _map(resource, named, report)
            elif resource.type in RELEASES:
                for file in _values(resource):
                    with report.reading(resource.urn):
                        _judge(file, resource, report)


def _named(stack: Stack, report: Report) -> set[str]:
    """The ConfigMaps that exporters read themselves, as <namespace>:<name>."""
    found: set[str] = set()
    for resource in stack.resources:
        for pod in resource.pods.pods:
            with report.reading(resource.urn):
                found.update(_read_by(pod))
    return found


def _read_by(pod: Pod) -> Iterator[str]:
    for container in pod.containers:
        if not re.search(r"(?:^|/)dcgm-exporter(?:[:@]|$)", container["image"].text() or ""):
            continue
        words = [word for field in ("command", "args") for word in (it.text() or "" for it in container[field].items())]
        for option in _OPTIONS:
            yield from (after for word, after in pairwise(words) if word == option)
            yield from (word.partition("=")[2] for word in words if word.startswith(f"{option}="))
        for variable in container["env"].items():
            if variable["name"].text() == _VARIABLE:
                yield variable["value"].text() or ""


def _map(resource: Resource, named: set[str], report: Report) -> None:
    data, metadata = resource.properties["data"], resource.properties["metadata"]
    key = ""
    if named:
        key = f"{metadata['namespace'].text()}:{metadata['name'].text()}"
    if key in named:
        from model.monitoring import counter_file

        if counter_file.KEY not in data.members():
            (problem,) = counter_file.read_map(dict.fromkeys(data.members(), ""), ())[1]
            report.violation(data, f"{problem.message}; {problem.fix}", resource.urn)
    for name, file in data.members().items():
        with report.reading(resource.urn):
            text = file.text()
            if text is not None and (_COUNTER.search(text) or (key in named and name == "metrics")):
                _judge(file, resource, report)


def _values(resource: Resource) -> Iterator[Field]:
    chart = (resource.properties["chart"].text() or "").rpartition("/")[2]
    values = resource.properties["values"]
    if chart == "dcgm-exporter":
        yield values["customMetrics"]
    elif chart == "gpu-operator":
        yield values.at("dcgmExporter", "config", "data")


def _judge(file: Field, resource: Resource, report: Report) -> None:
    # Not at the top: the model behind it would double the time that the pack needs to start.
    from model.monitoring import counter_file
    from model.problems import shown

    text = file.text()
    if text is None:
        return
    for problem in counter_file.read(text, (), verbatim=True)[1]:
        said = "[secret]" if file.secret else shown(problem.value)
        fix = f"; {problem.fix}" if problem.fix and not file.secret else ""
        report.violation(file, f"{said}: {problem.message}{fix}", resource.urn)


RULES = (counter_files,)
