"""What each scheduler makes of a document, in one table: what stands in it as refused is refused by `check`."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from . import kai, kueue, queue_labels, scheduler_uses
from .problems import NOTHING, Path, Problem, answered, known
from .scheduler import Kind

if TYPE_CHECKING:
    from .environment import Environment

KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Refused:
    """Something that a scheduler cannot do.

    Attributes:
        why: The reason.
        instead: What may stand there.
        warns: Whether it only is worth less than it seems.
        fix: What to write instead, where one thing fits.
        spoils: Whether the value means nothing, so that nothing more is concluded from it.
    """

    why: str
    instead: str
    warns: bool = False
    fix: str | None = None
    spoils: bool = False


Cell = str | Refused


@dataclass(frozen=True)
class Feature:
    """Something that a document can ask for.

    Attributes:
        key: Where, as documents write it.
        volcano: How Volcano is told, or why it cannot be.
        kueue: How Kueue is told, or why it cannot be.
        kai: How KAI is told, or why it cannot be.
        uses: Where a document asks for it; only what some scheduler refuses has to be found.
    """

    key: str
    volcano: Cell
    kueue: Cell
    kai: Cell
    uses: Callable[["Environment"], Iterator[scheduler_uses.Use]] = lambda _: iter(())

    def cell(self, kind: Kind) -> Cell:
        """What one of the schedulers makes of it."""
        return {"volcano": self.volcano, "kueue": self.kueue, "kai": self.kai}[kind]


_LABELS_ONLY = Refused("it knows a topology from labels of nodes alone", "topology.labels")

_NO_HOSTS = Refused("a JobSet brings its pods neither keys nor a list of hosts", "pytorch, none")
_LONG = Refused("JobSet counts `-worker-0-7` and five random characters", "a shorter name")
_NO_ORDER = Refused("its queues have no order among each other", "no priority of queues; that of workloads counts")
_TAKES_BACK = Refused("what a queue has borrowed is always taken back from it", "reclaimable: true")
_TAKES_OVER = Refused("what a queue has over its quota is always taken back from it", "reclaimable: true")
_KEEPS_NOTHING = Refused("it lends all that a queue does not use, and keeps nothing back for it", "no guarantee")
_KNOWN_KINDS = Refused("its queues know cpu, memory and gpu alone", "cpu, memory, gpu")
_WHOLE = Refused("a JobSet has as many pods as it says, and all start together", "a fixed count")

FEATURES: tuple[Feature, ...] = (
    Feature(
        "queues.*.deserved",
        "`spec.deserved`; of a queue without parts its GPUs alone, or, without any, its cores",
        "`nominalQuota`; a queue with parts has what they leave of it",
        "`quota`",
    ),
    Feature(
        "queues.*.deserved of a queue with parts, none of which deserves any of it",
        Refused(
            "it takes back for a part what that part deserves itself, so for these it takes back nothing",
            "deserved of its parts",
            warns=True,
            fix="divide it among its parts",
        ),
        "`nominalQuota` of the cohort",
        "`quota` of the queue above",
        scheduler_uses.undivided_shares,
    ),
    Feature(
        "queues.*.guarantee",
        "`spec.guarantee`: kept for a part while it is idle, of what a queue above has a `capability` of. Not for a "
        "top queue: its own is lent like `deserved`, and taken back",
        "`lendingLimit`: what is deserved less what is guaranteed",
        _KEEPS_NOTHING,
        scheduler_uses.guarantees,
    ),
    Feature(
        "queues.*.guarantee of a queue with parts, none of which is guaranteed any of it",
        Refused(
            "a part keeps what it is guaranteed itself when others take theirs back, and these are guaranteed nothing",
            "guarantee of its parts",
            warns=True,
            fix="divide it among its parts",
        ),
        "`lendingLimit` of the cohort",
        _KEEPS_NOTHING,
        scheduler_uses.undivided_guarantees,
    ),
    Feature(
        "queues.*.guarantee of a top queue beside scheduler.reclaim: false",
        Refused(
            "what is guaranteed to a top queue is lent while it is idle, and without reclaim it gets nothing back",
            "reclaim: true, or no guarantee",
            warns=True,
        ),
        "`lendingLimit`, which keeps it",
        _KEEPS_NOTHING,
        scheduler_uses.top_guarantees_without_reclaim,
    ),
    Feature(
        "queues.*.capability",
        "`spec.capability`",
        "`borrowingLimit`: capability less what is deserved",
        "`limit`",
    ),
    Feature(
        "queues.*.capability: cpu or memory of 0",
        Refused(
            "it takes a capability of no cores or no memory for none, so the queue would not be limited",
            "more than 0",
            fix="gpu: 0, or a small amount such as 1m of cpu or 1Mi of memory",
            spoils=True,
        ),
        "`borrowingLimit` of 0",
        "`limit` of 0",
        scheduler_uses.nothing_allowed,
    ),
    Feature(
        "queues.*: cpu, memory and gpu that nothing names",
        "not limited; work that asks for nothing that its queue deserves is taken back first",
        "a `nominalQuota` of all there is: neither limited nor borrowed",
        "a `quota` of 0, no `limit`",
    ),
    Feature(
        "queues.*.deserved without the cpu or memory that others deserve",
        "no difference, where GPUs are deserved",
        Refused(
            "it takes back for a workload only when all that it asks for is within what its queue deserves",
            "an amount",
            warns=True,
        ),
        "a `quota` of 0, no `limit`",
        scheduler_uses.shareless,
    ),
    Feature(
        "queues.*: other resources than cpu, memory and gpu",
        "as they are called",
        "as they are called",
        _KNOWN_KINDS,
        scheduler_uses.others(tuple(kai.KINDS)),
    ),
    Feature(
        "queues.*: pods",
        Refused("its queues do not count pods, so nothing would be limited", "no number of pods", spoils=True),
        "as they are called",
        _KNOWN_KINDS,
        scheduler_uses.pods,
    ),
    Feature(
        "queues.*: ephemeral-storage",
        "as it is called",
        Refused("it lends what is written, and no pool says how much of this it has", "no amount of it"),
        _KNOWN_KINDS,
        scheduler_uses.uncounted,
    ),
    Feature(
        "queues.*.priority",
        "`spec.priority`",
        _NO_ORDER,
        "`spec.priority`",
        scheduler_uses.in_queues("priority", 0),
    ),
    Feature(
        "queues.*.priority of a queue with parts",
        Refused("only the priority of leaves counts", "no priority", fix="give it to its parts"),
        _NO_ORDER,
        "`spec.priority`",
        scheduler_uses.in_wholes("priority", 0),
    ),
    Feature(
        "queues.*.reclaimable: false",
        "`spec.reclaimable`",
        _TAKES_BACK,
        _TAKES_OVER,
        scheduler_uses.in_queues("reclaimable", default=True),
    ),
    Feature(
        "queues.*.reclaimable: false of a queue with parts",
        Refused(
            "only that of leaves counts, so its parts would give way",
            "reclaimable: true",
            fix="give it to its parts",
        ),
        _TAKES_BACK,
        _TAKES_OVER,
        scheduler_uses.in_wholes("reclaimable", default=True),
    ),
    Feature(
        "scheduler.placement",
        "`binpack`, `nodeorder` and `hypernode.binpack`, or `nodeorder` alone",
        Refused("it fills up domains and hosts one after the other, and knows no spreading", "placement: pack"),
        "the chart's `placementStrategy`",
        scheduler_uses.setting("placement", "pack"),
    ),
    Feature(
        "scheduler.order",
        "plugin `priority`, or `drf` after it",
        Refused("workloads of a queue come by priority and then by age", "order: priority"),
        Refused("workloads of a queue come by priority and then by age", "order: priority"),
        scheduler_uses.setting("order", "priority"),
    ),
    Feature(
        "scheduler.reclaim: false",
        "no action `gangreclaim`",
        "`reclaimWithinCohort: Never` in place of `Any`",
        Refused("its chart makes the one shard, and has no value for the shard's actions", "reclaim: true"),
        scheduler_uses.setting("reclaim", default=True),
    ),
    Feature(
        "scheduler.preempt: false",
        "no action `gangpreempt`",
        "`withinClusterQueue: Never` in place of `LowerPriority`",
        Refused("its chart makes the one shard, and has no value for the shard's actions", "preempt: true"),
        scheduler_uses.setting("preempt", default=True),
    ),
    Feature(
        "scheduler.override",
        "`volcano-scheduler.conf`",
        Refused("it is a configuration of Volcano", "kind: volcano, or no override"),
        Refused("it is a configuration of Volcano", "kind: volcano, or no override"),
        scheduler_uses.setting("override", {}),
    ),
    Feature(
        "topology.labels, topology.source",
        "label discovery, which makes HyperNodes",
        "`Topology` with the host as its last level",
        "`Topology` with the host as its last level",
    ),
    Feature("topology.racks", "`HyperNode`", _LABELS_ONLY, _LABELS_ONLY, scheduler_uses.racks),
    Feature(
        "a workload's queue",
        "the job's `queue`; label `volcano.sh/queue-name`",
        f"label `{queue_labels.KUEUE}`, a `LocalQueue` of the namespace",
        f"label `{queue_labels.KAI}`",
    ),
    Feature(
        "a workload's gang",
        "`PodGroup` with `minMember`",
        "all pods get their places at once, by topology-aware scheduling down to the host",
        "`PodGroup` with `minMember`, by its pod grouper",
    ),
    Feature(
        "a workload's within",
        "`networkTopology` of the PodGroup, by the level's tier",
        "`podset-required-topology` or `podset-preferred-topology`",
        "`topology-required-placement` or `topology-preferred-placement`",
    ),
    Feature(
        "a workload's priority",
        "`priorityClassName` of PodGroup and pods",
        "`priorityClassName` of its pods",
        "`priorityClassName` of its pods; from a value of 100 on KAI takes nothing from it, and lets it borrow nothing",
    ),
    Feature("training.jobs", "`Job` of batch.volcano.sh", "`JobSet`", "`JobSet`, whose jobs start in any order"),
    Feature(
        "training.jobs.*.framework: mpi",
        "plugins `mpi` and `ssh`: hosts and keys",
        _NO_HOSTS,
        _NO_HOSTS,
        scheduler_uses.mpi,
    ),
    Feature(
        "training.jobs.*.workers.count: {min, max}",
        "the gang is as many as `min`",
        _WHOLE,
        _WHOLE,
        scheduler_uses.elastic("training"),
    ),
    Feature(
        "training.jobs: a name of which a pod's would have over 63 characters",
        "counted with `-worker-7`",
        _LONG,
        _LONG,
        scheduler_uses.long_names,
    ),
    Feature(
        "ray.jobs.*.submission: K8sJobMode",
        "the submitter is a pod beside the gang",
        "the submitter is a pod set of its own",
        Refused("KubeRay refuses it with KAI", "SidecarMode, HTTPMode"),
        scheduler_uses.ray_setting("jobs", "submission", "K8sJobMode"),
    ),
    Feature(
        "ray.services.*.upgrade: NewCluster",
        "two gangs for that time",
        Refused("it admits the one cluster of a service, and a second would run beside all quotas", "Recreate"),
        "two gangs for that time",
        scheduler_uses.ray_setting("services", "upgrade", "NewCluster"),
    ),
    Feature(
        "ray.*.workers.count: {min, max}",
        "the gang is the head with `min` workers",
        Refused("it admits a Ray cluster whole, and refuses one with Ray's autoscaler", "a fixed count"),
        "the gang is the head with `min` workers",
        scheduler_uses.elastic("ray"),
    ),
    Feature(
        "tenants.*.defaultQueue",
        "annotation of the namespace",
        f"a `LocalQueue` called `{kueue.DEFAULT}`",
        Refused("it reads the queue from a label alone", "no defaultQueue"),
        scheduler_uses.default_queues,
    ),
    Feature(
        "tenants.*.defaultQueue beside a queue called default",
        "annotation of the namespace",
        Refused("the local queue called default is for workloads that name none", "defaultQueue: default"),
        Refused("it reads the queue from a label alone", "no defaultQueue"),
        scheduler_uses.two_defaults,
    ),
    Feature(
        "a workload on a pool without GPUs beside topology.labels",
        "placed like any other",
        Refused("it places on nodes that carry all labels of the topology, and these may not", "a pool with domains"),
        "placed like any other",
        scheduler_uses.unlabelled,
    ),
    Feature(
        "pools.*.size: {min, max} of GPU nodes",
        "pods wait, and whoever brings nodes sees them",
        Refused(
            "gangs are admitted to nodes that are there, so nothing makes the pool grow for one that waits",
            "a fixed size",
            warns=True,
        ),
        "pods wait, and whoever brings nodes sees them",
        scheduler_uses.growing,
    ),
)
"""All that a scheduler has to be told."""


def limits(env: "Environment") -> Iterator[Problem]:
    """What a document asks for and its scheduler cannot do."""
    kind: Kind = known(env.scheduler.kind)
    told: set[Path] = set()
    for feature in FEATURES:
        cell = feature.cell(kind)
        if isinstance(cell, Refused):
            for problem in answered(_refusals, feature, kind, cell, env):
                if problem.path not in told:
                    told.add(problem.path)
                    yield problem


def _refusals(feature: Feature, kind: Kind, cell: Refused, env: "Environment") -> Iterator[Problem]:
    for at, value in feature.uses(env):
        severity = "warning" if cell.warns else "error"
        message, spoils = f"with scheduler {kind}: {cell.why}", None if cell.spoils else NOTHING
        yield Problem(at, value, message, cell.instead, cell.fix, severity, spoils)


_HEAD = """\
# How each scheduler is told

`scheduler.kind` chooses who places workloads; the document stays the same. This is how each part of it is carried over,
and what `./gangline check` refuses because it cannot be. Generated from `model/schedulers.py`; more in
[the guide](../guides/schedulers.md).
"""


def reference() -> str:
    """The mapping table, in Markdown."""
    names: dict[Kind, str] = {"volcano": "Volcano", "kueue": "Kueue", "kai": "KAI"}
    lines = [_HEAD, f"| in the document | {' | '.join(names[kind] for kind in KINDS)} |", f"|---{'|---' * len(KINDS)}|"]
    for feature in FEATURES:
        cells = (_shown(feature.cell(kind)) for kind in KINDS)
        lines.append(f"| {feature.key} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _shown(cell: Cell) -> str:
    if isinstance(cell, str):
        return cell
    return f"{'a warning' if cell.warns else '**refused**'}: {cell.why}"
