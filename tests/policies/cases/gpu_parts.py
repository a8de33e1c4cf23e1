"""Parts of GPUs."""

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

GPU = "nvidia.com/gpu"


def asks(limits: Any) -> Resource:
    return pod(container(resources={"limits": limits}))


SHARING = document("sharing")
PLATFORM = platform(SHARING)
SHARED: dict[str, Any] = {"resources": {"limits": {"nvidia.com/gpu.shared": 1}}}


def _pool(kind: str) -> str:
    pools = SHARING["pools"].items()
    return next(name for name, pool in pools if isinstance(pool.get("sharing"), dict) and kind in pool["sharing"])


MPS, SLICED = _pool("mps"), _pool("timeSlicing")


def on(pool: Any, *containers: Any, **spec: Any) -> Resource:
    return pod(*containers, nodeSelector={"gangline.dev/pool": pool}, **spec)


def mounting(path: Any) -> dict[str, Any]:
    return container(volumeMounts=[{"name": "a", "mountPath": path}], **SHARED)


BREAKS: Breaks = {
    "mps-pods": [
        ([PLATFORM, on(MPS, mounting("/dev/shm"))], "spec.containers[0].volumeMounts[0].mountPath: /dev/shm must be"),
        ([PLATFORM, on(MPS, container(**SHARED), hostIPC=True)], "spec.hostIPC: brings the node's own"),
        (
            [PLATFORM, on(MPS, container(env=[{"name": "CUDA_MPS_PIPE_DIRECTORY", "value": "/tmp"}], **SHARED))],
            "spec.containers[0].env[0].name",
        ),
    ],
    "gpu-parts": [
        (asks(limits={"nvidia.com/gpu.shared": 2}), 'limits["nvidia.com/gpu.shared"]: asks for 2: two slices may be'),
        (
            asks(limits={"nvidia.com/mig-1g.10gb": 2}),
            'limits["nvidia.com/mig-1g.10gb"]: asks for 2: a process uses one',
        ),
        (asks(limits={"nvidia.com/mig-1g.10gb.me.shared": 3}), "two slices may be of the same GPU"),
        (asks(limits={"nvidia.com/gpu.shared": "1k"}), "asks for 1k"),
        (asks(limits={"nvidia.com/gpu.shared": secret(2)}), "asks for [secret]"),
        (
            workload("RayCluster", template(container(resources={"limits": {"nvidia.com/gpu.shared": 8}}))),
            "workerGroupSpecs[0]",
        ),
    ],
}

PASSES: Passes = {
    "mps-pods": [
        [PLATFORM, on(MPS, container(**SHARED))],
        [PLATFORM, on(MPS, mounting("/cache"))],
        [PLATFORM, on(SLICED, mounting("/dev/shm"))],
        on(MPS, mounting("/dev/shm")),
    ],
    "gpu-parts": [
        asks(limits={"nvidia.com/gpu.shared": 1}),
        asks(limits={"nvidia.com/mig-7g.80gb": 1}),
        asks(limits={GPU: 8}),
        asks(limits={"example.com/thing.shared": 2}),
        pod(*[container(resources={"limits": {"nvidia.com/gpu.shared": 1}})] * 2),
    ],
}

UNKNOWNS: Unknowns = {
    "mps-pods": [
        ([PLATFORM, on(UNKNOWN, mounting("/dev/shm"))], 'spec.nodeSelector["gangline.dev/pool"]'),
        ([PLATFORM, on(MPS, mounting(UNKNOWN))], "spec.containers[0].volumeMounts[0].mountPath"),
    ],
    "gpu-parts": [
        (
            asks(limits={"nvidia.com/gpu.shared": UNKNOWN}),
            'spec.containers[0].resources.limits["nvidia.com/gpu.shared"]',
        ),
        (asks(limits=UNKNOWN), "spec.containers[0].resources.limits"),
    ],
}
