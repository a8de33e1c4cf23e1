"""Laws about queues: among themselves, against the pools, and towards the workloads that name them.

The rules about amounts are the model's own (`model.queues.problems`). Here the Queue objects of a stack are put back
into the shape of a document, so that objects written by hand are held to what a document is held to.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from policies.fields import Field, UnreadableError
from policies.rules import Report, Resource, Severity, Stack, StackRule, rule
from policies.workloads import queue_field

if TYPE_CHECKING:
    from model.environment import Environment
    from model.problems import Path, Problem
    from model.queues import Queue

QUEUE = "kubernetes:scheduling.volcano.sh/v1beta1:Queue"

_QUOTAS = {
    # Where an object has what the model calls by these names.
    "guarantee": ("spec", "guarantee", "resource"),
    "deserved": ("spec", "deserved"),
    "capability": ("spec", "capability"),
}


@dataclass(frozen=True)
class Queues:
    """The Queue objects of a stack.

    Attributes:
        above: The name of the queue above each, by name.
        resources: The object of each, by name.
        complete: Whether the names and parents of all objects could be read.
    """

    above: dict[str, str]
    resources: dict[str, Resource]
    complete: bool

    def below(self, name: str) -> list[str]:
        """Give the parts of a queue."""
        return [each for each, parent in self.above.items() if parent == name]


@rule(
    StackRule,
    id="queue-sums",
    severity=Severity.HIGH,
    what="Queues can keep what they promise: to themselves, to their parts, and out of the pools.",
    why=(
        "Volcano refuses a queue that contradicts its parent only when it is created, halfway through an update. More "
        "than the pools hold it accepts: then no queue can have its share, and reclaiming never ends."
    ),
    fix="Lower the amount that is named, or raise the one that bounds it.",
)
def queue_sums(stack: Stack, report: Report) -> None:
    """Judge all Queue objects together by the model's rules."""
    # Not at the top: these imports would double the time that the pack needs to start.
    from model import queues

    found = _queues(stack, report)
    if not found.above:
        return
    tree = _Tree(found, report)
    for problem in queues.problems(_environment(stack, tree.top, report)):
        if problem.severity == "error":
            tree.tell(problem)
    for name in found.above.keys() - tree.placed:
        report.violation("spec.parent", "is one of its own parts", found.resources[name].urn)


@rule(
    StackRule,
    id="queue-exists",
    severity=Severity.HIGH,
    what="A workload names a queue of this stack, and one without parts.",
    why=(
        "Volcano refuses the gang, KubeRay only logs that, and a pod waits without a word: nothing ever runs, and "
        "`up` looks well."
    ),
    fix="Name a leaf of the queue tree.",
)
def queue_exists(stack: Stack, report: Report) -> None:
    """Judge the queue that each workload names. A stack without queues uses those of another one."""
    found = _queues(stack, Report())
    if not found.above and found.complete:
        return
    for resource in stack.resources:
        for pod in resource.pods.pods:
            with report.reading(resource.urn):
                _queue_exists(queue_field(pod), found, resource, report)


def _queue_exists(field: Field | None, found: Queues, resource: Resource, report: Report) -> None:
    name = field.text() if field is not None else None
    if field is None or not name or name == _DEFAULT:
        return
    if found.below(name):
        report.violation(field, f"{field} has parts, and work goes to the parts", resource.urn)
    elif name not in found.above and found.complete:
        report.violation(field, f"{field} is no queue of this stack", resource.urn)
    elif name not in found.above:
        raise UnreadableError(field, f"names {field}, and not all queues are known yet")


_ROOT, _DEFAULT = "root", "default"
"""Queues that Volcano makes by itself."""


def _queues(stack: Stack, report: Report) -> Queues:
    above: dict[str, str] = {}
    resources: dict[str, Resource] = {}
    complete = True
    for resource in stack.resources:
        if resource.type != QUEUE:
            continue
        name = parent = None
        with report.reading(resource.urn):
            name = resource.properties.at("metadata", "name").text()
            parent = resource.properties.at("spec", "parent").text() or _ROOT
        if name is None or parent is None:
            complete = False
        else:
            above[name], resources[name] = parent, resource
    return Queues(above, resources, complete)


class _Tree:
    """The objects as a document would have them."""

    def __init__(self, found: Queues, report: Report) -> None:
        self._found = found
        self._report = report
        self._places: dict[Path, str] = {}
        self.placed: set[str] = set()
        self.top = self._parts(_ROOT, ("queues",))
        for parent in dict.fromkeys(found.above.values()):
            if parent != _ROOT and parent not in found.above:
                # A queue that is there already, with amounts that nobody here knows.
                self.top[parent] = _queue(dict.fromkeys(_QUOTAS), self._parts(parent, ("queues", parent, "queues")))

    def tell(self, problem: "Problem") -> None:
        """Report a problem of the document at the object that it is about."""
        from model.queues import resource_name

        for length in range(len(problem.path), 0, -1):
            name = self._places.get(problem.path[:length])
            if name is None:
                continue
            rest = [str(key) for key in problem.path[length:]]
            if rest and rest[0] in _QUOTAS:
                resource = self._found.resources[name]
                keys = (*_QUOTAS[rest[0]], *map(resource_name, rest[1:]))
                self._violation(resource.properties.at(*keys).path, problem, resource.urn)
            return
        self._violation("queues", problem, "")

    def _violation(self, place: str, problem: "Problem", urn: str) -> None:
        allowed = f" (allowed: {problem.allowed})" if problem.allowed else ""
        self._report.violation(place, problem.message + allowed, urn)

    def _parts(self, parent: str, at: "Path") -> dict[str, "Queue"]:
        parts: dict[str, Queue] = {}
        for name in self._found.below(parent):
            # A document names parts without the whole: `llm` in `research` makes the object `research.llm`.
            key = name.removeprefix(f"{parent}.")
            self._places[*at, key] = name
            self.placed.add(name)
            parts[key] = _queue(self._quotas(name), self._parts(name, (*at, key, "queues")))
        return parts

    def _quotas(self, name: str) -> dict[str, Any]:
        from model.problems import LOST
        from model.quantities import Quantity

        resource = self._found.resources[name]
        quotas: dict[str, Any] = {}
        for kind, keys in _QUOTAS.items():
            with self._report.reading(resource.urn):
                amounts = resource.properties.at(*keys).members()
                quotas[kind] = {}
                for key, amount in amounts.items():
                    quotas[kind][key] = LOST
                    with self._report.reading(resource.urn):
                        quotas[kind][key] = amount.quantity() or Quantity.parse(0)
        return quotas


def _queue(quotas: Mapping[str, Any], parts: dict[str, "Queue"]) -> "Queue":
    from model.problems import LOST
    from model.queues import Queue

    known = {kind: quotas.get(kind) for kind in _QUOTAS}
    return Queue.model_construct(
        queues=parts, **{kind: LOST if quota is None else quota for kind, quota in known.items()}
    )


def _environment(stack: Stack, top: dict[str, "Queue"], report: Report) -> "Environment":
    """Give the document with the stack's queues in place of its own; nothing but queues where there is no document."""
    from model import document
    from model.environment import Environment
    from model.problems import LOST

    declared: Environment | None = None
    if stack.document is not None:
        with report.reading():
            declared = document.judge(stack.document.plain()).environment
            if declared is None:
                raise UnreadableError(stack.document, "has errors; see `./gangline check`")
    if declared is None:
        return Environment.model_construct(pools=LOST, queues=top)
    # Not a copy: it would keep what was already derived from the document's own queues.
    fields = {name: getattr(declared, name) for name in Environment.model_fields}
    return Environment.model_construct(None, **(fields | {"queues": top}))
