"""Ray clusters, jobs and services that somebody wrote by hand."""

from typing import Any

from tests.policies.objects import UNKNOWN, Breaks, Passes, Resource, Unknowns, template, workload


def cluster(name: Any = "tuning", scaled: Any = None, group: Any = None, **pod: Any) -> Resource:
    groups = [{"groupName": "w", "template": template(**pod), **(group or {})}]
    spec = {"enableInTreeAutoscaling": scaled, "workerGroupSpecs": groups}
    return Resource("kubernetes:ray.io/v1:RayCluster", {"metadata": {"name": name}, "spec": spec})


def of(least: Any, count: Any, most: Any) -> dict[str, Any]:
    return {"minReplicas": least, "replicas": count, "maxReplicas": most}


def job(name: Any = "tuning", kind: str = "RayJob", **fields: Any) -> Resource:
    made = workload(kind, template())
    return Resource(made.type, {"metadata": {"name": name}, "spec": made.inputs["spec"] | fields})


def groups(*workers: Any, kind: str = "RayCluster", **head: Any) -> Resource:
    """A cluster of these groups; the head is right, but for what is changed."""
    described = {"headGroupSpec": {"template": template(), **head}, "workerGroupSpecs": list(workers)}
    spec = {"RayCluster": described, "RayService": {"rayClusterConfig": described}}
    return Resource(f"kubernetes:ray.io/v1:{kind}", {"spec": spec.get(kind, {"rayClusterSpec": described})})


def workers(name: Any = "w", **fields: Any) -> dict[str, Any]:
    return {"groupName": name, "template": template()} | fields


def starting(**parameters: Any) -> dict[str, Any]:
    """A group with parameters, and with resources."""
    return {"rayStartParams": {key.replace("_", "-"): each for key, each in parameters.items()}, "resources": CPUS}


CPUS = {"CPU": "4"}
NO_CONTAINERS = {"spec": {"containers": []}}

_SCALED = cluster(scaled=True, restartPolicy="Always")


def _with(**fields: Any) -> Resource:
    return Resource(_SCALED.type, {"spec": _SCALED.inputs["spec"] | fields})


FIRST = _with(autoscalerOptions={"version": "v1"})
"""Ray's first autoscaler has pods restarted in place."""

BREAKS: Breaks = {
    "ray-names": [
        (cluster("x" * 54), "metadata.name: has 54 characters, a name has at most 53"),
        (job("x" * 48), "metadata.name: has 48 characters, a name has at most 47"),
        (job("x" * 48, kind="RayService"), "has 48 characters"),
        (cluster("7b"), "metadata.name: a name must not begin with '7'"),
        (cluster("a.b"), "'.' (character 2)"),
    ],
    "ray-bounds": [
        (cluster(group=of(2, 2, 8)), "spec.workerGroupSpecs[0].maxReplicas: nothing scales between 2 and 8"),
        (cluster(scaled=True, group=of(8, 8, 2)), "minReplicas: 8 is more than maxReplicas, 2"),
        (cluster(scaled=True, group=of(2, 1, 8)), "replicas: 1 is less than minReplicas, 2"),
        (cluster(group=of(4, 8, 4)), "replicas: 8 is more than maxReplicas, 4"),
        (
            Resource("kubernetes:ray.io/v1:RayJob", {"spec": {"rayClusterSpec": {"workerGroupSpecs": [of(1, 1, 2)]}}}),
            "spec.rayClusterSpec.workerGroupSpecs[0].maxReplicas",
        ),
    ],
    "ray-groups": [
        (groups(workers(), workers()), "spec.workerGroupSpecs[1].groupName: w is the name of group 0 already"),
        (groups(workers("a"), workers("b"), workers("a"), kind="RayJob"), "spec.rayClusterSpec.workerGroupSpecs[2].gr"),
        (groups(template=NO_CONTAINERS), "spec.headGroupSpec.template.spec.containers: there are none"),
        (groups(workers(), template=None), "spec.headGroupSpec.template.spec.containers: there are none"),
        (
            groups(workers(template=NO_CONTAINERS), kind="RayService"),
            "spec.rayClusterConfig.workerGroupSpecs[0].template.spec.containers: there are none",
        ),
        (groups(**starting(num_cpus="0")), "spec.headGroupSpec.rayStartParams.num-cpus: the group has resources, too"),
        (groups(workers(**starting(num_gpus="8"))), "spec.workerGroupSpecs[0].rayStartParams.num-gpus: the group has"),
        (groups(workers(**starting(memory="1"))), "spec.workerGroupSpecs[0].rayStartParams.memory"),
        (groups(workers(**starting(resources="{}"))), "spec.workerGroupSpecs[0].rayStartParams.resources"),
        (groups(rayStartParams={"labels": "a=b"}), "spec.headGroupSpec.rayStartParams.labels: KubeRay takes labels"),
        (groups(workers(UNKNOWN, template=NO_CONTAINERS)), "spec.workerGroupSpecs[0].template.spec.containers"),
        (groups(workers(), workers(template=UNKNOWN)), "spec.workerGroupSpecs[1].groupName: w is the name"),
    ],
    "ray-restarts": [
        (cluster(scaled=True, restartPolicy="Always"), "template.spec.restartPolicy: Always: restarts beside"),
        (_with(rayVersion="2.52.0"), "Always: restarts beside"),
        (_with(rayVersion="2.46.0", autoscalerOptions={"version": "v2"}), "Always: restarts beside"),
        (cluster(scaled=True, restartPolicy="OnFailure"), "spec.workerGroupSpecs[0].template.spec.restartPolicy"),
    ],
    "ray-job-ends": [
        (job(), "spec.shutdownAfterJobFinishes: its cluster stays"),
        (job(shutdownAfterJobFinishes=False), "spec.shutdownAfterJobFinishes"),
        (workload("RayCronJob", template()), "spec.jobTemplate.shutdownAfterJobFinishes"),
    ],
}

PASSES: Passes = {
    "ray-names": [cluster("x" * 53), job("x" * 47), cluster(None)],
    "ray-bounds": [
        cluster(group=of(4, 4, 4)),
        cluster(scaled=True, group=of(2, None, 8)),
        cluster(scaled=True, group=of(2, 4, 8)),
        cluster(group={"replicas": 4}),
    ],
    "ray-groups": [
        groups(workers("a"), workers("b")),
        groups(),
        groups(workers(rayStartParams={"num-gpus": "8", "block": "true"})),
        groups(workers(rayStartParams={"num-gpus": "8"}, resources={})),
        groups(workers(**starting(num_gpus="", block="true"))),
        Resource("kubernetes:ray.io/v1:RayJob", {"spec": {"clusterSelector": {"ray.io/cluster": "shared"}}}),
    ],
    "ray-restarts": [
        cluster(scaled=True, restartPolicy="Never"),
        cluster(scaled=True),
        cluster(restartPolicy="Always"),
        FIRST,
        _with(rayVersion="2.46.0"),
        workload("Deployment", template(restartPolicy="Always")),
    ],
    "ray-job-ends": [
        job(shutdownAfterJobFinishes=True),
        job(clusterSelector={"ray.io/cluster": "shared"}),
        job(deletionStrategy={"onSuccess": {"policy": "DeleteCluster"}}),
    ],
}

UNKNOWNS: Unknowns = {
    "ray-names": [(cluster(UNKNOWN), "metadata.name")],
    "ray-bounds": [
        (cluster(group=of(2, 2, UNKNOWN)), "spec.workerGroupSpecs[0].maxReplicas"),
        (cluster(scaled=UNKNOWN, group=of(1, 1, 2)), "spec.enableInTreeAutoscaling"),
    ],
    "ray-groups": [
        (groups(workers(), workers(UNKNOWN)), "spec.workerGroupSpecs[1].groupName"),
        (groups(workers(template=UNKNOWN)), "spec.workerGroupSpecs[0].template"),
        (groups(**starting(num_cpus=UNKNOWN)), "spec.headGroupSpec.rayStartParams.num-cpus"),
        (groups(workers(**starting(num_cpus="4") | {"resources": UNKNOWN})), "spec.workerGroupSpecs[0].resources"),
    ],
    "ray-restarts": [
        (cluster(scaled=True, restartPolicy=UNKNOWN), "spec.workerGroupSpecs[0].template.spec.restartPolicy"),
    ],
    "ray-job-ends": [(job(shutdownAfterJobFinishes=UNKNOWN), "spec.shutdownAfterJobFinishes")],
}
