"""Laws about Volcano Jobs that somebody wrote by hand."""

from collections.abc import Iterator, Mapping
from typing import Any

from model import volcano_job_faults
from policies.fields import Field
from policies.pods import Pod
from policies.rules import Level, PodRule, Report, ResourceRule, Severity, rule

_JOBS = ("kubernetes:batch.volcano.sh/v1alpha1:Job",)
_TEMPLATES = ("kubernetes:batch.volcano.sh/v1alpha1:CronJob", "kubernetes:flow.volcano.sh/v1alpha1:JobTemplate")
_GROUPS = frozenset({"batch", "batch.volcano.sh", "flow.volcano.sh", "jobset.x-k8s.io"})
_COUNTS = ("replicas", "minAvailable")


@rule(
    ResourceRule,
    types=(*_JOBS, *_TEMPLATES),
    id="volcano-jobs",
    severity=Severity.HIGH,
    what="Volcano accepts the Volcano Jobs of the stack, and they can start.",
    why=(
        "Volcano's webhook refuses a job halfway through an update; what it does not look at, such as the names of "
        "pods, fails later, pod by pod. A gang of more pods than there are never starts."
    ),
    fix="Change what the message names; better, declare the job under `training.jobs`.",
    link="https://volcano.sh/en/docs/vcjob/",
)
def volcano_jobs(job: Field, report: Report) -> None:
    """Judge a job by what Volcano's webhook refuses."""
    _tell(job, report, "error")


@rule(
    ResourceRule,
    types=(*_JOBS, *_TEMPLATES),
    id="volcano-job-meaning",
    severity=Severity.MEDIUM,
    level=Level.ADVISORY,
    what="A Volcano Job means to Volcano what it seems to say.",
    why=(
        "Volcano accepts a gang smaller than its tasks want, GPUs that no queue counts, and a topology without bound, "
        "and does something else than was meant."
    ),
    fix="Change what the message names; better, declare the job under `training.jobs`.",
    link="https://volcano.sh/en/docs/vcjob/",
)
def volcano_job_meaning(job: Field, report: Report) -> None:
    """Judge a job by what Volcano takes otherwise."""
    _tell(job, report, "warning")


@rule(
    PodRule,
    id="restart-policy",
    severity=Severity.HIGH,
    what="Pods of jobs have the restart policy `Never` or `OnFailure`.",
    why=(
        "Left out it is `Always`: a worker that has finished is started again, and the job never ends and never gives "
        "its GPUs back. Kubernetes' own jobs are refused with it."
    ),
    fix="Set `restartPolicy: Never`: the job starts anew as a whole, from the last checkpoint.",
    link="https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/",
)
def restart_policy(pod: Pod, report: Report) -> None:
    """Judge the pods of jobs that end: Volcano's, Kubernetes' and those of a JobSet."""
    if pod.group not in _GROUPS or pod.partial:
        return
    policy = pod.spec["restartPolicy"]
    said = policy.text()
    if said is None:
        report.violation(policy, "says nothing, which means Always")
    elif said not in ("Never", "OnFailure"):
        report.violation(policy, f"{policy}: the job never ends")


def _tell(job: Field, report: Report, severity: str) -> None:
    spec = job["spec"]
    if spec["jobTemplate"].value is not None:
        spec = spec.at("jobTemplate", "spec")
    name = ""
    with report.reading():
        name = job.at("metadata", "name").text() or ""
    read = _Reading(report)
    for fault in volcano_job_faults.faults(name, read.spec(spec)) if spec.value is not None else ():
        if fault.severity == severity:
            report.violation(_at(spec, fault.path), fault.message)


def _at(spec: Field, path: tuple[str | int, ...]) -> str:
    """The place of a fault, which may be a field that is not there."""
    place = spec.path
    for key in path:
        place += f"[{key}]" if isinstance(key, int) else f".{key}"
    return place


class _Reading:
    """Reads what the model judges of a job. What cannot be read is noted, and with it goes what is counted with it."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def spec(self, spec: Field) -> Mapping[str, Any]:
        """Give the specification as far as it is known, of the shape that the kind has."""
        tasks: list[Mapping[str, Any]] = []
        counted = named = True
        for item in spec["tasks"].items():
            counts = {key: self._whole(item, key) for key in _COUNTS}
            if any(count is None and item[key].value is not None for key, count in counts.items()):
                counted, counts = False, {}
            name = self._text(item, "name")
            named = named and (name is not None or item["name"].value is None)
            task: dict[str, Any] = {key: count for key, count in counts.items() if count is not None}
            if item["partitionPolicy"].value is not None:
                policy = self._partitions(item)
                counted = counted and bool(policy)
                task |= {"partitionPolicy": policy} if policy and counts else {}
            task |= {} if name is None else {"name": name}
            task["dependsOn"] = {"name": self._others(item)}
            tasks.append(task | {"policies": list(self._policies(item)), "template": self._template(item)})
        least = self._whole(spec, "minAvailable") if counted else None
        if not named:
            tasks = [{key: value for key, value in task.items() if key != "dependsOn"} for task in tasks]
        return {
            "tasks": tasks,
            "minAvailable": least,
            "queue": self._text(spec, "queue"),
            "policies": list(self._policies(spec)),
            "plugins": self._plugins(spec) if named else {},
            "networkTopology": self._topology(spec),
            "volumes": self._volumes(spec),
        }

    def _text(self, holder: Field, key: str) -> str | None:
        with self._report.reading():
            return holder[key].text()
        return None

    def _whole(self, holder: Field, key: str) -> int | None:
        with self._report.reading():
            return holder[key].whole()
        return None

    def _policies(self, holder: Field) -> Iterator[Mapping[str, Any]]:
        with self._report.reading():
            for item in holder["policies"].items():
                with self._report.reading():
                    yield {
                        "event": item["event"].text(),
                        "events": [each.text() or "" for each in item["events"].items()],
                        "exitCode": item["exitCode"].whole(),
                        "action": item["action"].text(),
                    }

    def _plugins(self, holder: Field) -> Mapping[str, Any]:
        found: dict[str, Any] = {}
        with self._report.reading():
            for name, arguments in holder["plugins"].members().items():
                with self._report.reading():
                    found[name] = [each.text() or "" for each in arguments.items()]
        return found

    def _topology(self, holder: Field) -> Mapping[str, Any]:
        with self._report.reading():
            topology = holder["networkTopology"]
            if topology.value is not None:
                return {
                    "mode": topology["mode"].text() or "hard",
                    "highestTierAllowed": topology["highestTierAllowed"].whole(),
                    "highestTierName": topology["highestTierName"].text(),
                }
        return {}

    def _partitions(self, task: Field) -> Mapping[str, Any]:
        with self._report.reading():
            policy = task["partitionPolicy"]
            counts = {key: policy[key].whole() for key in ("totalPartitions", "partitionSize", "minPartitions")}
            return {**counts, "networkTopology": self._topology(policy)}
        return {}

    def _others(self, task: Field) -> list[str]:
        found: list[str] = []
        with self._report.reading():
            for item in task.at("dependsOn", "name").items():
                with self._report.reading():
                    found.append(item.text() or "")
        return found

    def _volumes(self, holder: Field) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = []
        with self._report.reading():
            for index, item in enumerate(holder["volumes"].items()):
                # One that cannot be read has no fault, and its place among the others.
                found.append({"mountPath": f"[{index}]", "volumeClaim": {}})
                with self._report.reading():
                    claim = item["volumeClaim"]
                    found[-1] = {
                        "mountPath": item["mountPath"].text(),
                        "volumeClaim": claim.members() if claim.value is not None else None,
                        "volumeClaimName": item["volumeClaimName"].text(),
                    }
        return found

    def _template(self, task: Field) -> Mapping[str, Any]:
        containers: list[Mapping[str, Any]] = []
        with self._report.reading():
            for container in task.at("template", "spec")["containers"].items():
                # The place of a container is part of what is told.
                containers.append({})
                with self._report.reading():
                    resources = container["resources"]
                    named = {kind: dict.fromkeys(resources[kind].members(), 1) for kind in ("limits", "requests")}
                    containers[-1] = {"resources": named}
        return {"spec": {"containers": containers}}


RULES = (volcano_jobs, volcano_job_meaning, restart_policy)
