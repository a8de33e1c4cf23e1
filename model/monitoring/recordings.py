"""Recording rules: what the document declares as series, and how well GPUs are used, per pool, tenant and queue.

A pod is its tenant's by its namespace, which the document gives to a tenant. It is in the queue that its label names,
else in the default queue of its namespace, where its scheduler puts it. Both are written into rules as series of their
own, so that nothing depends on labels that some other exporter would have to be told to give.

On a GPU that pods share, everything that is measured is the whole GPU's. So what is told of a tenant or a queue is how
busy the devices are *that it holds*, never a sum over its pods.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from model import agents, nodes, queues, quotas, tenants
from model.derived import derived

from . import counters
from .series import DEVICE, GPU, HELD, OTHERS, QUEUES, metrics

if TYPE_CHECKING:
    from collections.abc import Mapping

    from model.environment import Environment

_SHARED = ".shared"
"""How names of shared resources end: the device plugin's `renameByDefault`."""


@dataclass(frozen=True)
class Recording:
    """A recording rule.

    Attributes:
        name: The series that it makes: level, what is measured, how.
        expression: Its value, in PromQL.
        help: What it says, with its unit.
        labels: Labels that it adds.
    """

    name: str
    expression: str
    help: str
    labels: "Mapping[str, str]" = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True)
class Activity:
    """The metric that says how busy a device is.

    Attributes:
        metric: Its name.
        percent: What it is multiplied with to give percent.
    """

    metric: str
    percent: int


def activity_metric(env: "Environment") -> Activity:
    """The profiling counter, which also knows MIG instances; without profiling, time in which some kernel ran."""
    profiling = "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
    return Activity(profiling, 100) if profiling in counters.metrics(env) else Activity("DCGM_FI_DEV_GPU_UTIL", 1)


@derived
def recordings(env: "Environment") -> tuple[Recording, ...]:
    """All recording rules of an environment, in the order in which they build on each other."""
    measured = counters.metrics(env)
    found: list[Recording] = []
    if not measured:
        return ()
    known = measured | {name for names in OTHERS.values() for name in names}
    for part in (_declared, _gpus, _devices, _pools, _tenants, _queues):
        for recording in part(env):
            if metrics(recording.expression) <= known | {made.name for made in found}:
                found.append(recording)
    return tuple(found)


@derived
def given(env: "Environment") -> frozenset[str]:
    """All series that rules and dashboards may ask for; none where nobody measures GPUs."""
    measured = counters.metrics(env)
    if not measured:
        return frozenset()
    others = {name for names in OTHERS.values() for name in names}
    return measured | others | {recording.name for recording in recordings(env)}


def _declared(env: "Environment") -> Iterator[Recording]:
    for name in agents.gpu_pools(env):
        pool = env.pools[name]
        if pool.fewest:
            yield Recording(
                "pool:gpu_nodes:declared",
                f"vector({pool.fewest})",
                "Nodes that a pool has at least",
                {"pool": name},
            )
        yield Recording(
            "pool:gpus_per_node:declared",
            f"vector({nodes.machine(pool).gpus})",
            "GPUs of a node of a pool",
            {"pool": name},
        )
    for namespace, tenant in tenants.by_namespace(env).items():
        yield Recording(
            "namespace:tenant:declared",
            "vector(1)",
            "Whose a namespace is",
            {"namespace": namespace, "tenant": tenant},
        )
        queue = env.tenants[tenant].default_queue
        if queue is not None:
            yield Recording(
                "namespace:queue:declared",
                "vector(1)",
                "Where pods of a namespace go that name no queue",
                {"namespace": namespace, "queue": queue},
            )
    devices = [resource for resource in nodes.advertised(env) if not resource.endswith(_SHARED)]
    for node in queues.flatten(env):
        deserved = quotas.resolved(node.queue.deserved)
        amounts = [deserved[resource].value for resource in devices if resource in deserved]
        if node.leaf and amounts:
            yield Recording(
                "queue:devices:declared",
                f"vector({int(sum(amounts))})",
                "Devices that a leaf queue deserves",
                {"queue": node.path},
            )


def _devices(env: "Environment") -> Iterator[Recording]:
    active = activity_metric(env)
    scale = "" if active.percent == 100 else " / 100"
    yield Recording(
        "device:activity:ratio",
        f"max by ({DEVICE}) ({active.metric}){scale}",
        "Time in which a device is busy, 0 to 1",
    )
    yield Recording(
        "device:tensor_activity:ratio",
        f"max by ({DEVICE}) (DCGM_FI_PROF_PIPE_TENSOR_ACTIVE)",
        "Cycles in which the tensor cores of a device are busy, 0 to 1",
    )
    used, free = (f"max by ({DEVICE}) (DCGM_FI_DEV_FB_{which})" for which in ("USED", "FREE"))
    yield Recording(
        "device:memory_used:ratio",
        f"{used} / ({used} + {free})",
        "Memory of a device that is in use, 0 to 1",
    )
    # Any metric would do that each device has for each pod. Profiling may be paused, memory is always there.
    yield Recording(
        "device:held:bool",
        f"group by ({DEVICE}) (DCGM_FI_DEV_FB_USED{{{HELD}}})",
        "1 for each device that some pod holds",
    )


def _gpus(_: "Environment") -> Iterator[Recording]:
    """The counters of whole GPUs, without the pods that hold them.

    A pod that comes or goes ends one series of the exporter and begins another. A memory error ends the pod that it
    hits: of the exporter's own series, an increase would miss just that error.
    """
    for name, (expression, what) in _COUNTERS.items():
        told = f"{what}, since the driver was loaded"
        yield Recording(f"gpu:{name}:total", f"max by ({GPU}) ({expression})", told)


_NVLINK = "DCGM_FI_DEV_NVLINK_{}_ERROR_COUNT_TOTAL"
_COUNTERS = {
    "ecc_double_bit": ("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "Memory errors that were not corrected"),
    "ecc_single_bit": ("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "Memory errors that were corrected"),
    "pcie_replays": ("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "PCIe transfers that were sent again"),
    "nvlink_replays": (_NVLINK.format("REPLAY"), "NVLink transfers that were sent again"),
    "nvlink_recoveries": (_NVLINK.format("RECOVERY"), "NVLinks that were brought up again"),
    "nvlink_crc_errors": (
        f"{_NVLINK.format('CRC_FLIT')} + {_NVLINK.format('CRC_DATA')}",
        "NVLink checksum errors",
    ),
    # DCGM's header says nanoseconds; older texts of the exporter said microseconds, which was mended in its #589.
    "slowed_by_heat_nanoseconds": ("DCGM_FI_DEV_THERMAL_VIOLATION", "Time in which heat held the GPU down"),
    "slowed_by_power_nanoseconds": ("DCGM_FI_DEV_POWER_VIOLATION", "Time in which its power limit held the GPU down"),
}
_MEASURES = {
    "activity": "Time in which devices are busy, 0 to 1",
    "tensor_activity": "Cycles in which tensor cores are busy, 0 to 1",
    "memory_used": "Memory in use, 0 to 1",
}


def _pools(_: "Environment") -> Iterator[Recording]:
    yield Recording("pool:devices:count", "count by (pool) (device:memory_used:ratio)", "Devices of a pool")
    yield Recording(
        "pool:devices_held:count",
        "count by (pool) (device:held:bool) or on (pool) 0 * pool:devices:count",
        "Devices of a pool that some pod holds",
    )
    for measure, what in _MEASURES.items():
        yield Recording(
            f"pool:{measure}:ratio",
            f"avg by (pool) (device:{measure}:ratio)",
            f"{what}: mean of the devices of a pool, held or not",
        )


def _of_holder(holder: str) -> Iterator[Recording]:
    """How many devices a tenant or a queue holds, and how well they are used."""
    yield Recording(
        f"{holder}:devices_held:count",
        f"count by ({holder}, pool) ({holder}_device:held:bool)",
        f"Devices that a {holder} holds in a pool; shared ones count for each",
    )
    for measure, what in _MEASURES.items():
        yield Recording(
            f"{holder}:{measure}:ratio",
            f"avg by ({holder}, pool) ({holder}_device:held:bool * on ({DEVICE}) group_left () device:{measure}:ratio)",
            f"{what}: mean of the devices that a {holder} holds in a pool",
        )


def _tenants(env: "Environment") -> Iterator[Recording]:
    if not env.tenants:
        return
    yield Recording(
        "tenant_device:held:bool",
        f"group by (tenant, {DEVICE}) (\n"
        f"  DCGM_FI_DEV_FB_USED{{{HELD}}} * on (namespace) group_left (tenant) namespace:tenant:declared\n"
        f")",
        "1 for each device that a pod of a tenant holds",
    )
    yield from _of_holder("tenant")


def _queues(env: "Environment") -> Iterator[Recording]:
    if not env.queues:
        return
    label = QUEUES[env.scheduler.kind]
    shared = [name for name in agents.gpu_pools(env) if nodes.replicas(env.pools[name]) > 1]
    # Of pods that share a GPU the exporter tells no labels, so their queue is not known.
    alone = f', pool!~"{"|".join(shared)}"' if shared else ""
    labelled = f'DCGM_FI_DEV_FB_USED{{{HELD}, {label}!=""{alone}}}'
    parts = [f'group by (queue, {DEVICE}) (label_replace({labelled}, "queue", "$1", "{label}", "(.+)"))']
    if any(tenant.default_queue for tenant in env.tenants.values()):
        others = f'DCGM_FI_DEV_FB_USED{{{HELD}, {label}=""{alone}}}'
        parts.append(
            f"group by (queue, {DEVICE}) (\n  {others} * on (namespace) group_left (queue) namespace:queue:declared\n)"
        )
    yield Recording("queue_device:held:bool", "\nor ".join(parts), "1 for each device that a pod of a queue holds")
    yield from _of_holder("queue")
