"""What pods need for their GPUs to reach each other."""

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

EFA, IB = "vpc.amazonaws.com/efa", "rdma/shared_ib"
GPU, SLICE, MIG = "nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-1g.10gb"
TWIN = platform(document("twin"))
"""Pool train has InfiniBand, shared; pool system has no fabric."""
AWS = platform(document("aws-training-ondemand"))
"""Pool train has EFA."""
POOL = "gangline.dev/pool"
LOCKING = {"runAsUser": 0, "capabilities": {"drop": ["ALL"], "add": ["IPC_LOCK"]}}


def _unlimited() -> Resource:
    value = document("twin")
    train = value["pools"]["train"] | {"fabric": {"kind": "infiniband", "memlock": "unlimited"}}
    return platform(value | {"pools": value["pools"] | {"train": train}})


def asking(limits: Any, **fields: Any) -> dict[str, Any]:
    return container(resources={"limits": limits}, **fields)


def mounting(path: Any, gpus: Any = 8) -> dict[str, Any]:
    return asking({GPU: gpus}, volumeMounts=[{"name": "a", "mountPath": "/data"}, {"name": "b", "mountPath": path}])


def on(pool: Any, *containers: Any, **spec: Any) -> Resource:
    return pod(*containers, nodeSelector={POOL: pool}, **spec)


def saying(name: Any, value: Any, limits: Any = None) -> dict[str, Any]:
    return asking(limits or {GPU: 8, IB: 1}, env=[{"name": name, "value": value}])


BREAKS: Breaks = {
    "shared-memory": [
        (pod(asking({GPU: 8})), "spec.containers[0].volumeMounts: nothing is mounted at /dev/shm, for 8 GPUs"),
        (pod(mounting("/dev/shm2")), "spec.containers[0].volumeMounts"),
        (workload("Volcano Job", template(asking({GPU: "2"}))), "spec.tasks[1].template.spec.containers[0]"),
    ],
    "sharing-fabric": [
        (pod(asking({SLICE: 1, IB: 1})), f'limits["{IB}"]: asks for {IB} beside {SLICE}'),
        (pod(asking({MIG: 1, EFA: 4})), f'limits["{EFA}"]'),
    ],
    "huge-pages": [
        (pod(asking({GPU: 8, EFA: 16})), "spec.containers[0].resources.limits.hugepages-2Mi: asks for none, and for"),
        (pod(asking({EFA: 1}), asking({"hugepages-2Mi": "1Gi"})), "spec.containers[0]"),
        (pod(asking({EFA: 1}, env=[{"name": "FI_EFA_USE_HUGE_PAGE", "value": "1"}])), "asks for none"),
    ],
    "locked-memory": [
        ([TWIN, on("train", asking({IB: 1}))], "spec.containers[0].securityContext.capabilities.add: has no IPC_LOCK"),
        (
            [TWIN, on("train", asking({IB: 1}, securityContext=LOCKING | {"runAsUser": 1000}))],
            "spec.containers[0].securityContext.runAsUser: the user is 1000",
        ),
        (
            [
                TWIN,
                on(
                    "train",
                    asking({IB: 1}, securityContext=LOCKING | {"runAsUser": None}),
                    securityContext={"runAsNonRoot": True},
                ),
            ],
            "spec.securityContext.runAsUser: the user is not root",
        ),
        ([AWS, pod(asking({EFA: 16}))], "has no IPC_LOCK"),
    ],
    "nccl-fabric": [
        ([AWS, on("train", saying("NCCL_NET", "IB", {GPU: 8, EFA: 16}))], "NCCL_NET is IB: there is no InfiniBand"),
        ([AWS, on("train", saying("FI_PROVIDER", "tcp", {GPU: 8, EFA: 16}))], "FI_PROVIDER is tcp: without libfabric"),
        ([TWIN, on("train", saying("NCCL_IB_DISABLE", "1"))], "NCCL_IB_DISABLE is 1: it turns off the fabric"),
        ([TWIN, on("train", saying("NCCL_NET", "Socket"))], "spec.containers[0].env[0].value: NCCL_NET is Socket"),
        ([TWIN, on("train", saying("NCCL_NET", secret("Socket")))], "NCCL_NET is [secret]: does not fit the pool"),
    ],
}

PASSES: Passes = {
    "shared-memory": [
        pod(mounting("/dev/shm")),
        pod(mounting("/dev/shm/")),
        pod(asking({GPU: 1})),
        pod(asking({GPU: 8}), hostIPC=True),
        pod(asking({SLICE: 2})),
        workload("RayCluster", template(asking({GPU: 8}))),
        workload("DaemonSetPatch", template(asking({GPU: 8}))),
    ],
    "sharing-fabric": [pod(asking({GPU: 8, IB: 1})), pod(asking({SLICE: 1})), pod(asking({MIG: 1, IB: 0}))],
    "huge-pages": [
        pod(asking({EFA: 16, "hugepages-2Mi": "5120Mi"})),
        pod(asking({EFA: 0})),
        pod(asking({EFA: 16}, env=[{"name": "FI_EFA_USE_HUGE_PAGE", "value": "0"}])),
        pod(asking({IB: 1})),
    ],
    "locked-memory": [
        [TWIN, on("train", asking({IB: 1}, securityContext=LOCKING))],
        [TWIN, on("train", asking({IB: 1}, securityContext={"privileged": True}))],
        [TWIN, on("train", asking({IB: 1}, securityContext=LOCKING | {"runAsUser": None}))],
        [
            TWIN,
            on(
                "train",
                asking({IB: 1}, securityContext=LOCKING | {"runAsUser": None}),
                securityContext={"runAsUser": 0},
            ),
        ],
        [TWIN, on("train", asking({GPU: 8}))],
        [_unlimited(), on("train", asking({IB: 1}))],
        pod(asking({IB: 1})),
    ],
    "nccl-fabric": [
        [TWIN, on("train", saying("NCCL_NET", "IB"))],
        [AWS, on("train", saying("FI_PROVIDER", "efa", {GPU: 8, EFA: 16}))],
        [TWIN, on("elsewhere", saying("NCCL_NET", "Socket"))],
        [TWIN, on("train", saying("NCCL_DEBUG", "INFO"))],
        # Wrong anywhere, and told by another rule.
        [TWIN, on("train", saying("NCCL_ALGO", "spiral"))],
        on("train", saying("NCCL_NET", "Socket")),
    ],
}

UNKNOWNS: Unknowns = {
    "shared-memory": [
        (pod(asking({GPU: UNKNOWN})), 'spec.containers[0].resources.limits["nvidia.com/gpu"]'),
        (pod(mounting(UNKNOWN)), "spec.containers[0].volumeMounts[1].mountPath"),
    ],
    "sharing-fabric": [
        (pod(asking({SLICE: 1, IB: UNKNOWN})), f'spec.containers[0].resources.limits["{IB}"]'),
        (pod(asking(UNKNOWN)), "spec.containers[0].resources.limits"),
    ],
    "huge-pages": [(pod(asking({EFA: UNKNOWN})), f'spec.containers[0].resources.limits["{EFA}"]')],
    "locked-memory": [
        ([TWIN, on(UNKNOWN, asking({IB: 1}))], f'spec.nodeSelector["{POOL}"]'),
        (
            [TWIN, on("train", asking({IB: 1}, securityContext=LOCKING | {"runAsUser": UNKNOWN}))],
            "spec.containers[0].securityContext.runAsUser",
        ),
        ([platform(UNKNOWN), on("train", asking({IB: 1}))], "environment"),
    ],
    "nccl-fabric": [
        ([TWIN, on("train", saying("NCCL_NET", UNKNOWN))], "spec.containers[0].env[0].value"),
        ([TWIN, on(UNKNOWN, saying("NCCL_NET", "IB"))], f'spec.nodeSelector["{POOL}"]'),
    ],
}
