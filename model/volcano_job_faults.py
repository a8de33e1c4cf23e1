"""What is wrong with a Volcano Job that somebody wrote by hand: what Volcano refuses, and what it takes otherwise.

Knows no document, so that laws judge other people's jobs with it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any, Literal

from . import gpu_requests, names

EVENTS = ("*", "PodFailed", "PodEvicted", "PodPending", "Unknown", "TaskCompleted", "TaskFailed", "JobUpdated")
ACTIONS = (
    "AbortJob",
    "RestartJob",
    "RestartTask",
    "RestartPod",
    "RestartPartition",
    "TerminateJob",
    "CompleteJob",
    "ResumeJob",
)
"""What a policy may say (pkg/webhooks/admission/jobs/validate/util.go; the definition of the kind lists more)."""
PLUGINS = ("ssh", "svc", "env", "tensorflow", "mpi", "pytorch", "ray", "hcclrank")
"""Plugins of jobs (pkg/controllers/job/plugins/factory.go)."""


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a job.

    Attributes:
        path: Keys and indexes below `spec`.
        message: What is wrong there.
        severity: Volcano refuses an error; it accepts what is a warning, and means something else by it.
    """

    path: tuple[str | int, ...]
    message: str
    severity: Literal["error", "warning"] = "error"


def faults(name: str, spec: Mapping[str, Any]) -> list[Fault]:
    """All that is wrong with a job.

    Args:
        name: Its name.
        spec: Its `spec`, of the shape that the definition of the kind has.

    Source: https://github.com/volcano-sh/volcano, pkg/webhooks/admission/jobs/validate/admit_job.go, and
    config/crd/volcano/bases/batch.volcano.sh_jobs.yaml.
    """
    if not spec.get("tasks"):
        return [Fault(("tasks",), "there are no tasks, so there is nothing to run")]
    rules: tuple[Callable[[str, Mapping[str, Any]], Iterator[Fault]], ...] = (
        _names,
        _numbers,
        _partitions,
        _sum,
        _order,
        _volumes,
        _policies,
        _plugins,
        _topology,
        _queue,
        _requests,
    )
    return [fault for rule in rules for fault in rule(name, spec)]


def _tasks(spec: Mapping[str, Any]) -> list[tuple[int, str, Mapping[str, Any]]]:
    """Tasks with their names, those included that Volcano makes up."""
    return [(index, task.get("name") or f"default{index}", task) for index, task in enumerate(spec["tasks"])]


def _names(name: str, spec: Mapping[str, Any]) -> Iterator[Fault]:
    seen: dict[str, int] = {}
    for index, task_name, task in _tasks(spec):
        first = seen.setdefault(task_name, index)
        if first != index:
            yield Fault(("tasks", index, "name"), f"{task_name} is the name of task {first} already")
        if fault := names.DNS_LABEL.fault(task_name):
            yield Fault(("tasks", index, "name"), fault)
        # The webhook looks at the number of the task only, so pods with longer numbers are refused later, one by one.
        longest = f"{name}-{task_name}-{max(task.get('replicas', 1) - 1, 0)}"
        if len(longest) > names.LABEL:
            message = (
                f"its last pod would be called {longest}: {len(longest)} characters, a host name has {names.LABEL}"
            )
            yield Fault(("tasks", index, "name"), message)


def _numbers(_: str, spec: Mapping[str, Any]) -> Iterator[Fault]:
    for index, task_name, task in _tasks(spec):
        at, replicas, least = ("tasks", index), task.get("replicas", 0), task.get("minAvailable")
        if replicas < 0:
            yield Fault((*at, "replicas"), f"{replicas} must not be negative")
        elif least is not None and least < 0:
            yield Fault((*at, "minAvailable"), f"{least} must not be negative")
        elif least is not None and least > replicas:
            message = f"task {task_name} has {replicas} pods, and {least} must be there: it never starts"
            yield Fault((*at, "minAvailable"), message)


def _least(task: Mapping[str, Any]) -> int:
    """How many pods of a task must be there: as Volcano fills in what is left out (mutate/mutate_job.go)."""
    if (said := task.get("minAvailable")) is not None:
        return said
    policy = task.get("partitionPolicy") or {}
    if (partitions := policy.get("minPartitions") or 0) > 0:
        return partitions * (policy.get("partitionSize") or 0)
    return task.get("replicas", 0)


def _partitions(_: str, spec: Mapping[str, Any]) -> Iterator[Fault]:
    for index, task_name, task in _tasks(spec):
        policy = task.get("partitionPolicy")
        if policy is None:
            continue
        at, replicas, least = ("tasks", index, "partitionPolicy"), task.get("replicas", 0), task.get("minAvailable")
        total, size, few = (policy.get(key) or 0 for key in ("totalPartitions", "partitionSize", "minPartitions"))
        if total < 1:
            yield Fault((*at, "totalPartitions"), f"{total} must be 1 or more")
        elif size < 1:
            yield Fault((*at, "partitionSize"), f"{size} must be 1 or more")
        elif few < 0:
            yield Fault((*at, "minPartitions"), f"{few} must not be negative")
        elif total * size != replicas:
            message = f"{total} partitions of {size} are {total * size} pods, and task {task_name} has {replicas}"
            yield Fault(at, message)
        elif least is None and few > total:
            yield Fault((*at, "minPartitions"), f"{few} partitions must be there, and there are {total}")
        elif least is not None and few and few * size != least:
            message = f"{few} partitions of {size} are {few * size} pods, and minAvailable says {least}"
            yield Fault((*at, "minPartitions"), message)
        yield from _bound((*at, "networkTopology"), policy.get("networkTopology"))


def _sum(_: str, spec: Mapping[str, Any]) -> Iterator[Fault]:
    least = spec.get("minAvailable") or 0
    tasks = [task for _, _, task in _tasks(spec)]
    total = sum(max(task.get("replicas", 0), 0) for task in tasks)
    each = sum(map(_least, tasks))
    if least < 0:
        yield Fault(("minAvailable",), f"{least} must not be negative")
    elif least > total:
        yield Fault(("minAvailable",), f"{least} pods must be there, and the tasks have {total}: it never starts")
    elif 0 < least < each:
        message = (
            f"{least} pods make the gang, while the tasks want {each}: it starts before all are there that they want"
        )
        yield Fault(("minAvailable",), message, "warning")


def _order(_: str, spec: Mapping[str, Any]) -> Iterator[Fault]:
    """What tasks wait for. Volcano refuses all of it as no acyclic graph (validate/util.go, topoSort)."""
    tasks = _tasks(spec)
    places = {name: index for index, name, _ in tasks}
    if len(places) < len(tasks):
        return  # which of two is waited for nobody knows, and they are told already
    waits: dict[str, list[str]] = {name: (task.get("dependsOn") or {}).get("name") or [] for _, name, task in tasks}
    faults = [
        *(
            Fault(("tasks", places[name], "dependsOn"), f"there is no task {other}: it would wait for ever")
            for name, others in waits.items()
            for other in dict.fromkeys(others)
            if other not in places
        ),
        *(
            # Volcano counts it twice, and sees it done once.
            Fault(("tasks", places[name], "dependsOn"), f"{other} is there twice")
            for name, others in waits.items()
            for other in dict.fromkeys(others)
            if others.count(other) > 1
        ),
    ]
    yield from faults
    try:
        TopologicalSorter(waits if not faults else {}).prepare()
    except CycleError as error:
        circle: list[str] = list(reversed(error.args[1]))
        first = min(circle, key=lambda name: places[name])
        yield Fault(("tasks", places[first], "dependsOn"), f"waits in a circle: {' for '.join(circle)}")


def _volumes(_: str, spec: Mapping[str, Any]) -> Iterator[Fault]:
    seen: dict[str, int] = {}
    for index, volume in enumerate(spec.get("volumes") or ()):
        at, path, name = ("volumes", index), volume.get("mountPath") or "", volume.get("volumeClaimName") or ""
        if not path:
            yield Fault((*at, "mountPath"), "says nothing, so there is no place for the volume")
        elif ":" in path:
            yield Fault((*at, "mountPath"), f"{path}: ':' must not stand in a path")
        elif seen.setdefault(path, index) != index:
            yield Fault((*at, "mountPath"), f"{path} is the place of volume {seen[path]} already")
        claimed = volume.get("volumeClaim") is not None
        if claimed == bool(name):
            message = "a volume has either a volumeClaim, which is made, or the volumeClaimName of one that is there"
            yield Fault(at, message)
        elif name and (fault := names.subdomain_fault(name)):
            yield Fault((*at, "volumeClaimName"), fault)


def _policies(_: str, spec: Mapping[str, Any]) -> Iterator[Fault]:
    yield from _of(("policies",), spec.get("policies") or ())
    for index, _, task in _tasks(spec):
        yield from _of(("tasks", index, "policies"), task.get("policies") or ())


def _of(at: tuple[str | int, ...], policies: Any) -> Iterator[Fault]:
    events: dict[object, int] = {}
    codes: dict[object, int] = {}
    for index, policy in enumerate(policies):
        here = (*at, index)
        named = {*(policy.get("events") or ()), *filter(None, [policy.get("event")])}
        code = policy.get("exitCode")
        if bool(named) == (code is not None):
            yield Fault(here, "a policy has either an event or an exit code")
            continue
        if code == 0:
            yield Fault((*here, "exitCode"), "0 is success, and no reason to do anything")
        if policy.get("action") not in ACTIONS:
            yield Fault((*here, "action"), f"{policy.get('action')} is no action; allowed: {', '.join(ACTIONS)}")
        for event in sorted(named):
            if event not in EVENTS:
                yield Fault(here, f"{event} is no event that a job may act upon; allowed: {', '.join(EVENTS)}")
            elif events.setdefault(event, index) != index:
                yield Fault(here, f"{event} is in policy {events[event]} already")
        if code is not None and codes.setdefault(code, index) != index:
            yield Fault((*here, "exitCode"), f"{code} is in policy {codes[code]} already")
    if "*" in events and len(events) > 1:
        yield Fault(at, "* means every event, so no other policy may name one")


def _plugins(_: str, spec: Mapping[str, Any]) -> Iterator[Fault]:
    plugins = spec.get("plugins") or {}
    for plugin in plugins:
        if plugin not in PLUGINS:
            yield Fault(("plugins", plugin), f"there is no such plugin; allowed: {', '.join(PLUGINS)}")
    tasks = {name for _, name, _ in _tasks(spec)}
    for plugin, severity in (("mpi", "error"), ("pytorch", "warning")):
        if plugin in plugins and (leader := _argument(plugins[plugin], "master")) not in tasks:
            message = f"there is no task {leader}, which plugin {plugin} takes for the one that leads"
            yield Fault(("plugins", plugin), message, "error" if severity == "error" else "warning")


def _argument(arguments: Any, name: str) -> str:
    """A plugin's argument, which by default is its own name (`--master=master`)."""
    found = (str(argument).lstrip("-").partition("=") for argument in arguments or ())
    return next((value for key, _, value in found if key == name), name)


def _topology(_: str, spec: Mapping[str, Any]) -> Iterator[Fault]:
    yield from _bound(("networkTopology",), spec.get("networkTopology"))


def _bound(at: tuple[str | int, ...], topology: Mapping[str, Any] | None) -> Iterator[Fault]:
    if not topology:
        return
    tier, called = topology.get("highestTierAllowed"), topology.get("highestTierName")
    if tier is not None and called:
        yield Fault(at, "the highest tier is said twice, by number and by name")
    elif tier is None and not called and topology.get("mode", "hard") == "hard":
        yield Fault(at, "without a highest tier it is no bound, and nothing is kept together", "warning")


def _queue(_: str, spec: Mapping[str, Any]) -> Iterator[Fault]:
    if spec.get("queue") == "root":
        yield Fault(("queue",), "root takes no jobs: they go to leaves only")


def _requests(_: str, spec: Mapping[str, Any]) -> Iterator[Fault]:
    for index, _, task in _tasks(spec):
        pod: Mapping[str, Any] = (task.get("template") or {}).get("spec") or {}
        for number, container in enumerate(pod.get("containers") or []):
            resources: Mapping[str, Any] = container.get("resources") or {}
            requests = resources.get("requests") or {}
            missing = [
                name for name in resources.get("limits") or {} if gpu_requests.is_gpu(name) and name not in requests
            ]
            if missing:
                # Pods get them when they are made, and the gang is counted before.
                at = ("tasks", index, "template", "spec", "containers", number, "resources", "limits")
                message = (
                    f"{', '.join(missing)} is under limits only, and the gang is counted in requests: its queue lets "
                    "it in when there is no room"
                )
                yield Fault(at, message, "warning")
