"""What the policy pack and the document's own rules say of a stack, each with its place."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from .places import Place, Places

if TYPE_CHECKING:
    from model.problems import Problem
    from twin.monitor import Resource

DOCUMENT = "document"
"""The rule that mistakes of the document itself break."""
UNJUDGED = "unjudged"
_FIX = "fix: "
_EXEMPTED = "exempted: "
_SEVERITY = "POLICY_SEVERITY_"


@dataclass(frozen=True)
class Rule:
    """A law, as the pack describes it.

    Attributes:
        id: Its name.
        what: What must hold.
        fix: What to do where it is broken.
        severity: low, medium, high or critical.
        link: Where its fact is to be read; empty where nowhere.
    """

    id: str
    what: str
    fix: str = ""
    severity: str = ""
    link: str = ""


@dataclass(frozen=True)
class Finding:
    """A broken rule.

    Attributes:
        rule: Which.
        level: `mandatory` stops an update.
        resource: The resource, as type and name; empty for the stack or the document.
        message: Where in it and what.
        fix: What to do.
        place: Where it comes from.
        exempted: By whom and until when it is allowed; empty where it is not.
    """

    rule: Rule
    level: Literal["mandatory", "advisory"]
    resource: str
    message: str
    fix: str
    place: Place
    exempted: str = ""


@dataclass(frozen=True)
class Judgement:
    """What the pack says of a stack.

    Attributes:
        rules: How many rules were asked.
        findings: Broken rules, the worst first.
        unjudged: What no rule could judge yet: one line each, with the rules that need it.
    """

    rules: int
    findings: tuple[Finding, ...]
    unjudged: tuple[str, ...]


def judge(resources: "Sequence[Resource]", places: Places) -> Judgement:
    """Have the pack judge all resources of a stack.

    Raises:
        TwinError: The pack does not start or breaks down.
    """
    from twin.policy_pack import PolicyPack

    own = [resource for resource in resources if not resource.read]
    with PolicyPack() as pack:
        rules = {each.id: each for each in map(_rule, pack.info().policies)}
        verdicts = [verdict for resource in own for verdict in pack.analyze(resource)] + pack.analyze_stack(own)
    unjudged = tuple(
        line for verdict in verdicts if verdict.policy == UNJUDGED for line in verdict.message.splitlines()[2:]
    )
    findings = [
        finding(rules, verdict.policy, verdict.level, verdict.urn, verdict.message, places)
        for verdict in verdicts
        if verdict.policy != UNJUDGED
    ]
    return Judgement(len(rules.keys() - {UNJUDGED}), tuple(sorted(findings, key=_rank)), unjudged)


SOUND = Rule(DOCUMENT, "The document is sound.", severity="high")
PASSABLE = Rule("queue-change", "Volcano takes each step of a change, not only its end.", severity="high")


def of_document(problems: "Iterable[Problem]", places: Places, rule: Rule = SOUND) -> Iterator[Finding]:
    """Give what is wrong with a document, or with the way to it, as broken rules."""
    from model.problems import shown, spoken

    for problem in problems:
        hints = [f"allowed: {problem.allowed}"] if problem.allowed else []
        message = "; ".join([f"{spoken(problem.path)}: {shown(problem.value)}: {problem.message}", *hints])
        level = "mandatory" if problem.severity == "error" else "advisory"
        yield Finding(rule, level, "", message, problem.fix or "", places.of_path(problem.path))


def _rule(info: Any) -> Rule:
    from pulumi.runtime.proto import analyzer_pb2

    severity = analyzer_pb2.PolicySeverity.Name(info.severity).removeprefix(_SEVERITY).lower()
    return Rule(info.name, info.description, info.remediation_steps, severity, info.url)


def finding(rules: Mapping[str, Rule], policy: str, level: str, urn: str, message: str, places: Places) -> Finding:
    """Read what the pack says: what must hold, then where and what is wrong, then how to mend it."""
    rule = rules.get(policy) or Rule(policy, message.splitlines()[0])
    lines = message.removeprefix(rule.what).strip("\n").splitlines()
    told = {mark: next((line for line in lines if line.startswith(mark)), "") for mark in (_FIX, _EXEMPTED)}
    wrong = "\n".join(line for line in lines if line not in told.values())
    field = wrong.partition(": ")[0]
    return Finding(
        rule,
        "mandatory" if level == "mandatory" else "advisory",
        "::".join(urn.split("::")[-2:]).rpartition("$")[2],
        wrong,
        told[_FIX].removeprefix(_FIX),
        places.of_field(urn, field),
        told[_EXEMPTED].removeprefix(_EXEMPTED),
    )


_SEVERITIES = ("critical", "high", "medium", "low", "")


def _rank(finding: Finding) -> tuple[bool, bool, int, str, str]:
    return (
        bool(finding.exempted),
        finding.level != "mandatory",
        _SEVERITIES.index(finding.rule.severity) if finding.rule.severity in _SEVERITIES else len(_SEVERITIES),
        finding.rule.id,
        finding.resource,
    )
