"""Laws about keys of KMS."""

from policies.aws.reading import kept
from policies.fields import Field
from policies.rules import Level, Option, Report, ResourceRule, Severity, Stack, StackRule, rule

_KEY = ("aws:kms/key:Key",)


@rule(
    ResourceRule,
    types=_KEY,
    id="key-rotation",
    severity=Severity.MEDIUM,
    level=Level.ADVISORY,
    what="Keys are rotated.",
    why="AWS does it once a year by itself when it is asked to, and what was encrypted before stays readable.",
    fix="Set `enableKeyRotation: true`.",
    link="https://docs.aws.amazon.com/kms/latest/developerguide/rotate-keys.html",
)
def key_rotation(key: Field, report: Report) -> None:
    """Judge keys that AWS can rotate: symmetric ones of its own."""
    kind, usage = key["customerMasterKeySpec"].text(), key["keyUsage"].text()
    if kind not in (None, "SYMMETRIC_DEFAULT") or usage not in (None, "ENCRYPT_DECRYPT"):
        return
    if key["customKeyStoreId"].value is None and not key["enableKeyRotation"].boolean():
        report.violation(key["enableKeyRotation"], "is not true")


@rule(
    StackRule,
    id="key-deletion",
    severity=Severity.HIGH,
    what="A key that is deleted can be had back for some weeks, unless the document says `data: delete`.",
    why="Without its key nothing can be read any more, whatever backups there are, and AWS cannot help.",
    fix="Set `deletionWindowInDays: 30`, or leave it out; for a trial say `data: delete` in the document.",
    link="https://docs.aws.amazon.com/kms/latest/developerguide/deleting-keys.html",
    options={"days": Option(int, 30, "Days that a deleted key can be had back at least: 7 to 30.")},
)
def key_deletion(stack: Stack, report: Report) -> None:
    """Judge the time of each key; left out it is 30 days."""
    short = list[tuple[Field, str]]()
    for key in stack.of(*_KEY):
        with report.reading(key.urn):
            window = key.inputs["deletionWindowInDays"]
            days = window.whole()
            if days is not None and days < report.options["days"]:
                short.append((window, key.urn))
    if short and kept(stack):
        for window, urn in short:
            report.violation(window, f"is {window}, at least {report.options['days']} are wanted", urn)


RULES = (key_rotation, key_deletion)
