"""Pods that help themselves to GPUs."""

from typing import Any

from tests.policies.objects import UNKNOWN, Breaks, Passes, Resource, Unknowns, container, pod, template, workload


def seeing(devices: Any) -> dict[str, Any]:
    return container(env=[{"name": "NVIDIA_VISIBLE_DEVICES", "value": devices}])


BREAKS: Breaks = {
    "gpu-visibility": [
        (pod(seeing("all")), "spec.containers[0].env[0].value: all hands over GPUs"),
        (pod(seeing("0,1")), "spec.containers[0].env[0].value"),
        (pod(initContainers=[seeing("all")]), "spec.initContainers[0].env[0].value"),
        (
            pod(container(env=[{"name": "NVIDIA_VISIBLE_DEVICES", "valueFrom": {}}])),
            "env[0].valueFrom: takes the names",
        ),
        (workload("DaemonSet", template(seeing("all"))), "spec.template.spec.containers[0].env[0].value"),
        (pod(container(env=[{"name": UNKNOWN}, *seeing("all")["env"]])), "spec.containers[0].env[1].value"),
    ],
}

PASSES: Passes = {
    "gpu-visibility": [
        pod(seeing("void")),
        pod(seeing("none")),
        pod(seeing(None)),
        pod(container(env=[{"name": "OTHER", "value": "all"}])),
        Resource(
            "kubernetes:apps/v1:DaemonSet",
            {"metadata": {"namespace": "gangline-system"}, "spec": {"template": template(seeing("all"))}},
        ),
    ],
}

UNKNOWNS: Unknowns = {
    "gpu-visibility": [
        (pod(seeing(UNKNOWN)), "spec.containers[0].env[0].value"),
        (pod(container(env=UNKNOWN)), "spec.containers[0].env"),
    ],
}
