"""Versions of images."""

from tests.policies.objects import (
    UNKNOWN,
    Breaks,
    Passes,
    Resource,
    Unknowns,
    container,
    pod,
    secret,
    template,
    workload,
)

_DIGEST = "example.org/a@sha256:" + "0" * 64
_CLUSTER = workload("RayCluster", template())
AUTOSCALED = Resource(
    _CLUSTER.type, _CLUSTER.inputs | {"spec": _CLUSTER.inputs["spec"] | {"autoscalerOptions": {"image": "ray:latest"}}}
)


BREAKS: Breaks = {
    "image-version": [
        (pod(container(image="example.org/a:latest")), "spec.containers[0].image: example.org/a:latest"),
        (pod(container(image="a")), "a has no tag"),
        (pod(container(image="registry:5000/team/a")), "registry:5000/team/a has no tag"),
        (pod(initContainers=[container(image="a:latest")]), "spec.initContainers[0].image"),
        (pod(ephemeralContainers=[container(image="a:latest")]), "spec.ephemeralContainers[0].image"),
        (pod(volumes=[{"name": "v"}, {"image": {"reference": "weights"}}]), "spec.volumes[1].image.reference"),
        (pod(container(image=secret("hidden:latest"))), "spec.containers[0].image: [secret] is not a version"),
        (AUTOSCALED, "spec.autoscalerOptions.image"),
    ],
}

PASSES: Passes = {
    "image-version": [
        pod(container(image="example.org/a:v1.2")),
        pod(container(image="registry:5000/team/a:latest-cuda12")),
        pod(container(image=_DIGEST)),
        pod(container(image="example.org/a:latest@sha256:" + "0" * 64)),
        workload("DaemonSetPatch", {"spec": {"containers": [{"name": "main"}]}}),
    ],
}

UNKNOWNS: Unknowns = {
    "image-version": [
        (pod(container(image=UNKNOWN)), "spec.containers[0].image"),
        (pod(volumes=UNKNOWN), "spec.volumes"),
        (workload("RayCluster", UNKNOWN), "spec.workerGroupSpecs[0].template"),
    ],
}
