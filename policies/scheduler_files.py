"""Laws about configuration files of Volcano's scheduler, wherever a stack holds them."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import yaml

from model import chart_values
from policies.agents import RELEASES
from policies.fields import Field
from policies.rules import Report, Resource, Severity, Stack, StackRule, rule

if TYPE_CHECKING:
    from model.environment import Environment
    from model.problems import Problem

_MAPS = ("kubernetes:core/v1:ConfigMap", "kubernetes:core/v1:ConfigMapPatch")
_FILE = "volcano-scheduler.conf"


@rule(
    StackRule,
    id="scheduler-file",
    severity=Severity.HIGH,
    what="A configuration file of Volcano's scheduler says what Volcano obeys, and does what the document promises.",
    why=(
        "Volcano ignores keys and arguments that it does not know, and runs plugins side by side that contradict each "
        "other. Without the right plugin quotas, gangs or taints hold for nobody, and nothing says so."
    ),
    fix="Correct the file; better, say under `scheduler` what it shall aim at, and leave the file to this project.",
    link="https://volcano.sh/en/docs/schduler_introduction/",
)
def scheduler_file(stack: Stack, report: Report) -> None:
    """Judge the files in ConfigMaps and among the values of Volcano's chart."""
    for resource in stack.of(*_MAPS, *RELEASES):
        with report.reading(resource.urn):
            for file in _files(resource):
                with report.reading(resource.urn):
                    _judge(file, stack, resource, report)


def _files(resource: Resource) -> Iterator[Field]:
    if resource.type not in RELEASES:
        yield resource.properties["data"][_FILE]
    elif chart_values.name(resource.properties["chart"].text() or "") == chart_values.VOLCANO:
        yield resource.properties.at("values", "custom", "scheduler_config_override")


def _judge(file: Field, stack: Stack, resource: Resource, report: Report) -> None:
    text = file.text()
    if not text:
        return
    try:
        value: Any = yaml.safe_load(text)
    except yaml.YAMLError:
        value = None
    if not isinstance(value, Mapping):
        report.violation(file, "is no YAML map: the scheduler keeps what it had, or does not start", resource.urn)
        return
    # Not at the top: the model behind it would double the time that the pack needs to start.
    from model.problems import shown, spoken

    for problem in _problems(value, stack.environment):
        # A place within the file, which is not one of the document.
        place = spoken(problem.path).partition(".")[2].removeprefix("scheduler.override.")
        said = "[secret]" if file.secret else shown(problem.value)
        report.violation(file, f"{place}: {said}: {problem.message}", resource.urn)


def _problems(value: Mapping[str, Any], env: "Environment | None") -> "Iterator[Problem]":
    from model import scheduler_rules

    deserving = env is not None and any(_deserves(env))
    found = [it for it in scheduler_rules.problems(value, deserving=deserving) if it.severity == "error"]
    yield from found
    if found or env is None:
        return  # of a file with a mistake nothing is concluded
    from model import override_rules
    from model.environment import Environment
    from model.scheduler import Scheduler

    held = Scheduler.model_construct(kind="volcano", override=dict(value))
    # Not a copy: it would keep what was already derived from the document's own scheduler.
    fields = {name: getattr(env, name) for name in Environment.model_fields}
    declared = Environment.model_construct(None, **(fields | {"scheduler": held}))
    yield from (it for it in override_rules.limits(declared) if it.severity == "error")


def _deserves(env: "Environment") -> Iterator[bool]:
    from model import queues

    yield from (bool(node.queue.deserved) for node in queues.flatten(env))


RULES = (scheduler_file,)
