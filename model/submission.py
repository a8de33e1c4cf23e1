"""How a workload tells its scheduler where it belongs: labels and annotations, by `scheduler.kind`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import kai, kueue, queue_labels, topology
from .scheduler import Kind

if TYPE_CHECKING:
    from .environment import Environment
    from .workloads import Workload


POD_LABELS: Mapping[Kind, str] = {
    "volcano": queue_labels.VOLCANO,
    "kueue": queue_labels.KUEUE_POD,
    "kai": queue_labels.KAI,
}
"""The label by which a pod carries its queue."""


@dataclass(frozen=True)
class Submission:
    """What a workload's object and its pods carry.

    Attributes:
        labels: Labels of the object.
        annotations: Annotations of the object.
        pods: Annotations of all its pods.
        marks: Labels of all its pods, where nobody else puts them there.
        scheduler: The `schedulerName` of its pods; None where the operator or Volcano's own Job sets it, and for the
            cluster's own.
        replaced: Whether a change of the workload makes it anew. A workload that was admitted has, in the same fields,
            what Kueue wrote into it, and what is not as it was admitted Kueue stops.
    """

    labels: Mapping[str, str]
    annotations: Mapping[str, str] = field(default_factory=dict)
    pods: Mapping[str, str] = field(default_factory=dict)
    marks: Mapping[str, str] = field(default_factory=dict)
    scheduler: str | None = None
    replaced: bool = False


def of(env: "Environment", workload: "Workload") -> Submission:
    """How a workload is submitted."""
    queue, priority, within = workload.queue, workload.priority, workload.within
    kind = env.scheduler.kind
    if kind == "kueue":
        pods = kueue.placing(env, within, parts=2 if workload.leads else 1)
        return Submission({queue_labels.KUEUE: queue}, pods=pods, replaced=True)
    if kind == "kai":
        label = {queue_labels.KAI: queue}
        return Submission(label, kai.placing(env, within), marks=label, scheduler=queue_labels.KAI_SCHEDULER)
    labels = {queue_labels.VOLCANO: queue}
    if priority:
        labels["ray.io/priority-class-name"] = priority
    if within:
        level = next(level for level in topology.levels(env) if level.name == within.level)
        labels["volcano.sh/network-topology-mode"] = within.mode
        labels["volcano.sh/network-topology-highest-tier-allowed"] = str(level.tier)
    return Submission(labels)
