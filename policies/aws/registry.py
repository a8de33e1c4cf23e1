"""Laws about the account's own registry of images."""

from policies.fields import Field
from policies.rules import Level, Report, ResourceRule, Severity, rule

_REPOSITORY = ("aws:ecr/repository:Repository",)


@rule(
    ResourceRule,
    types=_REPOSITORY,
    id="registry-tags",
    severity=Severity.MEDIUM,
    what="A tag of an image stays with the image that it was given to.",
    why=(
        "Otherwise whoever may push replaces what a thousand nodes run, under the same name, and a gang that is "
        "restarted runs other code than before."
    ),
    fix="Set `imageTagMutability: IMMUTABLE`, or `IMMUTABLE_WITH_EXCLUSION` for single tags that move.",
    link="https://docs.aws.amazon.com/AmazonECR/latest/userguide/image-tag-mutability.html",
)
def registry_tags(repository: Field, report: Report) -> None:
    """Judge the setting; left out, tags can be moved."""
    setting = repository["imageTagMutability"]
    if not (setting.text() or "MUTABLE").startswith("IMMUTABLE"):
        report.violation(setting, "lets tags be moved")


@rule(
    ResourceRule,
    types=_REPOSITORY,
    id="registry-scan",
    severity=Severity.LOW,
    level=Level.ADVISORY,
    what="Images are searched for known flaws when they are pushed.",
    why="Images of training bring hundreds of packages, which nobody looks at for the life of a model.",
    fix="Set `imageScanningConfiguration: {scanOnPush: true}`.",
    link="https://docs.aws.amazon.com/AmazonECR/latest/userguide/image-scanning.html",
)
def registry_scan(repository: Field, report: Report) -> None:
    """Judge the setting; left out, nothing is searched."""
    setting = repository.at("imageScanningConfiguration", "scanOnPush")
    if not setting.boolean():
        report.violation(setting, "is not true")


RULES = (registry_tags, registry_scan)
