"""The Queue objects of a stack: what they are called and which is part of which."""

from dataclasses import dataclass

from policies.rules import Report, Resource, Stack

QUEUE = "kubernetes:scheduling.volcano.sh/v1beta1:Queue"
ROOT, DEFAULT = "root", "default"
"""Queues that Volcano makes by itself."""


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
        """Give the parts of a queue. None is its own part, whatever an object says."""
        return [each for each, parent in self.above.items() if parent == name != each]


def read(stack: Stack, report: Report) -> Queues:
    """Read the names of all Queue objects, and of the queue above each."""
    above: dict[str, str] = {}
    resources: dict[str, Resource] = {}
    complete = True
    for resource in stack.resources:
        if resource.type != QUEUE:
            continue
        name = parent = None
        with report.reading(resource.urn):
            name = resource.properties.at("metadata", "name").text()
            parent = resource.properties.at("spec", "parent").text() or ROOT
        if name is None or parent is None:
            complete = False
        else:
            above[name], resources[name] = parent, resource
    return Queues(above, resources, complete)
