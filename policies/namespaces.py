"""Laws about namespaces."""

from model import namespaces, pod_security
from policies.fields import Field
from policies.rules import Report, ResourceRule, Severity, rule


@rule(
    ResourceRule,
    types=tuple(f"kubernetes:core/v1:Namespace{form}" for form in ("", "Patch", "List")),
    id="pod-security",
    severity=Severity.HIGH,
    what="Only namespaces of the system allow privileged pods, and those say which level they hold their pods to.",
    why=(
        "The level decides, before any scheduler does, whether a pod may mount the disks of its node. A namespace "
        "with a level that does not exist the API server refuses."
    ),
    fix=(
        "Set the label `pod-security.kubernetes.io/enforce` to `baseline` or `restricted`; a namespace of the platform "
        "stands in `policies.systemNamespaces` of the document."
    ),
    link="https://kubernetes.io/docs/concepts/security/pod-security-admission/",
)
def pod_security_level(namespace: Field, report: Report) -> None:
    """Judge the level that a namespace enforces. A namespace of a team may leave it to the cluster's default."""
    metadata = namespace["metadata"]
    level = metadata["labels"][pod_security.ENFORCE]
    said = level.text()
    if said is not None and said not in pod_security.LEVELS:
        report.violation(level, f"{level} is no level: {', '.join(pod_security.LEVELS)}")
    elif said == "privileged" and not namespaces.of_system(metadata["name"].text() or "", report.system):
        report.violation(level, "its pods may do all that root on their node may")
    elif said is None and metadata["name"].text() in namespaces.OURS:
        report.violation(level, "says nothing, which may mean that everything is allowed")


RULES = (pod_security_level,)
