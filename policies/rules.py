"""What a rule is, what it is asked and how it answers. Knows neither Kubernetes nor the engine's protocol."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any

from policies.fields import Field, UnreadableError
from policies.pods import Pod, Walk, walk


class Level(Enum):
    """What a broken rule does: `mandatory` stops the update, `advisory` is only shown."""

    ADVISORY = "advisory"
    MANDATORY = "mandatory"
    DISABLED = "disabled"


class Severity(Enum):
    """How bad it is where a rule is broken."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


@dataclass(frozen=True)
class Resource:
    """A resource of the stack.

    Attributes:
        urn: Its URN.
        type: Its type, such as `kubernetes:apps/v1:DaemonSet`.
        read: Opens its properties. A definition of custom resources has a megabyte of them, and no rule asks.
    """

    urn: str
    type: str
    read: Callable[[], Field]

    @cached_property
    def properties(self) -> Field:
        """Its properties: inputs when it is judged alone, outputs when the stack is. Opened once for all rules."""
        return self.read()

    @cached_property
    def pods(self) -> Walk:
        """The pods that it makes. Found once for all rules."""
        return walk(self.type, lambda: self.properties)


@dataclass(frozen=True)
class Stack:
    """All resources of a stack.

    Attributes:
        resources: The resources with their outputs.
        document: The document that the stack was made from; None where a stack has none.
    """

    resources: tuple[Resource, ...]
    document: Field | None


@dataclass(frozen=True)
class Violation:
    """A broken rule: where and what, and the resource when the rule judged a whole stack."""

    path: str
    message: str
    urn: str = ""


@dataclass(frozen=True)
class Unjudged:
    """Something that a rule could not judge: where and why, and the resource when the rule judged a whole stack."""

    path: str
    reason: str
    urn: str = ""


@dataclass
class Report:
    """What a rule says of its subject."""

    violations: list[Violation] = field(default_factory=list)
    unjudged: list[Unjudged] = field(default_factory=list)

    def violation(self, where: Field | str, message: str, urn: str = "") -> None:
        """Say that the rule is broken at a field."""
        self.violations.append(Violation(where.path if isinstance(where, Field) else where, message, urn))

    @contextmanager
    def reading(self, urn: str = "") -> Iterator[None]:
        """Read fields in this block: one that cannot be read ends the block, not the rule, and is noted."""
        try:
            yield
        except UnreadableError as error:
            self.unjudged.append(Unjudged(error.field.path, error.reason, urn))

    def variables(self, pod: Pod, judge: "Callable[[Field, Report], None]") -> None:
        """Have each variable of each container judged; what cannot be read of one keeps nobody from the next."""
        for container in pod.containers:
            with self.reading():
                for variable in container["env"].items():
                    with self.reading():
                        judge(variable, self)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A law.

    Attributes:
        id: Its name in configuration and messages.
        severity: How bad it is where it is broken.
        what: What must hold, one sentence.
        why: What happens otherwise.
        fix: What to do where it is broken.
        level: What it does when broken, unless the configuration of the pack says otherwise.
    """

    id: str
    severity: Severity
    what: str
    why: str
    fix: str
    level: Level = Level.MANDATORY


@dataclass(frozen=True, kw_only=True)
class PodRule(Rule):
    """A rule about the pods that a resource makes, whatever kind of workload it is."""

    judge: Callable[[Pod, Report], None]

    def apply(self, resource: Resource) -> Report:
        """Judge every pod of a resource."""
        report = Report(unjudged=[Unjudged(error.field.path, error.reason) for error in resource.pods.unreadable])
        for pod in resource.pods.pods:
            with report.reading():
                self.judge(pod, report)
        return report


@dataclass(frozen=True, kw_only=True)
class StackRule(Rule):
    """A rule about all resources of a stack together."""

    judge: Callable[[Stack, Report], None]

    def apply(self, stack: Stack) -> Report:
        """Judge a stack."""
        report = Report()
        with report.reading():
            self.judge(stack, report)
        return report


def rule(form: type[PodRule] | type[StackRule], **metadata: Any) -> Callable[[Callable[[Any, Report], None]], Any]:
    """Turn a judging function into a rule of that form."""
    return lambda judge: form(judge=judge, **metadata)
