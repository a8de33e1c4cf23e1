"""Where the work of teams runs, how large it may be, and who goes before whom."""

from typing import Any

from tests.policies.objects import (
    UNKNOWN,
    Breaks,
    Passes,
    Resource,
    Unknowns,
    document,
    gpus,
    platform,
    pod,
    template,
    workload,
)

TWIN = platform(document("twin"))
"""Teams research and production, whose namespaces have these names; 64 nodes of 8 GPUs in pool train. Queue research
may use 512 GPUs, production 256."""
AWS = document("aws-training")
_TEAMS = {name: {key: it for key, it in team.items() if key != "defaultQueue"} for name, team in AWS["tenants"].items()}
KAI = platform(AWS | {"scheduler": {"kind": "kai"}, "tenants": _TEAMS})
LABEL = "volcano.sh/queue-name"
ON_TRAIN: dict[str, Any] = {"nodeSelector": {"gangline.dev/pool": "train"}}


def within(namespace: Any, resource: Resource, **metadata: Any) -> Resource:
    return Resource(resource.type, resource.inputs | {"metadata": {"namespace": namespace, **metadata}})


def ray(workers: Any, queue: Any = "production", scaled: bool = False, **numbers: Any) -> Resource:
    group = {"replicas": workers, "template": template(gpus(8), **ON_TRAIN)} | numbers
    head = {"template": template(**ON_TRAIN)}
    spec = {"enableInTreeAutoscaling": scaled, "headGroupSpec": head, "workerGroupSpecs": [group]}
    return Resource("kubernetes:ray.io/v1:RayCluster", {"metadata": {"labels": {LABEL: queue}}, "spec": spec})


def job(*replicas: Any, queue: Any = "production", **spec: Any) -> Resource:
    tasks = [
        {"name": f"t{n}", "replicas": it, "template": template(gpus(8), **ON_TRAIN)} for n, it in enumerate(replicas)
    ]
    return Resource("kubernetes:batch.volcano.sh/v1alpha1:Job", {"spec": {"queue": queue, "tasks": tasks, **spec}})


TASK = {"name": "w", "replicas": 64, "template": template(gpus(8), **ON_TRAIN)}


def classed(name: Any) -> Resource:
    return Resource(
        "kubernetes:scheduling.k8s.io/v1:PriorityClass", {"metadata": {"name": name}, "value": 1}, str(name)
    )


def first(name: Any) -> Resource:
    return pod(priorityClassName=name)


BREAKS: Breaks = {
    "tenant-namespace": [
        ([TWIN, pod(gpus(8))], "metadata.namespace: default is no namespace of a team"),
        ([TWIN, within("elsewhere", ray(4))], "elsewhere is no namespace"),
        ([TWIN, within("gangline-system-2", workload("Job", template(gpus(1))))], "gangline-system-2"),
    ],
    "gang-fits": [
        (
            [TWIN, ray(33)],
            "spec.workerGroupSpecs[0].replicas: the gang asks for 264 of nvidia.com/gpu, queue production",
        ),
        ([TWIN, ray(0, scaled=True, minReplicas=40)], "spec.workerGroupSpecs[0].minReplicas: the gang asks for 320"),
        ([TWIN, ray(65, "made-elsewhere")], "asks for 520 of nvidia.com/gpu, train at the largest offer 512"),
        ([TWIN, job(1, 32)], "spec.tasks[0].replicas: the gang asks for 264"),
        ([TWIN, job(65, queue="research.llm")], "the gang asks for 520 of nvidia.com/gpu, queue research may use 512"),
    ],
    "priority-class": [
        ([classed("high"), first("hihg")], "spec.priorityClassName: hihg is no class of this stack: high"),
        ([platform(AWS), classed("high"), first("train")], "spec.priorityClassName: train is no class of this stack"),
        ([KAI, classed("high"), first("hihg")], "spec.priorityClassName: hihg is no class of this stack"),
        (first("system-node-critical"), "system-node-critical is for what keeps nodes"),
        ([classed("high"), job(1, priorityClassName="low")], "spec.priorityClassName: low is no class"),
        ([classed("high"), within("a", ray(1), labels={"ray.io/priority-class-name": "low"})], "metadata.labels"),
    ],
}

PASSES: Passes = {
    "tenant-namespace": [
        [TWIN, within("research", ray(4))],
        [TWIN, pod()],
        [TWIN, within("gangline-system", workload("DaemonSet", template(gpus(1))))],
        pod(gpus(8)),
    ],
    "gang-fits": [
        [TWIN, ray(32)],
        [TWIN, ray(40, scaled=True, minReplicas=4)],
        [TWIN, ray(64, "made-elsewhere")],
        [TWIN, job(1, 31)],
        [TWIN, job(64, minAvailable=2)],
        [TWIN, Resource(job(1).type, {"spec": {"queue": "production", "tasks": [TASK | {"minAvailable": 8}]}})],
        ray(1000),
    ],
    "priority-class": [
        [classed("high"), first("high")],
        first("made-elsewhere"),
        [TWIN, classed("high"), first("made-elsewhere")],
        [KAI, classed("high"), first("train")],
        [classed("high"), first(None)],
        workload("DaemonSet", template(priorityClassName="system-node-critical")),
        within("kube-system", first("system-cluster-critical")),
    ],
}

UNKNOWNS: Unknowns = {
    "tenant-namespace": [
        ([TWIN, within(UNKNOWN, ray(4))], "metadata.namespace"),
        ([platform(UNKNOWN), pod(gpus(8))], "environment"),
    ],
    "gang-fits": [
        ([TWIN, ray(UNKNOWN)], "spec.workerGroupSpecs[0].replicas"),
        ([TWIN, ray(4, UNKNOWN)], f'metadata.labels["{LABEL}"]'),
        ([TWIN, job(UNKNOWN)], "spec.tasks[0].replicas"),
    ],
    "priority-class": [
        ([classed("high"), first(UNKNOWN)], "spec.priorityClassName"),
        ([first("high"), classed(UNKNOWN)], "metadata.name"),
    ],
}
