"""Laws about container images."""

import re
from collections.abc import Iterator

from model import laws
from model.image_names import TAG
from policies.fields import Field
from policies.pods import Pod
from policies.rules import PodRule, Report, rule

_TAG = re.compile(TAG)


def images(pod: Pod, report: Report) -> Iterator[tuple[Field, str]]:
    """Give each image that a pod uses, of containers and of volumes, with its text; note those that are not known."""
    found = [(container, "image") for container in pod.containers]
    with report.reading():
        found += [(volume["image"], "reference") for volume in pod.spec["volumes"].items()]
    for holder, key in found:
        with report.reading():
            if name := holder[key].text():
                yield holder[key], name


@rule(PodRule, laws.IMAGE_VERSION)
def image_version(pod: Pod, report: Report) -> None:
    """Judge each image."""
    for image, name in images(pod, report):
        if "@" not in name:
            tag = _TAG.search(name)
            if tag is None:
                report.violation(image, f"{image} has no tag, which means `latest`")
            elif tag["tag"] == "latest":
                report.violation(image, f"{image} is not a version")


RULES = (image_version,)
