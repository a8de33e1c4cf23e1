"""The tests of the rules can fail: a rule that lost its body does not get past its own cases."""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest

from policies.pack import RULES
from policies.rules import Law, Report
from tests.policies import checks
from tests.policies.cases import BREAKS, PASSES, UNKNOWNS
from tests.policies.in_process import InProcess

by_id = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)


def survives(rule: Law, check: Callable[..., None], cases: list[Any], *told: str, preview: bool = True) -> bool:
    """Whether a rule gets past all cases of a kind."""
    for case in cases:
        try:
            check(InProcess([rule], preview=preview), rule.id, *told, case)
        except AssertionError:
            return False
    return True


@by_id
def test_a_rule_that_does_nothing(rule: Law) -> None:
    idle = replace(rule, judge=lambda subject, report: None)
    assert survives(rule, checks.breaks, BREAKS[rule.id], rule.level.value)
    assert not survives(idle, checks.breaks, BREAKS[rule.id], rule.level.value)


@by_id
def test_a_rule_that_refuses_everything(rule: Law) -> None:
    def refuse(subject: Any, report: Report) -> None:
        report.violation("somewhere", "something")

    strict = replace(rule, judge=refuse)
    assert survives(rule, checks.passes, PASSES[rule.id])
    assert not survives(strict, checks.passes, PASSES[rule.id])


@by_id
def test_a_rule_that_takes_what_is_unknown_for_right(rule: Law) -> None:
    class Deaf(type(rule)):  # pyright: ignore[reportGeneralTypeIssues]
        def apply(self, subject: Any, *given: Any) -> Report:
            report = super().apply(subject, *given)
            return Report(violations=report.violations)

    deaf = Deaf(**{field.name: getattr(rule, field.name) for field in fields(rule)})
    assert not survives(deaf, checks.waits, UNKNOWNS[rule.id])
    assert not survives(deaf, checks.stops, UNKNOWNS[rule.id], rule.level.value, preview=False)
