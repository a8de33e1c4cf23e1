"""Laws about Ray clusters, jobs and services that somebody wrote by hand."""

import re

from policies.fields import Field
from policies.pods import Pod
from policies.rules import PodRule, Report, ResourceRule, Severity, rule
from policies.scopes import ray_clusters

_CLUSTER = ("kubernetes:ray.io/v1:RayCluster", "kubernetes:ray.io/v1alpha1:RayCluster")
_JOB = ("kubernetes:ray.io/v1:RayJob", "kubernetes:ray.io/v1alpha1:RayJob")
_SERVICE = ("kubernetes:ray.io/v1:RayService", "kubernetes:ray.io/v1alpha1:RayService")
_CRON_JOB = ("kubernetes:ray.io/v1:RayCronJob", "kubernetes:ray.io/v1alpha1:RayCronJob")
_RELEASE = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})")
_ANEW = (2, 47)
"""The release of Ray since which the second autoscaler is the default (ray-operator/apis/ray/v1)."""
_AMOUNTS = ("num-cpus", "num-gpus", "memory", "resources")
"""Parameters of `ray start` that say what the `resources` of a group say."""
_DOCS = "https://docs.ray.io/en/latest/cluster/kubernetes/"


@rule(
    ResourceRule,
    types=(*_CLUSTER, *_JOB, *_SERVICE),
    id="ray-names",
    severity=Severity.HIGH,
    what="Ray's objects have names from which KubeRay can make those of pods and services.",
    why=(
        "KubeRay refuses the object after the API server has taken it: `up` waits for a cluster that never comes, and "
        "only the operator's log says why."
    ),
    fix="Shorten the name: at most 53 characters for a cluster, 47 for a job or a service, a letter first, no dots.",
    link=_DOCS + "troubleshooting/troubleshooting.html",
)
def ray_names(it: Field, report: Report) -> None:
    """Judge the name of an object by its kind."""
    name = it.at("metadata", "name")
    said = name.text()
    if said is None:
        return
    # Not at the top: the model behind it would double the time that the pack needs to start.
    from model import ray_rules

    spec = it["spec"].members()
    made = "rayClusterSpec" in spec or "rayClusterConfig" in spec or "clusterSelector" in spec
    kind = ray_rules.JOB_OR_SERVICE if made else ray_rules.CLUSTER
    if fault := kind.fault(said):
        report.violation(name, fault)


@rule(
    ResourceRule,
    types=(*_CLUSTER, *_JOB, *_SERVICE, *_CRON_JOB),
    id="ray-bounds",
    severity=Severity.MEDIUM,
    what="The bounds of Ray's worker groups hold the number of workers, and mean something.",
    why=(
        "Without the autoscaler nobody reads bounds. With it the gang is as many as `minReplicas`, whatever `replicas` "
        "says, and what lies outside the bounds is refused or cut without a word."
    ),
    fix=(
        "Set `enableInTreeAutoscaling: true` and the bounds that are meant; or `replicas`, `minReplicas` and "
        "`maxReplicas` to one number."
    ),
    link=_DOCS + "user-guides/configuring-autoscaling.html",
)
def ray_bounds(it: Field, report: Report) -> None:
    """Judge the worker groups of a cluster."""
    for cluster in ray_clusters(it):
        with report.reading():
            scaled = cluster["enableInTreeAutoscaling"].boolean()
            for group in cluster["workerGroupSpecs"].items():
                with report.reading():
                    _bounds(group, report, scaled=bool(scaled))


def _bounds(group: Field, report: Report, *, scaled: bool) -> None:
    least, count, most = (group[key] for key in ("minReplicas", "replicas", "maxReplicas"))
    low, number, high = (
        None if it is None else it.value for it in (least.quantity(), count.quantity(), most.quantity())
    )
    if low is not None and high is not None and low > high:
        report.violation(least, f"{least} is more than maxReplicas, {most}")
    elif not scaled and low is not None and high is not None and low < high:
        report.violation(most, f"nothing scales between {least} and {most}: the autoscaler is off")
    elif number is not None and low is not None and number < low:
        report.violation(count, f"{count} is less than minReplicas, {least}")
    elif number is not None and high is not None and number > high:
        report.violation(count, f"{count} is more than maxReplicas, {most}")


@rule(
    ResourceRule,
    types=(*_CLUSTER, *_JOB, *_SERVICE, *_CRON_JOB),
    id="ray-groups",
    severity=Severity.HIGH,
    what="Groups of a Ray cluster have names of their own, containers, and one place that says what they have.",
    why=(
        "KubeRay refuses a group without containers, and one whose resources are said twice, after the API server has "
        "taken it: `up` waits for a cluster that never comes. Groups of one name it takes, and counts the pods of both "
        "for each: what it makes for one it deletes for the other."
    ),
    fix=(
        "Give each group its own `groupName`, a template with containers, and either `resources` or what "
        "`rayStartParams` says of them; labels belong into the field `labels`."
    ),
    link=_DOCS + "user-guides/config.html",
)
def ray_groups(it: Field, report: Report) -> None:
    """Judge the head and the worker groups of a cluster (KubeRay 1.6.2, controllers/ray/utils/validation.go)."""
    for cluster in ray_clusters(it):
        with report.reading():
            head = cluster["headGroupSpec"]
            if head.value is not None:  # else it is the job around a cluster, or the API server refuses it
                _group(head, report)
        with report.reading():
            seen: dict[str, int] = {}
            for index, group in enumerate(cluster["workerGroupSpecs"].items()):
                with report.reading():
                    name = group["groupName"]
                    said = name.text()
                    if said is not None and seen.setdefault(said, index) != index:
                        report.violation(name, f"{name} is the name of group {seen[said]} already")
                _group(group, report)


def _group(group: Field, report: Report) -> None:
    with report.reading():
        containers = group.at("template", "spec", "containers")
        if not containers.items():
            report.violation(containers, "there are none")
    with report.reading():
        started = group["rayStartParams"].members()
        if "labels" in started:
            report.violation(started["labels"], "KubeRay takes labels from the field of that name only")
        if group["resources"].members():
            for key in _AMOUNTS:
                if key in started and started[key].text():
                    report.violation(started[key], "the group has resources, too, and KubeRay takes one of the two")


@rule(
    PodRule,
    id="ray-restarts",
    severity=Severity.HIGH,
    what="Pods of an autoscaled Ray cluster are not restarted by their node.",
    why=(
        "Ray's second autoscaler makes new pods itself, and a pod that restarts in place beside it is counted twice; "
        "KubeRay refuses it where `autoscalerOptions.version` names that one."
    ),
    fix="Set `restartPolicy: Never`, or leave it out.",
    link=_DOCS + "user-guides/configuring-autoscaling.html",
)
def ray_restarts(pod: Pod, report: Report) -> None:
    """Judge the pods of Ray's objects."""
    if pod.group != "ray.io" or not any(map(_scaled_anew, ray_clusters(pod.object))):
        return
    policy = pod.spec["restartPolicy"]
    if policy.text() not in (None, "Never"):
        report.violation(policy, f"{policy}: restarts beside Ray's second autoscaler")


@rule(
    ResourceRule,
    types=(*_JOB, *_CRON_JOB),
    id="ray-job-ends",
    severity=Severity.HIGH,
    what="The cluster of a Ray job goes when the job has ended.",
    why="Unless told so KubeRay keeps it, with all its GPUs, until somebody deletes the job.",
    fix="Set `shutdownAfterJobFinishes: true`, with `ttlSecondsAfterFinished` to look at it first.",
    link=_DOCS + "getting-started/rayjob-quick-start.html",
)
def ray_job_ends(it: Field, report: Report) -> None:
    """Judge jobs that make a cluster of their own."""
    spec = it["spec"]
    if spec["jobTemplate"].value is not None:
        spec = spec["jobTemplate"]
    ends = spec["shutdownAfterJobFinishes"]
    told = spec.at("deletionStrategy").value is not None or bool(spec["clusterSelector"].members())
    if not ends.boolean() and not told:
        report.violation(ends, "its cluster stays, with its GPUs")


def _scaled_anew(cluster: Field) -> bool:
    """Whether the autoscaler is the second one: by its name, or since Ray 2.47 by default."""
    if not cluster["enableInTreeAutoscaling"].boolean():
        return False
    version = cluster.at("autoscalerOptions", "version").text()
    older = _RELEASE.match(cluster["rayVersion"].text() or "") if version is None else None
    return version in (None, "v2") and (older is None or (int(older[1]), int(older[2])) >= _ANEW)


RULES = (ray_names, ray_bounds, ray_groups, ray_restarts, ray_job_ends)
