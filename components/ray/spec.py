"""The specification of a Ray cluster's pods, for clusters, jobs and services alike."""

from typing import Any

from pulumi_kubernetes.core.v1 import PodTemplateSpecArgs

from components.workloads import pods
from components.workloads.pods import Program
from model import ray
from model.counts import Count, Size
from model.environment import Environment
from model.gpu_requests import SHARED_MEMORY
from model.pod_patch import Patch
from model.ray import RayWorkload
from model.workloads import Workers

WORKERS = "workers"
"""Name of the one worker group."""
_PORTS = {"gcs": 6379, "dashboard": 8265, "client": 10001}


def spec(environment: Environment, workload: RayWorkload) -> dict[str, Any]:
    """Give the `spec` of a RayCluster, which is `rayClusterSpec` of a job and `rayClusterConfig` of a service."""
    # Ray's second autoscaler, the default since Ray 2.47, makes new pods itself and refuses any other policy.
    restart = "Never" if workload.elastic else None
    image = ray.image(environment, workload)
    head, worker = Program("ray-head", image, ports=_PORTS), Program("ray-worker", image)
    return {
        "rayVersion": workload.ray,
        **({"enableInTreeAutoscaling": True} if workload.elastic else {}),
        "headGroupSpec": {
            # The head only leads: work on it would be work without GPUs.
            "rayStartParams": {"num-cpus": "0", "dashboard-host": "0.0.0.0"},  # noqa: S104 -- within the pod network
            "template": pods.leader(
                environment,
                workload,
                workload.head.asked,
                head,
                restart=restart,
                token=workload.elastic,  # Ray's autoscaler changes the number of workers in the cluster's own object
            ),
        },
        "workerGroupSpecs": [
            {
                "groupName": WORKERS,
                "rayStartParams": _start(workload.workers, pods.of_workers(environment, workload)),
                **_replicas(workload.workers.count),
                "template": pods.worker(environment, workload, worker, restart=restart),
            }
        ],
    }


def _start(workers: Workers, patch: Patch) -> dict[str, str]:
    # KubeRay knows GPUs by names that end with `gpu` or a MIG profile. Shared ones do not, and Ray would see none.
    start = {"num-gpus": str(workers.gpus)} if workers.gpus else {}
    if patch.shared_memory_at != SHARED_MEMORY:
        # Otherwise KubeRay mounts a /dev/shm, over that of the MPS server.
        start["plasma-directory"] = patch.shared_memory_at
    return start


def _replicas(count: Count) -> dict[str, int]:
    if isinstance(count, Size):
        # No `replicas`: the number belongs to Ray's autoscaler, and each `up` would set it back.
        return {"minReplicas": count.min, "maxReplicas": count.max}
    # All three: what is left out counts as 0 in the gang's resources.
    return {"replicas": count, "minReplicas": count, "maxReplicas": count}


def submitter(environment: Environment, workload: RayWorkload) -> PodTemplateSpecArgs:
    """Give the template of the pod that submits a job."""
    program = Program("ray-job-submitter", ray.image(environment, workload))
    return pods.leader(environment, workload, ray.SUBMITTER_POD, program, restart="Never", apart=True)
