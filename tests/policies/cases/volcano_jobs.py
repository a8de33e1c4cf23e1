"""Volcano Jobs that somebody wrote by hand."""

from typing import Any

from tests.policies.objects import UNKNOWN, Breaks, Passes, Resource, Unknowns, container, gpus, template, workload

_GPU = "nvidia.com/gpu"


def task(name: Any = "worker", replicas: Any = 2, **fields: Any) -> dict[str, Any]:
    return {"name": name, "replicas": replicas, "template": template(restartPolicy="Never")} | fields


def job(*tasks: Any, kind: str = "Job", name: Any = "train", **spec: Any) -> Resource:
    inner = {"queue": "research.llm", "tasks": list(tasks)} | spec
    group = "flow" if kind == "JobTemplate" else "batch"
    outer = {"jobTemplate": {"spec": inner}} if kind == "CronJob" else inner
    return Resource(f"kubernetes:{group}.volcano.sh/v1alpha1:{kind}", {"metadata": {"name": name}, "spec": outer})


def on(event: Any, action: Any = "RestartJob") -> dict[str, Any]:
    return {"event": event, "action": action}


def asking(requests: dict[str, Any], limits: dict[str, Any]) -> dict[str, Any]:
    return template(container(resources={"requests": requests, "limits": limits}), restartPolicy="Never")


def parts(total: Any, size: Any, least: Any = None) -> dict[str, Any]:
    return {"totalPartitions": total, "partitionSize": size, "minPartitions": least}


def claim(path: Any, **fields: Any) -> dict[str, Any]:
    return {"mountPath": path, "volumeClaimName": "data"} | fields


BREAKS: Breaks = {
    "volcano-jobs": [
        (job(), "spec.tasks: there are no tasks"),
        (job(task("Worker")), "spec.tasks[0].name: "),
        (job(task("a"), task("a")), "spec.tasks[1].name: a is the name of task 0 already"),
        (job(task(replicas=2, minAvailable=3)), "spec.tasks[0].minAvailable: task worker has 2 pods, and 3"),
        (job(task(replicas=2), minAvailable=5), "spec.minAvailable: 5 pods must be there"),
        (job(task(), policies=[on("PodFail")]), "spec.policies[0]: PodFail is no event"),
        (job(task(), policies=[on("PodFailed", "Restart")]), "spec.policies[0].action: Restart is no action"),
        (job(task(policies=[on("*"), on("PodFailed")])), "spec.tasks[0].policies: * means every event"),
        (job(task(), plugins={"torch": []}), "spec.plugins.torch: there is no such plugin"),
        (job(task(), plugins={"mpi": ["--master=boss"]}), "spec.plugins.mpi: there is no task boss"),
        (job(task(), queue="root"), "spec.queue: root takes no jobs"),
        (job(task(), name="x" * 60), "spec.tasks[0].name: its last pod would be called"),
        (job(task(minAvailable=3), kind="CronJob"), "spec.jobTemplate.spec.tasks[0].minAvailable"),
        (job(task(minAvailable=3), kind="JobTemplate"), "spec.tasks[0].minAvailable"),
        (
            job(task(replicas=11, partitionPolicy=parts(4, 3))),
            "spec.tasks[0].partitionPolicy: 4 partitions of 3 are 12",
        ),
        (
            job(task(replicas=12, partitionPolicy=parts(4, 3, 5))),
            "spec.tasks[0].partitionPolicy.minPartitions: 5 parti",
        ),
        (job(task("a"), task("b", dependsOn={"name": ["z"]})), "spec.tasks[1].dependsOn: there is no task z"),
        (
            job(task("a", dependsOn={"name": ["b"]}), task("b", dependsOn={"name": [UNKNOWN, "a"]})),
            "spec.tasks[0].dependsOn: waits in a circle",
        ),
        (job(task(), volumes=[claim("/a"), claim("/a")]), "spec.volumes[1].mountPath: /a is the place of volume 0"),
        (job(task(), volumes=[claim("/a", volumeClaim={})]), "spec.volumes[0]: a volume has either"),
        (job(task(), volumes=[claim(UNKNOWN), {"mountPath": "/b"}]), "spec.volumes[1]: a volume has either"),
        (job(task(), volumes=[claim("")], kind="CronJob"), "spec.jobTemplate.spec.volumes[0].mountPath: says nothing"),
        (job(task(minAvailable=3, policies=UNKNOWN)), "spec.tasks[0].minAvailable"),
    ],
    "volcano-job-meaning": [
        (job(task(replicas=4), minAvailable=2), "spec.minAvailable: 2 pods make the gang, while the tasks want 4"),
        (job(task(template=asking({}, {_GPU: 8}))), "spec.tasks[0].template.spec.containers[0].resources.limits"),
        (job(task(), networkTopology={"mode": "hard"}), "spec.networkTopology: without a highest tier"),
        (
            job(task(replicas=12, partitionPolicy=parts(4, 3) | {"networkTopology": {"mode": "hard"}})),
            "spec.tasks[0].partitionPolicy.networkTopology: without a highest tier",
        ),
        (job(task(), plugins={"pytorch": []}), "spec.plugins.pytorch: there is no task master"),
    ],
    "restart-policy": [
        (job(task(template=template())), "spec.tasks[0].template.spec.restartPolicy: says nothing"),
        (job(task(template=template(restartPolicy="Always"))), "restartPolicy: Always: the job never ends"),
        (workload("Job", template()), "spec.template.spec.restartPolicy: says nothing"),
        (workload("CronJob", template(restartPolicy="Always")), "spec.jobTemplate.spec.template.spec.restartPolicy"),
        (workload("JobSet", template()), "spec.replicatedJobs[0].template.spec.template.spec.restartPolicy"),
    ],
}

PASSES: Passes = {
    "volcano-jobs": [
        job(task(), minAvailable=2, policies=[on("PodFailed"), on("PodEvicted")], plugins={"svc": [], "env": []}),
        job(task("master", 1), task(replicas=7), plugins={"pytorch": ["--master=master"]}),
        job(task(), policies=[{"exitCode": 3, "action": "RestartJob"}]),
        job(task(), kind="CronJob"),
        job(task(replicas=12, partitionPolicy=parts(4, 3, 2))),
        job(task("a"), task("b", dependsOn={"name": ["a"]}), task(None, dependsOn={"name": ["a", "b"]})),
        job(task(), volumes=[claim("/a"), {"mountPath": "/b", "volumeClaim": {"storageClassName": "fast"}}]),
    ],
    "volcano-job-meaning": [
        job(task(template=asking({_GPU: 8}, {_GPU: 8})), networkTopology={"highestTierAllowed": 1}),
        job(task(), minAvailable=2),
        job(task(replicas=12, partitionPolicy=parts(4, 3, 2)), minAvailable=6),
    ],
    "restart-policy": [
        job(task()),
        workload("Job", template(restartPolicy="OnFailure")),
        workload("Deployment", template(gpus(1))),
        workload("Pod", template()),
    ],
}

UNKNOWNS: Unknowns = {
    "volcano-jobs": [
        (job(task(replicas=UNKNOWN, minAvailable=3), minAvailable=9), "spec.tasks[0].replicas"),
        (job(task(UNKNOWN), plugins={"mpi": []}), "spec.tasks[0].name"),
        (job(task(), policies=[on(UNKNOWN)]), "spec.policies[0].event"),
        (job(task(), minAvailable=UNKNOWN), "spec.minAvailable"),
        (job(task(partitionPolicy=parts(4, UNKNOWN)), minAvailable=9), "spec.tasks[0].partitionPolicy.partitionSize"),
        (job(task(replicas=UNKNOWN, partitionPolicy=parts(4, 3))), "spec.tasks[0].replicas"),
        (job(task(UNKNOWN), task("b", dependsOn={"name": ["z"]})), "spec.tasks[0].name"),
        (job(task(dependsOn={"name": UNKNOWN})), "spec.tasks[0].dependsOn.name"),
        (job(task(), volumes=[claim("/a", volumeClaim=UNKNOWN)]), "spec.volumes[0].volumeClaim"),
        # What is misshapen nobody can judge either.
        (job(task(minAvailable=1.5)), "spec.tasks[0].minAvailable"),
        (Resource("kubernetes:batch.volcano.sh/v1alpha1:Job", {"spec": UNKNOWN}), "spec"),
    ],
    "volcano-job-meaning": [
        (
            job(task(template={"spec": {"containers": [container(resources=UNKNOWN)]}})),
            "spec.tasks[0].template.spec.containers[0].resources",
        ),
        (job(task(), networkTopology={"highestTierAllowed": UNKNOWN}), "spec.networkTopology.highestTierAllowed"),
    ],
    "restart-policy": [
        (job(task(template=template(restartPolicy=UNKNOWN))), "spec.tasks[0].template.spec.restartPolicy")
    ],
}
