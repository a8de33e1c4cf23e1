"""Pods and the pools of the document that they are meant for."""

from typing import Any

from tests.policies.objects import (
    UNKNOWN,
    Breaks,
    Passes,
    Resource,
    Unknowns,
    container,
    document,
    gpus,
    platform,
    pod,
    template,
    workload,
)

POOL = "gangline.dev/pool"
TWIN = platform(document("twin"))
"""Pool system without GPUs; train, of 8 H100 with InfiniBand, which has the taint nvidia.com/gpu=true:NoSchedule."""
SHARING = platform(document("sharing"))
"""Pools notebooks (time slices of A100), serve (MPS on H100), small (MIG) and train."""
GPUS = {"cpu": 128, "memory": "1007Gi", "gpu": {"model": "a100-sxm-80gb", "count": 8}}
KEEPING = {"key": "example.org/plugin", "effect": "NoSchedule"}
EDGE = {"shape": GPUS, "image": "bottlerocket-nvidia", "size": 2, "taints": [KEEPING]}
KEPT_AWAY = platform(
    {"cluster": document("twin")["cluster"], "pools": {"system": document("twin")["pools"]["system"], "edge": EDGE}}
)
"""The image of its GPU nodes runs a plugin, and their taint keeps another one away."""
AWS = platform(document("aws-training-ondemand"))
"""All nodes are of a pool."""
PLUGIN = "nvcr.io/nvidia/k8s-device-plugin:v0.20.0"
EXPORTER = "nvcr.io/nvidia/k8s/dcgm-exporter:4.5.3-4.8.2-distroless"
NICS = "ghcr.io/mellanox/k8s-rdma-shared-dev-plugin:1.5.2"
LINUX = {"kubernetes.io/os": "linux"}
TAINTED = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def on(pool: Any, *containers: Any, tolerations: Any = (TAINTED,), **spec: Any) -> Resource:
    return pod(*containers, nodeSelector={POOL: pool}, tolerations=list(tolerations), **spec)


def sidecar(amount: Any) -> dict[str, Any]:
    return gpus(amount) | {"restartPolicy": "Always"}


def agent(*tolerations: Any, **spec: Any) -> Resource:
    return workload("DaemonSet", template(tolerations=list(tolerations), **spec))


def near(*expressions: Any) -> dict[str, Any]:
    """Give the affinity of a pod to nodes that meet all of these."""
    terms = [{"matchExpressions": [dict(zip(("key", "operator", "values"), it, strict=False)) for it in expressions]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def devices(**amounts: Any) -> dict[str, Any]:
    return container(resources={"limits": {name.replace("__", "/"): amount for name, amount in amounts.items()}})


_JOB = workload("Job", template(gpus(8), nodeSelector={POOL: "train"}))
ADMITTED = Resource(_JOB.type, _JOB.inputs | {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "research"}}})
"""Kueue adds the tolerations of its flavor."""

BREAKS: Breaks = {
    "agent-tolerations": [
        (
            [TWIN, agent(nodeSelector={POOL: "train"})],
            "spec.template.spec.tolerations: the nodes of train have the taint nvidia.com/gpu=true:NoSchedule",
        ),
        ([TWIN, agent(TAINTED | {"effect": "NoExecute"}, nodeSelector={POOL: "train"})], "does not tolerate"),
        ([TWIN, agent({"key": "nvidia.com/gpu", "value": "present"}, nodeSelector={POOL: "train"})], "nvidia.com/gpu"),
        ([TWIN, agent(affinity=near((POOL, "In", ["system", "train"])))], "the nodes of train"),
        ([TWIN, agent(affinity=near((POOL, "NotIn", ["system"])))], "the nodes of train"),
        ([SHARING, agent(nodeSelector={"nvidia.com/gpu.family": "hopper"})], "the nodes of serve have the taint"),
        # Without a selector it is meant for wherever there is what it serves.
        ([TWIN, agent(containers=[container(image=PLUGIN)])], "the nodes of train have the taint"),
        ([TWIN, agent(containers=[container(image=PLUGIN)], nodeSelector=LINUX)], "the nodes of train have the taint"),
        ([TWIN, agent(containers=[container(image=EXPORTER)])], "the nodes of train have the taint"),
        ([TWIN, agent(containers=[container(image=NICS)])], "the nodes of train have the taint"),
    ],
    "workload-tolerations": [
        ([TWIN, on("train", gpus(8), tolerations=())], "spec.tolerations: the nodes of train have the taint"),
        (
            [TWIN, workload("RayCluster", template(gpus(8), nodeSelector={POOL: "train"}))],
            "spec.workerGroupSpecs[0].template.spec.tolerations",
        ),
    ],
    "pool-labels": [
        ([TWIN, on("trian")], 'spec.nodeSelector["gangline.dev/pool"]: no pool has it; gangline.dev/pool is system, '),
        ([TWIN, pod(affinity=near((POOL, "In", ["gpu"])))], "matchExpressions[0].key: no pool has it"),
        (
            [SHARING, pod(nodeSelector={POOL: "serve", "nvidia.com/gpu.family": "ampere"})],
            "no pool has all that the pod asks for; ",
        ),
        ([TWIN, pod(nodeSelector={POOL: "train", "kubernetes.io/arch": "arm64"})], '["kubernetes.io/arch"]: no pool'),
        ([AWS, pod(nodeSelector={"kubernetes.io/arch": "arm64"})], "kubernetes.io/arch is amd64"),
    ],
    "device-advertised": [
        ([TWIN, on("train", gpus(16))], 'limits["nvidia.com/gpu"]: asks for 16, a node of pool train offers 8'),
        ([TWIN, on("train", gpus(5), gpus(4))], "asks for 9, a node of pool train offers 8"),
        ([TWIN, on("system", gpus(1))], "asks for 1, no node of pool system offers nvidia.com/gpu"),
        ([AWS, pod(devices(vpc__x=1, rdma__roce=4))], "no node of any pool offers rdma/roce"),
        ([TWIN, on("train", devices(rdma__roce=1))], "no node of pool train offers rdma/roce"),
        ([AWS, pod(devices(**{"nvidia.com__gpu.shared": 1}))], "no node of any pool offers nvidia.com/gpu.shared"),
        # What starts first and stays is there beside what comes after it.
        ([TWIN, on("train", gpus(8), initContainers=[sidecar(1)])], "asks for 9, a node of pool train offers 8"),
        ([TWIN, on("train", gpus(1), initContainers=[sidecar(1), gpus(8)])], "initContainers[1].resources.limits"),
        ([TWIN, on("train", gpus(9), initContainers=UNKNOWN)], "spec.containers[0].resources.limits"),
    ],
    "wildcard-tolerations": [
        (pod(tolerations=[{"operator": "Exists"}]), "spec.tolerations[0]: tolerates every taint"),
        (pod(tolerations=[TAINTED, {"operator": "Exists", "effect": "NoExecute"}]), "spec.tolerations[1]"),
        (workload("Deployment", template(tolerations=[{"operator": "Exists"}])), "spec.template.spec.tolerations[0]"),
    ],
}

PASSES: Passes = {
    "agent-tolerations": [
        [TWIN, agent(TAINTED, nodeSelector={POOL: "train"})],
        [TWIN, agent({"operator": "Exists"}, nodeSelector={POOL: "train"})],
        [TWIN, agent({"key": "nvidia.com/gpu", "value": "true"}, nodeSelector={POOL: "train"})],
        [TWIN, agent(nodeSelector={POOL: "system"})],
        [TWIN, agent(affinity=near((POOL, "NotIn", ["train"])))],
        [TWIN, agent(nodeSelector={"kubernetes.io/os": "linux"})],
        [TWIN, agent()],
        [TWIN, agent(TAINTED, containers=[container(image=PLUGIN)])],
        [TWIN, agent(containers=[container(image=PLUGIN)], nodeSelector={"disk": "fast"})],
        [TWIN, workload("DaemonSetPatch", template(container(image=PLUGIN)))],
        [KEPT_AWAY, agent(containers=[container(image=PLUGIN)])],
        agent(nodeSelector={POOL: "train"}),
    ],
    "workload-tolerations": [
        [TWIN, on("train", gpus(8))],
        [TWIN, on("system", tolerations=())],
        [TWIN, pod()],
        [TWIN, ADMITTED],
    ],
    "pool-labels": [
        [TWIN, on("train")],
        [TWIN, pod(nodeSelector={"disk": "fast"})],
        [TWIN, pod(nodeSelector={"nvidia.com/gpu.present": "true", "kubernetes.io/os": "linux"})],
        # Nodes that the document says nothing of may be there.
        [TWIN, pod(nodeSelector={"kubernetes.io/arch": "arm64"})],
        # Feature discovery of somebody else may label the nodes of train.
        [SHARING, pod(nodeSelector={POOL: "train", "nvidia.com/gpu.family": "hopper"})],
        [TWIN, pod(affinity=near((POOL, "NotIn", ["train"]), ("zone", "Exists")))],
    ],
    "device-advertised": [
        [TWIN, on("train", gpus(8))],
        [TWIN, on("train", devices(rdma__shared_ib=1))],
        [TWIN, on("train", gpus(4), gpus(4))],
        [TWIN, on("train", gpus(8), initContainers=[gpus(8), gpus(8)])],
        [TWIN, on("train", gpus(7), initContainers=[sidecar(1), gpus(7)])],
        [TWIN, on("train", gpus(8), ephemeralContainers=[gpus(8)])],
        [TWIN, pod(devices(rdma__hca_a=1))],
        [TWIN, pod(devices(**{"amd.com__gpu": 8}))],
        [TWIN, on("system", gpus(0))],
    ],
    "wildcard-tolerations": [
        pod(tolerations=[TAINTED]),
        workload("DaemonSet", template(tolerations=[{"operator": "Exists"}])),
        Resource(
            "kubernetes:core/v1:Pod",
            {"metadata": {"namespace": "kube-system"}, "spec": {"tolerations": [{"operator": "Exists"}]}},
        ),
    ],
}

UNKNOWNS: Unknowns = {
    "agent-tolerations": [
        ([TWIN, agent(UNKNOWN, nodeSelector={POOL: "train"})], "spec.template.spec.tolerations[0]"),
        ([TWIN, agent(nodeSelector={POOL: UNKNOWN})], 'spec.template.spec.nodeSelector["gangline.dev/pool"]'),
        ([platform(UNKNOWN), agent(nodeSelector={POOL: "train"})], "environment", ""),
    ],
    "workload-tolerations": [
        ([TWIN, on("train", tolerations=[TAINTED | {"effect": UNKNOWN}])], "spec.tolerations[0].effect"),
        ([TWIN, on(UNKNOWN)], 'spec.nodeSelector["gangline.dev/pool"]'),
    ],
    "pool-labels": [
        ([TWIN, on(UNKNOWN)], 'spec.nodeSelector["gangline.dev/pool"]'),
        ([TWIN, pod(affinity=UNKNOWN)], "spec.affinity"),
    ],
    "device-advertised": [
        ([TWIN, on("train", gpus(UNKNOWN))], 'spec.containers[0].resources.limits["nvidia.com/gpu"]'),
        ([TWIN, on(UNKNOWN, gpus(8))], 'spec.nodeSelector["gangline.dev/pool"]'),
    ],
    "wildcard-tolerations": [
        (pod(tolerations=[{"operator": UNKNOWN}]), "spec.tolerations[0].operator"),
        (pod(tolerations=UNKNOWN), "spec.tolerations"),
    ],
}
