"""Where a workload names its queue, so that the scheduler of the cluster reads it there.

Which label counts is for the scheduler to say: the label of another one means nothing, and would hide where the pods
run. Sources: ray-operator/controllers/ray/batchscheduler/volcano (RayCluster and RayJob; a RayService copies its
labels to its clusters, a RayCronJob gives its jobs none, constructRayJob); volcano v1.15.1, pkg/controllers/podgroup
(pods) and pkg/controllers/job/job_controller_util.go (`schedulerName`);
https://kueue.sigs.k8s.io/docs/tasks/run/jobs/ and .../run/cronjobs/; KAI v0.13.0,
pkg/podgrouper/podgrouper/plugins/defaultgrouper.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from . import queue_labels
from .pod_templates import Path

WATCHED = (
    # What Kueue watches, by group and kind. Plain pods are not among them: a webhook on all pods of the cluster would
    # be one more thing that stops everything.
    ("batch", "Job"),
    ("jobset.x-k8s.io", "JobSet"),
    ("ray.io", "RayCluster"),
    ("ray.io", "RayJob"),
    ("ray.io", "RayService"),
)
_VOLCANO = ("batch.volcano.sh", "flow.volcano.sh", "scheduling.volcano.sh")


@dataclass(frozen=True)
class Place:
    """A field that holds the name of a queue.

    Attributes:
        path: Where it is, in the object or in each of its pods.
        in_pods: Whether it is in the pods.
    """

    path: Path
    in_pods: bool = False


@dataclass(frozen=True)
class Naming:
    """How a kind of workload names its queue.

    Attributes:
        places: Where it may: one of them is enough, and what any of them says is read. None where it cannot.
        scheduler: The `schedulerName` that pods need for it; None where it does not matter, or an operator sets it.
        above: Where the object says it for those of its pods that do not; with neither it is the right one. None
            where the pods themselves must say it.
    """

    places: tuple[Place, ...] = ()
    scheduler: str | None = None
    above: Path | None = None


def _label(key: str, *above: str) -> Place:
    return Place((*above, "metadata", "labels", key))


_RAY = Naming((_label(queue_labels.VOLCANO),))
_BY_VOLCANO: Mapping[tuple[str, str], Naming] = MappingProxyType(
    {
        ("ray.io", "RayCronJob"): Naming(),
        ("batch.volcano.sh", "CronJob"): Naming(
            (Place(("spec", "jobTemplate", "spec", "queue")),),
            queue_labels.VOLCANO_SCHEDULER,
            ("spec", "jobTemplate", "spec", "schedulerName"),
        ),
    }
)
_ANNOTATED = Naming(
    (Place(("metadata", "annotations", queue_labels.ANNOTATION), in_pods=True),), queue_labels.VOLCANO_SCHEDULER
)
_OWN = Naming((Place(("spec", "queue")),), queue_labels.VOLCANO_SCHEDULER, ("spec", "schedulerName"))
_KAI = (_label(queue_labels.KAI), Place(("metadata", "labels", queue_labels.KAI), in_pods=True))


def naming(scheduler: str, group: str, kind: str) -> Naming:
    """How a kind names its queue to a scheduler, `scheduler.kind` of the document."""
    if scheduler == "kueue":
        if (group, kind) == ("batch", "CronJob"):
            return Naming((_label(queue_labels.KUEUE, "spec", "jobTemplate"),))
        return Naming((_label(queue_labels.KUEUE),) if (group, kind) in WATCHED else ())
    if scheduler == "kai":
        if (group, kind) == ("ray.io", "RayCronJob"):
            return Naming()
        return Naming(_KAI, None if group == "ray.io" else queue_labels.KAI_SCHEDULER)
    if found := _BY_VOLCANO.get((group, kind)):
        return found
    return _RAY if group == "ray.io" else _OWN if group in _VOLCANO else _ANNOTATED
