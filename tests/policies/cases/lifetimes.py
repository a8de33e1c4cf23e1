"""How work ends, and how it goes on when a node goes."""

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

SPOT = platform(document("aws-inference"))
"""Pool serve is of spot nodes."""
ON_SPOT: dict[str, Any] = {"nodeSelector": {"gangline.dev/pool": "serve"}}
RESTARTS = [{"event": "PodEvicted", "action": "RestartJob"}]
CLAIM: dict[str, Any] = {"volumes": [{"name": "a", "persistentVolumeClaim": {"claimName": "shared"}}]}


def job(kind: str = "Job", **spec: Any) -> Resource:
    return made(workload(kind, template(gpus(8), **ON_SPOT)), **spec)


def made(resource: Resource, **spec: Any) -> Resource:
    return Resource(resource.type, resource.inputs | {"spec": resource.inputs["spec"] | spec})


def job_set(limit: int | None, **policy: Any) -> Resource:
    one = {"backoffLimit": limit, "template": template(gpus(8), **ON_SPOT)}
    return Resource(
        "kubernetes:jobset.x-k8s.io/v1alpha2:JobSet",
        {"spec": {"failurePolicy": policy, "replicatedJobs": [{"name": "w", "template": {"spec": one}}]}},
    )


def volcano(**spec: Any) -> Resource:
    tasks = [{"name": "w", "template": template(gpus(8), **ON_SPOT)}]
    return Resource("kubernetes:batch.volcano.sh/v1alpha1:Job", {"spec": {"tasks": tasks, **spec}})


BREAKS: Breaks = {
    "declared-jobs": [
        (volcano(ttlSecondsAfterFinished=3600), "spec.ttlSecondsAfterFinished: it is deleted 3600 s after its end"),
        (job("JobSet", ttlSecondsAfterFinished=0), "spec.ttlSecondsAfterFinished: it is deleted 0 s"),
        (job(ttlSecondsAfterFinished=60), "spec.ttlSecondsAfterFinished: it is deleted 60 s"),
    ],
    "spot-restarts": [
        ([SPOT, pod(gpus(8), **ON_SPOT)], "metadata: a bare pod is gone with its node"),
        ([SPOT, job(backoffLimit=0)], "spec.backoffLimit: the job ends"),
        ([SPOT, job("RayJob")], "spec.backoffLimit: the job ends with its first lost node"),
        ([SPOT, job_set(0)], "spec.replicatedJobs[0].template.spec.backoffLimit: the job ends"),
        ([SPOT, job_set(0, maxRestarts=0)], "spec.replicatedJobs[0].template.spec.backoffLimit: the job ends"),
        ([SPOT, volcano()], "spec.policies: nothing starts the job anew"),
        ([SPOT, volcano(policies=[{"event": "TaskCompleted", "action": "CompleteJob"}])], "spec.policies"),
        ([SPOT, volcano(policies=[{"event": "PodFailed", "action": "AbortJob"}])], "spec.policies"),
    ],
    "spot-volumes": [
        ([SPOT, job()], "spec.template.spec.volumes: nothing here is left"),
        ([SPOT, volcano()], "spec.tasks[0].template.spec.volumes"),
        ([SPOT, pod(gpus(8), volumes=[{"name": "a", "emptyDir": {}}], **ON_SPOT)], "spec.volumes"),
        ([SPOT, pod(gpus(8), volumes=[{"name": "a", "ephemeral": {}}], **ON_SPOT)], "spec.volumes"),
        ([SPOT, pod(gpus(8), volumes=[{"name": "a", "hostPath": {"path": "/mnt"}}], **ON_SPOT)], "spec.volumes"),
    ],
}

PASSES: Passes = {
    "declared-jobs": [
        volcano(),
        job("JobSet"),
        job(),
        Resource("kubernetes:batch.volcano.sh/v1alpha1:CronJob", {"spec": {"ttlSecondsAfterFinished": 60}}),
    ],
    "spot-restarts": [
        [SPOT, job()],
        [SPOT, job("RayJob", backoffLimit=3)],
        [SPOT, job_set(None)],
        [SPOT, job_set(0, maxRestarts=3)],
        [SPOT, job_set(0, rules=[{"name": "lost", "action": "RestartJobSetAndIgnoreMaxRestarts"}])],
        [SPOT, volcano(policies=RESTARTS)],
        [SPOT, volcano(policies=[{"events": ["PodFailed", "PodEvicted"], "action": "RestartTask"}])],
        [SPOT, job("Deployment")],
        [SPOT, pod(gpus(8))],
        [SPOT, pod(gpus(8), nodeSelector={"gangline.dev/pool": "system"})],
        volcano(),
    ],
    "spot-volumes": [
        [SPOT, pod(gpus(8), **ON_SPOT, **CLAIM)],
        [SPOT, volcano(volumes=[{"mountPath": "/checkpoints", "volumeClaimName": "shared"}])],
        [SPOT, job("Deployment")],
    ],
}

UNKNOWNS: Unknowns = {
    "declared-jobs": [(volcano(ttlSecondsAfterFinished=UNKNOWN), "spec.ttlSecondsAfterFinished")],
    "spot-restarts": [
        ([SPOT, job(backoffLimit=UNKNOWN)], "spec.backoffLimit"),
        ([SPOT, volcano(policies=[{"event": UNKNOWN}])], "spec.policies[0].event"),
        ([SPOT, job_set(0, maxRestarts=UNKNOWN)], "spec.failurePolicy.maxRestarts"),
    ],
    "spot-volumes": [([SPOT, pod(gpus(8), volumes=UNKNOWN, **ON_SPOT)], "spec.volumes")],
}
