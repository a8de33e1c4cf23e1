"""Puts Queue objects back into the shape of a document, so that the model's own rules can judge them."""

from typing import Any

from model.environment import Environment
from model.problems import LOST, Path, Problem
from model.quantities import Quantity
from model.queues import Queue, problems
from model.quotas import resource_name
from model.volcano import claimed
from policies.queue_objects import ROOT, Queues
from policies.rules import Report, Stack

_QUOTAS = {
    # Where an object has what the model calls by these names.
    "guarantee": ("spec", "guarantee", "resource"),
    "deserved": ("spec", "deserved"),
    "capability": ("spec", "capability"),
}
_CLAIM = ("guarantee", "deserved")
"""What decides who takes back from whom."""


def judge(stack: Stack, found: Queues, report: Report) -> None:
    """Report what the model says of the stack's queues, each problem at the object that it is about."""
    tree = _Tree(found, report)
    for problem in problems(_environment(stack, tree.top, report)):
        if problem.severity == "error":
            tree.tell(problem)
    for name in found.above.keys() - tree.placed:
        why = "Volcano has a root queue of its own" if name == ROOT else "is one of its own parts"
        report.violation("spec.parent" if name != ROOT else "metadata.name", why, found.resources[name].urn)


def judge_claims(found: Queues, report: Report) -> None:
    """Report leaves that deserve more kinds of resources than decide who takes back; amounts do not matter for that."""
    for name, resource in found.resources.items():
        if found.below(name):
            continue  # Volcano asks leaves alone
        with report.reading(resource.urn):
            named = {kind: resource.properties.at(*keys).members() for kind, keys in _QUOTAS.items() if kind in _CLAIM}
            deciding = claimed(_queue(named, {}))
            more = [each for each in named["deserved"] if each not in deciding]
            if more:
                message = f"{', '.join(more)} beside {', '.join(deciding)}: each decides by itself who takes back"
                report.violation(resource.properties.at(*_QUOTAS["deserved"]), message, resource.urn)


class _Tree:
    """The objects as a document would have them."""

    def __init__(self, found: Queues, report: Report) -> None:
        self._found = found
        self._report = report
        self._places: dict[Path, str] = {}
        self.placed: set[str] = set()
        self.top = self._parts(ROOT, ("queues",))
        for parent in dict.fromkeys(found.above.values()):
            if parent != ROOT and parent not in found.above:
                # A queue that is there already, with amounts that nobody here knows.
                self.top[parent] = _queue(dict.fromkeys(_QUOTAS), self._parts(parent, ("queues", parent, "queues")))

    def tell(self, problem: Problem) -> None:
        """Report a problem of the document at the object that it is about."""
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

    def _violation(self, place: str, problem: Problem, urn: str) -> None:
        allowed = f" (allowed: {problem.allowed})" if problem.allowed else ""
        self._report.violation(place, problem.message + allowed, urn)

    def _parts(self, parent: str, at: Path) -> dict[str, Queue]:
        parts: dict[str, Queue] = {}
        for name in self._found.below(parent):
            # A document names parts without the whole: `llm` in `research` makes the object `research.llm`.
            key = name.removeprefix(f"{parent}.")
            self._places[*at, key] = name
            self.placed.add(name)
            parts[key] = _queue(self._quotas(name), self._parts(name, (*at, key, "queues")))
        return parts

    def _quotas(self, name: str) -> dict[str, Any]:
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


def _queue(quotas: dict[str, Any], parts: dict[str, Queue]) -> Queue:
    known = {kind: quotas.get(kind) for kind in _QUOTAS}
    return Queue.model_construct(
        queues=parts, **{kind: LOST if quota is None else quota for kind, quota in known.items()}
    )


def _environment(stack: Stack, top: dict[str, Queue], report: Report) -> Environment:
    """Give the document with the stack's queues in place of its own; nothing but queues where there is no document."""
    declared: Environment | None = None
    with report.reading():
        declared = stack.environment
    if declared is None:
        return Environment.model_construct(pools=LOST, queues=top)
    # Not a copy: it would keep what was already derived from the document's own queues.
    fields = {name: getattr(declared, name) for name in Environment.model_fields}
    return Environment.model_construct(None, **(fields | {"queues": top}))
