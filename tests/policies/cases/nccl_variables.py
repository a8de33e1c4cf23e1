"""Variables of NCCL."""

from typing import Any

from tests.policies.objects import UNKNOWN, Breaks, Passes, Unknowns, container, pod, secret, template, workload


def variable(name: Any, value: Any) -> dict[str, Any]:
    return container(env=[{"name": "PATH", "value": "/bin"}, {"name": name, "value": value}])


BREAKS: Breaks = {
    "nccl-variables": [
        (pod(variable("NCCL_IB_DISABLE", "true")), "spec.containers[0].env[1].value: NCCL_IB_DISABLE is true: is no"),
        (pod(variable("NCCL_IB_HCA", "mlx5_0; mlx5_1")), "names are separated by commas alone"),
        (pod(variable("NCCL_IB_TIMEOUT", "64")), "out of range"),
        (pod(variable("NCCL_ALGO", "spiral")), "NCCL refuses to start"),
        (
            pod(initContainers=[variable("NCCL_ALGO", secret("hidden"))]),
            "spec.initContainers[0].env[1].value: NCCL_ALGO is [secret]: NCCL reads it otherwise",
        ),
        (workload("RayCluster", template(variable("NCCL_NET_GDR_LEVEL", "phb"))), "workerGroupSpecs[0]"),
    ],
}

PASSES: Passes = {
    "nccl-variables": [
        pod(variable("NCCL_DEBUG", "WARN")),
        pod(variable("NCCL_IB_HCA", "mlx5_1")),
        pod(variable("NCCL_SOMETHING_NEW", "x")),
        pod(variable("TIMEOUT", "64 s")),
        pod(container(env=[{"name": "NCCL_IB_SL", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}])),
    ],
}

UNKNOWNS: Unknowns = {
    "nccl-variables": [
        (pod(variable("NCCL_IB_SL", UNKNOWN)), "spec.containers[0].env[1].value"),
        (pod(container(env=UNKNOWN)), "spec.containers[0].env"),
        (pod(variable(UNKNOWN, "x")), "spec.containers[0].env[1].name"),
    ],
}
