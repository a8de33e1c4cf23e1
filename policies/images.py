"""Laws about container images."""

import re

from model import laws
from model.image_names import TAG
from policies.fields import Field
from policies.pods import Pod
from policies.rules import PodRule, Report, rule

_TAG = re.compile(TAG)


@rule(PodRule, laws.IMAGE_VERSION)
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
