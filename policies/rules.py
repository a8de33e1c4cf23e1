"""What a rule is, what it is asked and how it answers. Knows neither Kubernetes nor the engine's protocol."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any

from model import laws
from model.laws import Severity
from policies.fields import Field, UnreadableError
from policies.pods import Pod, Walk, walk

if TYPE_CHECKING:
    from model.environment import Environment


class Level(Enum):
    """What a broken rule does: `mandatory` stops the update, `advisory` is only shown."""

    ADVISORY = "advisory"
    MANDATORY = "mandatory"
    DISABLED = "disabled"


@dataclass(frozen=True)
class Resource:
    """A resource of the stack.

    Attributes:
        urn: Its URN.
        type: Its type, such as `kubernetes:apps/v1:DaemonSet`.
        read: Opens its properties. A definition of custom resources has a megabyte of them, and no rule asks.
        protect: Whether the engine refuses to delete it.
        references: URNs of the resources that a property was made from, by property; only when the stack is judged.
            They tell what belongs together while ids are not known yet.
        written: The same resource as the program wrote it; only when the stack is judged, and None where the engine
            left out to say so, as it does for what an update is not about.
    """

    urn: str
    type: str
    read: Callable[[], Field]
    protect: bool = False
    references: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    written: "Resource | None" = None

    @property
    def inputs(self) -> Field:
        """What the program wrote. Outputs also hold what a provider made up: an unknown one that nobody set."""
        return self.properties if self.written is None else self.written.properties

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

    @property
    def environment(self) -> "Environment | None":
        """The document, checked as `./gangline check` does; None where a stack has none.

        Raises:
            UnreadableError: Something in it is not known yet, or it has errors.
        """
        if isinstance(self._judged, UnreadableError):
            raise UnreadableError(self._judged.field, self._judged.reason)
        return self._judged

    @cached_property
    def _judged(self) -> "Environment | UnreadableError | None":
        """The document, or why it cannot be had. Checked once: each pod of each rule asks."""
        if self.document is None:
            return None
        # Not at the top: the model behind it would double the time that the pack needs to start.
        from model import document

        try:
            found = document.judge(self.document.plain()).environment
        except UnreadableError as error:
            return error
        return UnreadableError(self.document, "has errors; see `./gangline check`") if found is None else found

    @cached_property
    def _by_type(self) -> Mapping[str, list[Resource]]:
        found: dict[str, list[Resource]] = {}
        for resource in self.resources:
            found.setdefault(resource.type, []).append(resource)
        return found

    def of(self, *types: str) -> list[Resource]:
        """Give the resources of exactly these types, type by type."""
        return [resource for type_ in types for resource in self._by_type.get(type_, ())]


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
    """What a rule says of its subject.

    Attributes:
        violations: Where the rule is broken.
        unjudged: What it could not judge.
        options: The values of the rule's options, by name; all of them.
        system: Namespaces that the environment counts as the system's, beside those that always are.
    """

    violations: list[Violation] = field(default_factory=list)
    unjudged: list[Unjudged] = field(default_factory=list)
    options: Mapping[str, Any] = field(default_factory=dict)
    system: frozenset[str] = frozenset()

    def violation(self, where: Field | str, message: str, urn: str = "") -> None:
        """Say that the rule is broken at a field."""
        self.violations.append(Violation(where.path if isinstance(where, Field) else where, message, urn))

    def listed(self, option: str, text: str) -> bool:
        """Whether an option that is a list of patterns, with `*` for any text, names something."""
        return any(fnmatchcase(text, pattern) for pattern in self.options[option])

    def reading(self, urn: str = "") -> "Reading":
        """Read fields in this block: one that cannot be read ends the block, not the rule, and is noted."""
        return Reading(self, urn)

    def variables(self, pod: Pod, judge: "Callable[[Field, Report], None]") -> None:
        """Have each variable of each container judged; what cannot be read of one keeps nobody from the next."""
        for container in pod.containers:
            with self.reading():
                for variable in container["env"].items():
                    with self.reading():
                        judge(variable, self)


class Reading:
    """A block in which fields are read (`Report.reading`). No generator: rules enter thousands of them."""

    __slots__ = ("_report", "_urn")

    def __init__(self, report: Report, urn: str) -> None:
        self._report, self._urn = report, urn

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if not isinstance(error, UnreadableError):
            return False
        self._report.unjudged.append(Unjudged(error.field.path, error.reason, self._urn))
        return True


@dataclass(frozen=True)
class Option:
    """A value that an environment may set for a rule.

    Attributes:
        kind: `int`, `str` or `bool`; `list` for a list of texts.
        default: The value where nothing is set.
        meaning: What it says, one sentence.
    """

    kind: type[int] | type[str] | type[bool] | type[list]
    default: Any
    meaning: str


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A law.

    Attributes:
        id: Its name in configuration and messages.
        severity: How bad it is where it is broken.
        what: What must hold, one sentence.
        why: What happens otherwise.
        fix: What to do where it is broken.
        link: A public page with the fact behind it.
        level: What it does when broken, unless the environment or the configuration of the pack says otherwise.
        options: What may be set about it, by name.
    """

    id: str
    severity: Severity
    what: str
    why: str
    fix: str
    link: str
    level: Level = Level.MANDATORY
    options: Mapping[str, Option] = field(default_factory=dict)

    def report(self, options: Mapping[str, Any] | None, system: frozenset[str]) -> Report:
        """Begin a report, with these options or with the defaults."""
        return Report(options=self.defaults if options is None else options, system=system)

    @cached_property
    def defaults(self) -> Mapping[str, Any]:
        """The options where nothing is set."""
        return {name: option.default for name, option in self.options.items()}


@dataclass(frozen=True, kw_only=True)
class PodRule(Rule):
    """A rule about the pods that a resource makes, whatever kind of workload it is."""

    judge: Callable[[Pod, Report], None]

    def apply(
        self, resource: Resource, options: Mapping[str, Any] | None = None, system: frozenset[str] = frozenset()
    ) -> Report:
        """Judge every pod of a resource."""
        report = self.report(options, system)
        report.unjudged += [Unjudged(error.field.path, error.reason) for error in resource.pods.unreadable]
        for pod in resource.pods.pods:
            with report.reading():
                self.judge(pod, report)
        return report


@dataclass(frozen=True, kw_only=True)
class ResourceRule(Rule):
    """A rule about each resource of some types.

    Attributes:
        types: Type tokens; every one that is meant, patches, lists and older versions of an API included. Of a list of
            Kubernetes' each object is judged by itself.
    """

    types: tuple[str, ...]
    judge: Callable[[Field, Report], None]

    def apply(
        self, resource: Resource, options: Mapping[str, Any] | None = None, system: frozenset[str] = frozenset()
    ) -> Report:
        """Judge a resource by its properties."""
        report = self.report(options, system)
        subjects = [resource.properties]
        if resource.type.startswith("kubernetes:") and resource.type.endswith("List"):
            subjects = []
            with report.reading():
                subjects = resource.properties["items"].items()
        for subject in subjects:
            with report.reading():
                self.judge(subject, report)
        return report


@dataclass(frozen=True, kw_only=True)
class StackRule(Rule):
    """A rule about all resources of a stack together."""

    judge: Callable[[Stack, Report], None]

    def apply(
        self, stack: Stack, options: Mapping[str, Any] | None = None, system: frozenset[str] = frozenset()
    ) -> Report:
        """Judge a stack."""
        report = self.report(options, system)
        with report.reading():
            self.judge(stack, report)
        return report


Law = PodRule | ResourceRule | StackRule
"""A rule that can be applied."""


def rule(
    form: type[Law], law: laws.Law | None = None, **metadata: Any
) -> Callable[[Callable[[Any, Report], None]], Any]:
    """Turn a judging function into a rule of that form.

    Args:
        form: The form.
        law: What the rule says, where that holds elsewhere too.
        metadata: What the rule says, or what is added to the law.
    """
    return lambda judge: form(judge=judge, **(vars(law) if law else {}), **metadata)
