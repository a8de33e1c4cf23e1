"""Makes of a case of the policy pack what the API server takes for whole: names, selectors and the like."""

import copy
from collections.abc import Callable, Mapping
from typing import Any

_SELECTED = {"app": "it"}


def completed(made: Mapping[str, Any]) -> dict[str, Any]:
    """Give the object with what its kind must have beside what the case is about."""
    whole: dict[str, Any] = copy.deepcopy(dict(made))
    complete = _KINDS.get((whole["apiVersion"].partition("/")[0], whole["kind"]))
    if complete is not None:
        complete(whole)
    return whole


def _pod(template: dict[str, Any], restart: str | None = None) -> None:
    spec = template.setdefault("spec", {})
    if restart:
        spec.setdefault("restartPolicy", restart)
    spec.setdefault("containers", [{"name": "main", "image": "example.org/train:1.2"}])
    volumes = spec.setdefault("volumes", [])
    for number, volume in enumerate(volumes):
        volume.setdefault("name", f"volume-{number}")
    known = {volume["name"] for volume in volumes}
    number = 0
    for part in ("initContainers", "containers"):
        for container in spec.get(part, []):
            container["name"], number = f"container-{number}", number + 1
            for mount in container.get("volumeMounts", []):
                if mount["name"] not in known:
                    known.add(mount["name"])
                    volumes.append({"name": mount["name"], "emptyDir": {}})


def _plain(whole: dict[str, Any]) -> None:
    _pod(whole)


def _selecting(whole: dict[str, Any]) -> None:
    spec = whole["spec"]
    spec["selector"] = _SELECTED if whole["kind"] == "ReplicationController" else {"matchLabels": _SELECTED}
    spec["template"].setdefault("metadata", {}).setdefault("labels", {}).update(_SELECTED)
    _pod(spec["template"])


def _job(whole: dict[str, Any]) -> None:
    _pod(whole["spec"]["template"], "Never")


def _cron_job(whole: dict[str, Any]) -> None:
    whole["spec"].setdefault("schedule", "@daily")
    _pod(whole["spec"]["jobTemplate"]["spec"]["template"], "Never")


def _tasks(spec: dict[str, Any]) -> None:
    spec.setdefault("queue", "default")  # Volcano's definition of a Job says so
    for number, task in enumerate(spec["tasks"]):
        task.setdefault("name", f"task-{number}")
        task.setdefault("replicas", 1)
        _pod(task["template"], "Never")


def _volcano_cron_job(whole: dict[str, Any]) -> None:
    whole["spec"].setdefault("schedule", "@daily")
    _tasks(whole["spec"]["jobTemplate"]["spec"])


def _job_set(whole: dict[str, Any]) -> None:
    for number, job in enumerate(whole["spec"]["replicatedJobs"]):
        job.setdefault("name", f"job-{number}")
        _pod(job["template"]["spec"]["template"], "Never")


def _ray_cluster(spec: dict[str, Any]) -> None:
    head = spec.setdefault("headGroupSpec", {})
    head.setdefault("rayStartParams", {})
    _pod(head.setdefault("template", {}))
    for group in spec.get("workerGroupSpecs", []):
        group.setdefault("groupName", "workers")
        group.setdefault("rayStartParams", {})
        _pod(group["template"])


def _ray_job(spec: dict[str, Any]) -> None:
    if "rayClusterSpec" in spec:
        _ray_cluster(spec["rayClusterSpec"])
    if "submitterPodTemplate" in spec:
        _pod(spec["submitterPodTemplate"], "Never")


def _ray_cron_job(whole: dict[str, Any]) -> None:
    whole["spec"].setdefault("schedule", "@daily")
    _ray_job(whole["spec"]["jobTemplate"])


_KINDS: Mapping[tuple[str, str], Callable[[dict[str, Any]], None]] = {
    ("v1", "Pod"): _plain,
    ("v1", "PodTemplate"): lambda whole: _pod(whole["template"]),
    ("v1", "ReplicationController"): _selecting,
    **{("apps", kind): _selecting for kind in ("ReplicaSet", "Deployment", "DaemonSet", "StatefulSet")},
    ("batch", "Job"): _job,
    ("batch", "CronJob"): _cron_job,
    ("batch.volcano.sh", "Job"): lambda whole: _tasks(whole["spec"]),
    ("batch.volcano.sh", "CronJob"): _volcano_cron_job,
    ("flow.volcano.sh", "JobTemplate"): lambda whole: _tasks(whole["spec"]),
    ("jobset.x-k8s.io", "JobSet"): _job_set,
    ("ray.io", "RayCluster"): lambda whole: _ray_cluster(whole["spec"]),
    ("ray.io", "RayJob"): lambda whole: _ray_job(whole["spec"]),
    ("ray.io", "RayService"): lambda whole: _ray_cluster(whole["spec"]["rayClusterConfig"]),
    ("ray.io", "RayCronJob"): _ray_cron_job,
}
