"""How workloads ask for GPUs and name their queues."""

from typing import Any

from tests.policies.cases.team_queues import DEFAULTING, KAI, KUEUE, PLATFORM, TWIN, of_team
from tests.policies.objects import (
    QUEUE_LABEL,
    UNKNOWN,
    Breaks,
    Passes,
    Resource,
    Unknowns,
    container,
    gpus,
    platform,
    pod,
    secret,
    template,
    workload,
)

GPU = "nvidia.com/gpu"
KUEUE_LABEL, KAI_LABEL = "kueue.x-k8s.io/queue-name", "kai.scheduler/queue"
KUEUE_DEFAULTING = platform(TWIN | {"scheduler": {"kind": "kueue"}})


def ray(labels: Any, *containers: Any, kind: str = "RayCluster") -> Resource:
    made = workload(kind, {"spec": {"containers": list(containers)}})
    return Resource(made.type, made.inputs | {"metadata": {"labels": labels}})


def job_set(labels: Any, *containers: Any, **pod: Any) -> Resource:
    made = workload("JobSet", {"spec": {"containers": list(containers), **pod}})
    return Resource(made.type, {"metadata": {"labels": labels}, **made.inputs})


def volcano_job(*containers: Any, **spec: Any) -> Resource:
    made = workload("Volcano Job", {"spec": {"containers": list(containers)}})
    return Resource(made.type, made.inputs | {"spec": made.inputs["spec"] | spec})


def _labelled(cron_job: Any) -> Any:
    """Give a CronJob whose jobs have a label of Kueue."""
    jobs = {"metadata": {"labels": {KUEUE_LABEL: "research.llm"}}, **cron_job["spec"]["jobTemplate"]}
    return {"metadata": {"namespace": "research"}, "spec": {"jobTemplate": jobs}}


def asks(**resources: Any) -> Resource:
    return pod(container(resources=resources))


BREAKS: Breaks = {
    "gpu-limits": [
        (asks(requests={GPU: 1}, limits={GPU: 3}), 'requests["nvidia.com/gpu"]: requests 1, but the limit is 3'),
        (asks(requests={GPU: 4}), 'requests["nvidia.com/gpu"]: requests 4 without a limit'),
        (asks(limits={GPU: "0.5"}), 'limits["nvidia.com/gpu"]: 0.5 is not a whole number'),
        (asks(limits={GPU: "500m"}), 'limits["nvidia.com/gpu"]: 500m is not a whole number'),
        (asks(limits={GPU: 0.5}), 'limits["nvidia.com/gpu"]: 0.5 is not a whole number'),
        (asks(limits={"nvidia.com/mig-1g.10gb": "1500m"}), 'limits["nvidia.com/mig-1g.10gb"]'),
        (asks(requests={"nvidia.com/gpu.shared": 2}, limits={"nvidia.com/gpu.shared": 1}), "but the limit is 1"),
        (pod(initContainers=[gpus(1, requests=2)]), "spec.initContainers[0].resources.requests"),
        (asks(requests={GPU: secret(1)}, limits={GPU: 2}), "requests [secret], but the limit is 2"),
    ],
    "gpu-queue": [
        (pod(gpus(8), queue=None), 'metadata.annotations["scheduling.volcano.sh/queue-name"]: names no queue'),
        (pod(gpus(8), queue=""), "names no queue"),
        (pod(gpus(8), schedulerName=None), "spec.schedulerName: the default scheduler knows no queues"),
        (pod(gpus(8), schedulerName="other"), "spec.schedulerName: other knows no queues"),
        (workload("Deployment", template(gpus(1), queue=None)), "spec.template.metadata.annotations"),
        (workload("Job", template(gpus(1), schedulerName=None)), "spec.template.spec.schedulerName"),
        (ray({}, gpus(8)), 'metadata.labels["volcano.sh/queue-name"]: names no queue'),
        (ray({"kueue.x-k8s.io/queue-name": ""}, gpus(8)), "names no queue"),
        (job_set({}, gpus(8), schedulerName="volcano"), "names no queue"),
        (job_set({"kai.scheduler/queue": "a"}, gpus(8)), "schedulerName: the default scheduler knows no queues"),
        (ray({QUEUE_LABEL: ""}, gpus(8), kind="RayCluster"), "names no queue"),
        (workload("RayCronJob", template(gpus(1))), "a RayCronJob cannot name a queue for its pods here"),
        (
            Resource(
                "kubernetes:batch.volcano.sh/v1alpha1:Job", {"spec": {"tasks": [{"template": template(gpus(1))}]}}
            ),
            "spec.queue: names no queue",
        ),
        (workload("PyTorchJob, which no table knows", template(gpus(8), queue=None)), "names no queue"),
        # A label that no scheduler of the document reads is none.
        ([PLATFORM, of_team("Pod", template(gpus(8), queue=None), **{KUEUE_LABEL: "research.llm"})], "names no queue"),
        (
            [PLATFORM, of_team("Pod", template(gpus(8), schedulerName=None), **{KUEUE_LABEL: "research.llm"})],
            "spec.schedulerName: the default scheduler knows no queues",
        ),
        ([KUEUE, of_team("Job", template(gpus(8)))], f'metadata.labels["{KUEUE_LABEL}"]: names no queue'),
        (
            [KUEUE, of_team("Deployment", template(gpus(8)), **{KUEUE_LABEL: "research.llm"})],
            "kind: a Deployment cannot name a queue for its pods here",
        ),
        ([KUEUE_DEFAULTING, of_team("Pod", template(gpus(8)))], "kind: a Pod cannot name a queue"),
        (
            [KUEUE, of_team("CronJob", template(gpus(8)), **{KUEUE_LABEL: "research.llm"})],
            "spec.jobTemplate.metadata.labels",
        ),
        ([KAI, of_team("Job", template(gpus(8), schedulerName="kai-scheduler"))], "names no queue"),
        (
            [KAI, of_team("Job", template(gpus(8)), **{KAI_LABEL: "research.llm"})],
            "spec.template.spec.schedulerName: volcano knows no queues",
        ),
        # Volcano's own jobs may hand their pods to somebody else.
        (
            [PLATFORM, of_team("Volcano Job", template(gpus(8), schedulerName="default-scheduler"))],
            "spec.tasks[1].template.spec.schedulerName: default-scheduler knows no queues",
        ),
        (volcano_job(gpus(8), schedulerName="default-scheduler"), "default-scheduler knows no queues"),
        ([DEFAULTING, of_team("Pod", template(gpus(8), queue=None), "elsewhere")], "names no queue"),
    ],
    "gpu-node": [
        (pod(gpus(8), nodeName="train-0"), "spec.nodeName: goes to train-0 past every scheduler"),
        (workload("Job", template(gpus(1), nodeName="train-0")), "spec.template.spec.nodeName"),
        (workload("Volcano Job", template(gpus(8), nodeName="train-0")), "nodeName: goes to train-0"),
    ],
}

PASSES: Passes = {
    "gpu-limits": [
        asks(limits={GPU: 8}),
        asks(limits={GPU: "8"}, requests={GPU: 8}),
        asks(limits={GPU: "1k"}, requests={GPU: 1000}),
        asks(requests={"cpu": "500m", "memory": "1.5Gi"}, limits={"cpu": 4}),
        asks(limits={GPU: 0}),
        pod(container(resources=None)),
    ],
    "gpu-queue": [
        pod(gpus(8)),
        pod(gpus(8), queue=secret("research.llm")),
        pod(container(), queue=None, schedulerName=None),
        ray({QUEUE_LABEL: "research.llm"}, gpus(8)),
        ray({"kueue.x-k8s.io/queue-name": "research.llm"}, gpus(8)),
        ray({"kai.scheduler/queue": "research.llm"}, gpus(8)),
        job_set({"kueue.x-k8s.io/queue-name": "research.llm"}, gpus(8)),
        job_set({"kai.scheduler/queue": "research.llm"}, gpus(8), schedulerName="kai-scheduler"),
        workload("Volcano Job", {"spec": {"containers": [gpus(8)]}}),
        volcano_job(gpus(8), schedulerName="volcano"),
        [PLATFORM, of_team("Pod", template(gpus(8)))],
        [DEFAULTING, of_team("Pod", template(gpus(8), queue=None))],
        [DEFAULTING, of_team("Pod", template(gpus(8)), "elsewhere")],
        [KUEUE, of_team("Job", template(gpus(8), schedulerName=None), **{KUEUE_LABEL: "research.llm"})],
        [KUEUE_DEFAULTING, of_team("JobSet", template(gpus(8), queue=None, schedulerName=None))],
        [KUEUE, Resource("kubernetes:batch/v1:CronJob", _labelled(workload("CronJob", template(gpus(8))).inputs))],
        [KAI, of_team("Job", template(gpus(8), schedulerName="kai-scheduler"), **{KAI_LABEL: "research.llm"})],
        [
            KAI,
            of_team(
                "Deployment",
                template(gpus(8), schedulerName="kai-scheduler")
                | {"metadata": {"labels": {KAI_LABEL: "research.llm"}}},
            ),
        ],
        workload("DaemonSetPatch", {"spec": {"containers": [gpus(8)]}}),
    ],
    "gpu-node": [
        pod(gpus(8)),
        pod(gpus(8), nodeName=""),
        pod(container(), nodeName="train-0"),
        pod(gpus(8), nodeSelector={"kubernetes.io/hostname": "train-0"}),
    ],
}

UNKNOWNS: Unknowns = {
    "gpu-limits": [
        (asks(limits={GPU: UNKNOWN}), 'spec.containers[0].resources.limits["nvidia.com/gpu"]'),
        (asks(limits=UNKNOWN, requests={GPU: 1}), "spec.containers[0].resources.limits"),
        (asks(limits={GPU: secret(UNKNOWN)}), 'spec.containers[0].resources.limits["nvidia.com/gpu"]'),
    ],
    "gpu-queue": [
        (pod(gpus(8), queue=UNKNOWN), 'metadata.annotations["scheduling.volcano.sh/queue-name"]'),
        (ray(UNKNOWN, gpus(8)), "metadata.labels"),
        (pod(container(resources=UNKNOWN), queue=None), "spec.containers[0].resources"),
    ],
    "gpu-node": [
        (pod(gpus(8), nodeName=UNKNOWN), "spec.nodeName"),
        (pod(container(resources=UNKNOWN), nodeName="train-0"), "spec.containers[0].resources"),
    ],
}
