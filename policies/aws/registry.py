"""Laws about the account's own registry of images."""

from policies.fields import Field
from policies.rules import Level, Report, ResourceRule, Severity, Stack, StackRule, rule

_REPOSITORY = ("aws:ecr/repository:Repository",)


@rule(
    ResourceRule,
    types=_REPOSITORY,
    id="registry-tags",
    severity=Severity.MEDIUM,
    level=Level.ADVISORY,
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
    StackRule,
    id="registry-scan",
    severity=Severity.LOW,
    level=Level.ADVISORY,
    what="Images are searched for known flaws when they are pushed.",
    why="Images of training bring hundreds of packages, which nobody looks at for the life of a model.",
    fix=(
        "Add a `RegistryScanningConfiguration`, which holds for all repositories of the account; their own setting is "
        "deprecated."
    ),
    link="https://docs.aws.amazon.com/AmazonECR/latest/userguide/image-scanning.html",
)
def registry_scan(stack: Stack, report: Report) -> None:
    """Judge the setting of each repository, where the registry has none; left out, nothing is searched."""
    if stack.of("aws:ecr/registryScanningConfiguration:RegistryScanningConfiguration"):
        return
    for repository in stack.of(*_REPOSITORY):
        with report.reading(repository.urn):
            setting = repository.inputs.at("imageScanningConfiguration", "scanOnPush")
            if not setting.boolean():
                report.violation(setting, "is not true, and the registry does not say it for all", repository.urn)


RULES = (registry_tags, registry_scan)
