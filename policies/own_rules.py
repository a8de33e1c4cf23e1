"""What the pack says of its own work: of what it could not judge, and of how an environment sets its rules."""

from policies.rules import Level, Rule, Severity

UNJUDGED = Rule(
    id="unjudged",
    severity=Severity.LOW,
    level=Level.ADVISORY,
    what="The rules can read what they judge.",
    why="A rule that cannot read a value cannot say that it holds.",
    fix="A preview lists such values; the update judges them, and stops where that is still impossible.",
    link="https://www.pulumi.com/docs/iac/concepts/inputs-outputs/",
)

POLICY_SETTINGS = Rule(
    id="policy-settings",
    severity=Severity.MEDIUM,
    what="Levels, options and exemptions name rules and options that there are.",
    why="A misspelt name sets nothing, and nobody notices until the rule stops somebody, or does not.",
    fix="Correct it under `policies` in the document; docs/reference/policies.md has all rules and their options.",
    link="https://www.pulumi.com/docs/insights/policy/policy-packs/authoring/",
)

EXEMPTION_EXPIRED = Rule(
    id="exemption-expired",
    severity=Severity.MEDIUM,
    what="No exemption is older than its last day.",
    why="It was granted for a time. What was to be mended by then is not, or nobody knows that it is.",
    fix="Mend what is exempt and take the exemption out, or have its owner decide on a new day.",
    link="https://learn.microsoft.com/azure/governance/policy/concepts/exemption-structure",
)

EXEMPTION_UNUSED = Rule(
    id="exemption-unused",
    severity=Severity.LOW,
    level=Level.ADVISORY,
    what="Every exemption is needed.",
    why="One that covers nothing any more covers the next mistake there, and nobody is told.",
    fix="Take it out.",
    link="https://learn.microsoft.com/azure/governance/policy/concepts/exemption-structure",
)

OWN_RULES = (UNJUDGED, POLICY_SETTINGS, EXEMPTION_EXPIRED, EXEMPTION_UNUSED)
