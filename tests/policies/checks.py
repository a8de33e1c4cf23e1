"""What each case shows, for the tests of the rules and for those that show that these tests can fail."""

from typing import Any

from tests.policies.objects import Resource, Subject
from twin.policy_pack import PolicyPack, Verdict


def resources(subject: Subject) -> list[Resource]:
    return subject if isinstance(subject, list) else [subject]


def judged(pack: PolicyPack, subject: Subject) -> list[Verdict]:
    """Judge as the engine does: each resource by its inputs, then all of them, components without inputs."""
    all_ = resources(subject)
    verdicts = [verdict for resource in all_ for verdict in pack.analyze(resource)]
    outputs = [Resource(each.type, {}, each.name) if each.type.startswith("gangline:") else each for each in all_]
    return verdicts + pack.analyze_stack(outputs)


def of(rule: str, verdicts: list[Verdict]) -> list[Verdict]:
    return [verdict for verdict in verdicts if verdict.policy == rule]


def waiting(rule: str, verdicts: list[Verdict]) -> list[str]:
    """What a preview could not judge by that rule, as it is listed."""
    lines = [line for verdict in of("unjudged", verdicts) for line in verdict.message.splitlines()]
    return [line for line in lines if rule in line.rpartition("(")[2].removesuffix(")").split(", ")]


def _culprit(case: Any) -> str:
    """Name of the resource that a case is about, `` for the stack."""
    return case[2] if len(case) > 2 else resources(case[0])[-1].name


def breaks(pack: PolicyPack, rule: str, level: str, case: Any) -> None:
    """It is told once, at its place, with the fix."""
    verdicts = of(rule, judged(pack, case[0]))
    assert [verdict.level for verdict in verdicts] == [level]
    assert case[1] in verdicts[0].message
    assert "\nfix: " in verdicts[0].message
    assert verdicts[0].urn.rpartition("::")[2] == _culprit(case)


def passes(pack: PolicyPack, rule: str, subject: Subject) -> None:
    """Nothing is told, and nothing waits."""
    verdicts = judged(pack, subject)
    assert of(rule, verdicts) == []
    assert waiting(rule, verdicts) == []


def waits(pack: PolicyPack, rule: str, case: Any) -> None:
    """A preview lists it and stops nothing."""
    verdicts = judged(pack, case[0])
    assert of(rule, verdicts) == []
    assert [verdict.level for verdict in of("unjudged", verdicts)] == ["advisory"]
    assert any(line.startswith(f"{_culprit(case)}: {case[1]} ") for line in waiting(rule, verdicts))


def stops(pack: PolicyPack, rule: str, level: str, case: Any) -> None:
    """An update tells it as a violation of the rule itself."""
    verdicts = judged(pack, case[0])
    found = of(rule, verdicts)
    assert [verdict.level for verdict in found] == [level]
    assert f"{case[1]}: cannot be judged, it " in found[0].message
    assert of("unjudged", verdicts) == []
