"""What a change of fabric does to what runs: nodes that must be emptied first, and pods that are made anew.

Device plugins are another matter: when one is rolled, running pods keep their devices, so most changes (slots,
interfaces, networks) touch no node.
"""

from collections.abc import Iterator

from . import fabric, pod_patch, workloads
from .disruption import Disruption
from .environment import Environment
from .pools import Pool
from .problems import Subject
from .workloads import Workload


def set_in_hardware(env: Environment) -> dict[str, dict[str, str | int]]:
    """What is set in the NICs of each pool with a fabric: it changes on empty nodes only.

    Components carry it as an input, so that any preview shows when it changes.
    """
    pools = ((name, fabric.of(pool)) for name, pool in env.pools.items())
    return {
        name: {"fabric": kind.kind, "virtualFunctions": _functions(kind)} for name, kind in pools if kind.kind != "tcp"
    }


def disruptions(before: Environment, after: Environment) -> list[Disruption]:
    """What a change of document does to what runs on account of the fabric, pools first."""
    found: list[Disruption] = []
    for name, pool in after.pools.items():
        if name in before.pools:
            found += _of_pool(name, before.pools[name], pool)
    old = {it.at: it for it in workloads.every(before)}
    for it in workloads.every(after):
        if it.at in old:
            found += _of_workload(old[it.at], it)
    return found


def _of_pool(name: str, before: Pool, after: Pool) -> Iterator[Disruption]:
    old, new = fabric.of(before), fabric.of(after)
    subject, change = f"pool {name}", f"{_called(old)} -> {_called(new)}"
    if old.kind != new.kind and "efa" in (old.kind, new.kind):
        effect = "EFA devices belong to the instance, so the nodes are replaced: drain them"
        yield Disruption(subject, change, effect, drains=True)
    elif {old.kind, new.kind} == {"infiniband", "roce"}:
        effect = "the ports' link type is set in the firmware of the NICs, so the nodes start anew: drain them"
        yield Disruption(subject, change, effect, drains=True)
    elif _functions(old) != _functions(new):
        effect = "making virtual functions resets the NICs and ends every connection of the node: drain the nodes"
        made = f"{_functions(old)} -> {_functions(new)} virtual functions per NIC"
        yield Disruption(subject, made, effect, drains=True)
    if old.memlock != new.memlock and new.memlock == "unlimited":
        effect = (
            "containers that were started before keep their old limit: set it, restart the runtime, then change this"
        )
        yield Disruption(subject, "memlock: unlimited", effect, drains=False)


def _called(kind: fabric.Fabric) -> str:
    return kind.kind if fabric.mode(kind) in (None, "shared") else f"{kind.kind} ({fabric.mode(kind)})"


def _functions(kind: fabric.Fabric) -> int:
    return fabric.virtual_functions(kind) if fabric.mode(kind) == "sriov" else 0


def _of_workload(before: Subject[Workload], after: Subject[Workload]) -> Iterator[Disruption]:
    """All pods are made anew when their template changes: by KubeRay, and of a training job since that is replaced."""
    patches: list[pod_patch.Patch] = []
    for it in (before, after):
        pool, workers = it.value.pool, it.value.workers
        patches.append(pod_patch.patch(it.env, pool, gpus=workers.gpus, memory=workers.memory, rdma=workers.rdma))
    if patches[0] != patches[1] and before.value == after.value:
        effect = "its workers' template changes, so all its pods end and start anew"
        subject, change = f"{after.value.called} {after.name}", f"fabric of pool {after.value.pool}"
        yield Disruption(subject, change, effect, drains=False)
