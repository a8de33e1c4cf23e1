"""The law that keys and tokens are secrets."""

import base64
import binascii
from collections.abc import Iterator

from model import secret_texts
from model.pod_templates import TEMPLATES, VERSIONS
from policies.fields import SIGNATURE, UNKNOWN, Field
from policies.rules import Report, ResourceRule, Severity, rule

_KUBERNETES = (
    *(f"{group}/{VERSIONS[group]}:{kind}" for group, kind in TEMPLATES),
    "core/v1:ConfigMap",
    "core/v1:Secret",
)
_TYPES = (
    "aws:ec2/instance:Instance",
    "aws:ec2/launchConfiguration:LaunchConfiguration",
    "aws:ec2/launchTemplate:LaunchTemplate",
    "aws:ecs/taskDefinition:TaskDefinition",
    "aws:lambda/function:Function",
    "aws:secretsmanager/secretVersion:SecretVersion",
    "aws:ssm/parameter:Parameter",
    "kubernetes:helm.sh/v3:Chart",
    "kubernetes:helm.sh/v3:Release",
    "kubernetes:helm.sh/v4:Chart",
    *(f"kubernetes:{token}{form}" for token in _KUBERNETES for form in ("", "Patch")),
)
_PLACES = (
    *("binaryData", "containerDefinitions", "data", "environment", "metadata", "secretString", "spec", "stringData"),
    *("template", "userData", "userDataBase64", "value", "values"),
)
"""Where they hold texts of people. Elsewhere are ids, which are not known before."""
_NEVER = ("image", "name", "namespace")
"""What is a name, wherever it is: others judge it, and wait for it."""
_ENCODED = ("binaryData", "data", "userData", "userDataBase64")
"""Where a text may be base64 of another. The SDK marks what is in its Secrets; in those of manifests nobody does."""


@rule(
    ResourceRule,
    types=_TYPES,
    id="plain-secrets",
    severity=Severity.CRITICAL,
    what="Keys and tokens are marked as secrets.",
    why=(
        "What is not marked is plain text in the state of the stack, in each preview and in the logs of CI; and in a "
        "ConfigMap, or in the environment of a pod, everybody who may look at it has it."
    ),
    fix=(
        "Take the token back, for it is known by now. Set the new one by `pulumi config set --secret`, keep it in a "
        "Secret or in a manager of secrets, and let pods refer to that."
    ),
    link="https://www.pulumi.com/docs/iac/concepts/secrets/",
)
def plain_secrets(resource: Field, report: Report) -> None:
    """Look through all texts that are no secrets; one within another text is found too."""
    for place in _PLACES:
        for field in _texts(resource[place], report):
            texts = (field.value, _decoded(field.value)) if place in _ENCODED else (field.value,)
            if found := next(filter(None, map(secret_texts.found, texts)), None):
                report.violation(field.path, f"holds {found}")


def _texts(field: Field, report: Report) -> Iterator[Field]:
    if field.secret or (isinstance(field.value, dict) and SIGNATURE in field.value):
        return  # the latter is an asset or a reference, whose text is elsewhere
    with report.reading():
        if isinstance(field.value, str):
            yield field
        elif isinstance(field.value, list):
            for item in field.items():
                yield from _texts(item, report)
        elif field.value is UNKNOWN or isinstance(field.value, dict):
            for name, member in field.members().items():
                if name not in _NEVER:
                    yield from _texts(member, report)


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError):
        return ""


RULES = (plain_secrets,)
