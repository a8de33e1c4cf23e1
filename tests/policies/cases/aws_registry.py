"""The account's own registry."""

from typing import Any

from tests.policies.objects import UNKNOWN, Breaks, Passes, Resource, Unknowns


def repository(**inputs: Any) -> Resource:
    return Resource("aws:ecr/repository:Repository", {"imageTagMutability": "IMMUTABLE"} | inputs)


def scanning(push: Any) -> Resource:
    return repository(imageScanningConfiguration={"scanOnPush": push})


BREAKS: Breaks = {
    "registry-tags": [
        (repository(imageTagMutability=None), "imageTagMutability: lets tags be moved"),
        (repository(imageTagMutability="MUTABLE"), "imageTagMutability: lets tags be moved"),
    ],
    "registry-scan": [
        (repository(), "imageScanningConfiguration.scanOnPush: is not true"),
        (scanning(False), "imageScanningConfiguration.scanOnPush: is not true"),
    ],
}

PASSES: Passes = {
    "registry-tags": [repository(), repository(imageTagMutability="IMMUTABLE_WITH_EXCLUSION")],
    "registry-scan": [
        scanning(True),
        [
            Resource(
                "aws:ecr/registryScanningConfiguration:RegistryScanningConfiguration", {"scanType": "BASIC"}, "all"
            ),
            repository(),
        ],
    ],
}

UNKNOWNS: Unknowns = {
    "registry-tags": [(repository(imageTagMutability=UNKNOWN), "imageTagMutability")],
    "registry-scan": [
        (scanning(UNKNOWN), "imageScanningConfiguration.scanOnPush"),
        (repository(imageScanningConfiguration=UNKNOWN), "imageScanningConfiguration"),
    ],
}
