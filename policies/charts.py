"""Laws about the values of charts that this project knows."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from model import chart_values
from policies import agents
from policies.fields import Field
from policies.rules import Level, Report, Resource, Severity, Stack, StackRule, rule

if TYPE_CHECKING:
    from model.environment import Environment

_HELM = "https://helm.sh/docs/chart_template_guide/values_files/"
_WEBHOOKS = ("/jobs/validate", "/queues/validate")


@rule(
    StackRule,
    id="chart-keys",
    severity=Severity.MEDIUM,
    level=Level.ADVISORY,
    what="Values of known charts have names that the chart reads.",
    why="Helm takes any key and says nothing: the chart keeps its default, and everybody believes otherwise.",
    fix="Correct the name, or leave it out.",
    link=_HELM,
)
def chart_keys(stack: Stack, report: Report) -> None:
    """Judge the keys at the places where all of a chart's keys are known."""
    for resource, chart, values in agents.charts(stack, report):
        for place, known in chart_values.KEYS.get(chart, {}).items():
            with report.reading(resource.urn):
                for key, field in values.at(*place).members().items():
                    if key not in known and key != "global":
                        _unknown_key(chart, key, known, field, resource, report)


def _unknown_key(chart: str, key: str, known: frozenset[str], field: Field, resource: Resource, report: Report) -> None:
    from model.problems import nearest

    meant = nearest(key, known)
    if meant or chart not in chart_values.IN_PART:
        hint = f"; did you mean {meant}?" if meant else ""
        report.violation(field, f"the chart {chart} reads no {key}{hint}", resource.urn)


@rule(
    StackRule,
    id="chart-values",
    severity=Severity.HIGH,
    what="Values of known charts do not contradict each other, nor the document.",
    why=(
        "Two schedulers at work at once, an operator that leaves gangs to a scheduler without queues, a driver "
        "installed over the one of the image: each is one value, and no error to Helm."
    ),
    fix="Change the value that is named; better, let the document install the product.",
    link=_HELM,
)
def chart_values_agree(stack: Stack, report: Report) -> None:
    """Judge values of Volcano, KubeRay and the GPU Operator."""
    for resource, chart, values in agents.charts(stack, report):
        for field, message in _contradictions(chart, values, stack, resource, report):
            report.violation(field, message, resource.urn)


def _contradictions(
    chart: str, values: Field, stack: Stack, resource: Resource, report: Report
) -> Iterator[tuple[Field, str]]:
    with report.reading(resource.urn):
        match chart:
            case chart_values.VOLCANO:
                yield from _volcano(values["custom"], resource, report)
            case chart_values.KUBERAY:
                yield from _kuberay(values["batchScheduler"], stack)
            case chart_values.GPU_OPERATOR:
                yield from _gpu_operator(values, stack)
            case _:
                pass


def _volcano(custom: Field, resource: Resource, report: Report) -> Iterator[tuple[Field, str]]:
    for part in ("scheduler", "controller"):
        with report.reading(resource.urn):
            replicas = custom[f"{part}_replicas"]
            count = replicas.quantity()
            if count is not None and count.value > 1 and not custom["leader_elect_enable"].boolean():
                yield replicas, f"without leader_elect_enable {replicas} of them are at work at once"
    with report.reading(resource.urn):
        if custom["admission_enable"].boolean() is False:
            yield custom["admission_enable"], "nobody refuses jobs and queues that cannot be"
    with report.reading(resource.urn):
        enabled = custom["enabled_admissions"].text()
        lacking = [each for each in _WEBHOOKS if enabled is not None and each not in enabled.split(",")]
        if lacking:
            yield custom["enabled_admissions"], f"leaves out {', '.join(lacking)}: nobody refuses what cannot be"
    with report.reading(resource.urn):
        override = custom["controller_config_override"]
        if isinstance(override.value, str) and override.plain():
            yield override, "is text, and the chart writes it as such into a file that must be a map"


def _kuberay(scheduler: Field, stack: Stack) -> Iterator[tuple[Field, str]]:
    name, old = scheduler["name"], scheduler["enabled"]
    said = name.text()
    if old.boolean() and said:
        yield old, f"is the old word for name: volcano, and name is {name}; the operator does not start with both"
        return
    env = stack.environment
    if env is None:
        return
    wanted, given = chart_values.BATCH_SCHEDULERS[env.scheduler.kind], "volcano" if old.boolean() else said or ""
    if given != wanted:
        told = f"the document's scheduler is {env.scheduler.kind}, for which this is {wanted or 'left out'}"
        yield name, f"{given or 'nothing'} places Ray's gangs, but {told}"


def _gpu_operator(values: Field, stack: Stack) -> Iterator[tuple[Field, str]]:
    config = values.at("devicePlugin", "config")
    if config["create"].boolean() and not (config["name"].text() and config["data"].members()):
        yield config["create"], "makes a ConfigMap that has no name or no data, which the chart refuses"
    env = stack.environment
    if env is None:
        return
    from model import features, images
    from model.agents import gpu_pools

    pools = gpu_pools(env)
    if features.pools(env) and values.at("nfd", "enabled").boolean() is not False:
        yield values.at("nfd", "enabled"), "this project brings node feature discovery, and two of them fight"
    for part in ("driver", "toolkit"):
        enabled = values.at(part, "enabled")
        there = bool(pools) and all(images.brings(env, pool, part) for pool in pools)
        if there and enabled.boolean() is not False:
            yield enabled, f"the images of all GPU pools bring the {part} already"


@rule(
    StackRule,
    id="chart-tolerations",
    severity=Severity.HIGH,
    what="Agents that NVIDIA's charts install tolerate the taints of the document's GPU pools.",
    why=(
        "The charts tolerate `nvidia.com/gpu` at most. On a pool with another taint there is no plugin and no "
        "exporter: no GPUs, no metrics, and the release is well."
    ),
    fix="Add the toleration: `{key: …, operator: Exists, effect: …}` for each taint of the pools.",
    link="https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/",
)
def chart_tolerations(stack: Stack, report: Report) -> None:
    """Judge the tolerations that a chart is given, or has by itself."""
    for resource, chart, values in agents.charts(stack, report):
        if chart in chart_values.PODS:
            with report.reading(resource.urn):
                env = stack.environment
                if env is not None:
                    _repelled(chart, values, env, resource, report)


def _repelled(chart: str, values: Field, env: "Environment", resource: Resource, report: Report) -> None:
    from model import placing

    place, _ = chart_values.PODS[chart]
    spec = values.at(*place)
    tolerations = agents.tolerations_of(chart, spec)
    for pool in agents.meant(spec, env):
        for taint in placing.repelling(env.pools[pool].taints, tolerations):
            message = f"the nodes of {pool} have the taint {taint.key}:{taint.effect}, which it does not tolerate"
            report.violation(spec["tolerations"], message, resource.urn)


RULES = (chart_keys, chart_values_agree, chart_tolerations)
