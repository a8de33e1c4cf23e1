"""Where images and charts come from."""

from typing import Any

from tests.policies.objects import (
    UNKNOWN,
    Breaks,
    Passes,
    Resource,
    Unknowns,
    container,
    document,
    platform,
    pod,
    secret,
    template,
    workload,
)

DIGEST = "@sha256:" + "0" * 64


def demanding(rule: str, **options: Any) -> Resource:
    """Give a stack's root whose document sets options of a rule."""
    return platform(document("twin") | {"policies": {"options": {rule: options}}})


PINNED = demanding("image-digest", repositories=["registry.example.org/*"])
ALL_PINNED = demanding("image-digest", repositories=["*"])
ALLOWED = demanding("image-registries", allowed=["registry.example.org", "nvcr.io/nvidia/*"])


EXACTLY = demanding("image-registries", allowed=["nvcr.io/nvidia/pytorch", "example.org"])


def volume(name: Any) -> Resource:
    return pod(
        container(image=f"registry.example.org/a{DIGEST}"), volumes=[{"name": "it", "image": {"reference": name}}]
    )


def image(name: Any, **fields: Any) -> Resource:
    return pod(container(image=name, **fields))


def chart(name: Any, version: Any = None, **fields: Any) -> Resource:
    return Resource("kubernetes:helm.sh/v3:Release", {"chart": name, "version": version, **fields})


BREAKS: Breaks = {
    "image-digest": [
        (
            [PINNED, image("registry.example.org/a:1")],
            "spec.containers[0].image: registry.example.org/a:1 has no digest",
        ),
        ([ALL_PINNED, image("busybox:1.37")], "busybox:1.37 has no digest"),
        (
            [ALL_PINNED, pod(container(image=f"a{DIGEST}"), initContainers=[container()])],
            "spec.initContainers[0].image",
        ),
        ([PINNED, image(secret("registry.example.org/a:1"))], "[secret] has no digest"),
        ([PINNED, volume("registry.example.org/b:1")], "spec.volumes[0].image.reference"),
    ],
    "image-registries": [
        ([ALLOWED, image("busybox:1")], "busybox:1 is of docker.io; allowed: registry.example.org, nvcr.io/nvidia/*"),
        ([ALLOWED, image("nvcr.io/other/a:1")], "is of nvcr.io"),
        ([ALLOWED, volume("busybox:1")], "spec.volumes[0].image.reference: busybox:1 is of docker.io"),
        ([EXACTLY, image("nvcr.io/nvidia/pytorch-nightly:1")], "is of nvcr.io"),
        ([ALLOWED, image("registry.example.org.evil.com/a:1")], "is of registry.example.org.evil.com"),
        ([ALLOWED, image("localhost:5000/a")], "is of localhost:5000"),
        ([demanding("image-registries", allowed=["*.example.org"]), image("evil.io/a.example.org/b:1")], "evil.io"),
        ([ALLOWED, workload("Deployment", template())], "spec.template.spec.containers[0].image"),
    ],
    "image-pull-policy": [
        (image("a:1", imagePullPolicy="Always"), "spec.containers[0].imagePullPolicy: Always is for"),
        (image("a:1", imagePullPolicy="Never"), "imagePullPolicy: Never"),
    ],
    "chart-versions": [
        (chart("volcano"), "version: says nothing"),
        (chart("oci://registry.example.org/charts/volcano"), "version: says nothing"),
        (chart("volcano", ">=1.15"), "version: >=1.15 is not one version"),
        (chart("volcano", "1.x"), "1.x is not one version"),
        (chart("volcano", "1.16.0-rc.1"), "1.16.0-rc.1 is no release"),
    ],
}

PASSES: Passes = {
    "image-digest": [
        image("a:1"),
        [PINNED, image("a:1")],
        [PINNED, image(f"registry.example.org/a:1{DIGEST}")],
        [ALL_PINNED, image(f"busybox{DIGEST}")],
    ],
    "image-registries": [
        [EXACTLY, image("nvcr.io/nvidia/pytorch:25.01-py3")],
        image("busybox:1"),
        [ALLOWED, image("registry.example.org/team/a:1")],
        [ALLOWED, image(f"nvcr.io/nvidia/k8s/dcgm-exporter{DIGEST}")],
        [demanding("image-registries", allowed=["docker.io/library"]), image("busybox")],
        [demanding("image-registries", allowed=["*.example.org"]), image("mirror.example.org/team/b:1")],
        [demanding("image-registries", allowed=["*"]), image("busybox")],
    ],
    "image-pull-policy": [image("a:1"), image("a:1", imagePullPolicy="IfNotPresent")],
    "chart-versions": [
        chart("volcano", "1.15.1"),
        chart("gpu-operator", "v26.7.0"),
        chart("./charts/volcano"),
        chart("/opt/charts/volcano-1.15.1.tgz"),
    ],
}

UNKNOWNS: Unknowns = {
    "image-digest": [([ALL_PINNED, image(UNKNOWN)], "spec.containers[0].image")],
    "image-registries": [([ALLOWED, image(UNKNOWN)], "spec.containers[0].image")],
    "image-pull-policy": [(image("a:1", imagePullPolicy=UNKNOWN), "spec.containers[0].imagePullPolicy")],
    "chart-versions": [(chart("volcano", UNKNOWN), "version"), (chart(UNKNOWN), "chart")],
}
