"""A review as SARIF 2.1.0, which code scanning shows at the line (https://docs.oasis-open.org/sarif/sarif/v2.1.0/).

What GitHub makes of it: https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/
sarif-support-for-code-scanning.
"""

import hashlib
from typing import Any

from .findings import Finding, Rule
from .report import Review

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_SCORES = {"critical": "9.5", "high": "8.0", "medium": "5.5", "low": "2.0"}
"""GitHub's bounds: over 9.0 is critical, 7.0 high, 4.0 medium, 0.1 low."""


def log(review: Review, version: str) -> dict[str, Any]:
    """Give the log: a run with a result for each broken rule that is not exempted.

    Code scanning reads no `suppressions`: what is exempted would be an open alert.
    """
    findings = [finding for finding in review.findings if not finding.exempted]
    advisory = {finding.rule.id for finding in findings if finding.level == "advisory"}
    rules = list({finding.rule.id: finding.rule for finding in findings}.values())
    driver = {"name": "gangline", "version": version, "rules": [_rule(rule, rule.id in advisory) for rule in rules]}
    order = [rule.id for rule in rules]
    run = {
        "tool": {"driver": driver},
        # One set of alerts per environment: that of another one must not close it.
        "automationDetails": {"id": f"gangline/{review.environment}/"},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, order.index(finding.rule.id)) for finding in findings],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(rule: Rule, advisory: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"id": rule.id, "name": rule.id, "shortDescription": {"text": rule.what}}
    if rule.fix:
        found["help"] = {"text": rule.fix}
    if rule.link:
        found["helpUri"] = rule.link
    # A high score fails the check of code scanning, whatever the level of a result; an advisory rule fails nothing.
    if rule.severity in _SCORES and not advisory:
        found["properties"] = {"tags": ["security"], "security-severity": _SCORES[rule.severity]}
    return found


def _result(finding: Finding, index: int) -> dict[str, Any]:
    told = [f"{finding.resource}: {finding.message}" if finding.resource else finding.message]
    told += [f"fix: {finding.fix}"] if finding.fix else []
    return {
        "ruleId": finding.rule.id,
        "ruleIndex": index,
        "level": "error" if finding.level == "mandatory" else "warning",
        "message": {"text": "\n".join(told)},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": finding.place.file},
                    "region": {"startLine": finding.place.line},
                }
            }
        ],
        # Stays the same when lines move, so that an alert is not closed and opened again.
        "partialFingerprints": {"primaryLocationLineHash": _fingerprint(finding)},
    }


def _fingerprint(finding: Finding) -> str:
    named = "\n".join((finding.rule.id, finding.resource, finding.message))
    return f"{hashlib.sha256(named.encode()).hexdigest()[:16]}:1"
