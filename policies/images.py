"""Laws about container images."""

import re

from policies.fields import Field
from policies.pods import Pod
from policies.rules import PodRule, Report, Severity, rule

_TAG = re.compile(r":(?P<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})$")
"""A tag at the end; what follows a colon and holds a slash is a registry's port. Grammar: distribution/reference."""


@rule(
    PodRule,
    id="image-version",
    severity=Severity.MEDIUM,
    what="Images name a version: a tag other than `latest`, or a digest.",
    why=(
        "`latest`, which is also meant when no tag is written, is another image tomorrow: nodes of one gang run "
        "different code, and nothing can be rolled back."
    ),
    fix="Write the tag of a release, or better its digest (`image@sha256:...`).",
    link="https://kubernetes.io/docs/concepts/containers/images/",
)
def image_version(pod: Pod, report: Report) -> None:
    """Judge the image of each container and each image that is mounted as a volume."""
    images = [(container, "image") for container in pod.containers]
    with report.reading():
        images += [(volume["image"], "reference") for volume in pod.spec["volumes"].items()]
    for holder, key in images:
        with report.reading():
            _image_version(holder[key], report)


def _image_version(image: Field, report: Report) -> None:
    reference = image.text()
    if not reference or "@" in reference:
        return
    tag = _TAG.search(reference)
    if tag is None:
        report.violation(image, f"{image} has no tag, which means `latest`")
    elif tag["tag"] == "latest":
        report.violation(image, f"{image} is not a version")


RULES = (image_version,)
