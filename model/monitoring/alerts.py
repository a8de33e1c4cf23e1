"""Alert rules: what is wrong with a GPU, with the nodes that have them, and with those who hold them.

There is no official list of NVIDIA's. Where DCGM's own health checks draw a line
(https://github.com/NVIDIA/DCGM, modules/health/DcgmHealthWatch.cpp, common/DcgmGPUHardwareLimits.h), it is the same
here; the others are common practice, and thresholds are the document's.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from catalog.xids import xids
from model import agents, fabric
from model.derived import derived
from model.sharing import SharingPlan

from . import recordings
from .exporter import JOB
from .series import DEVICE, GPU, HELD, metrics

if TYPE_CHECKING:
    from model.environment import Environment

Severity = Literal["critical", "warning", "info"]
AN_EVENT = "30m"
"""How long an alert stays after something that happened and is over, so that somebody sees it."""


@dataclass(frozen=True)
class Alert:
    """An alert rule.

    Attributes:
        name: Its name; the page docs/runbooks/<name>.md says what to do.
        severity: `critical`: somebody is woken up; `warning`: within a working day; `info`: for who looks into a job.
        expression: When it is raised, in PromQL.
        summary: What happened and where, in one line; a template of Prometheus.
        description: What it means.
        held: How long the expression must hold before the alert is raised; at once when empty.
        stays: How long the alert stays when it no longer does; not at all when empty.
    """

    name: str
    severity: Severity
    expression: str
    summary: str
    description: str
    held: str = ""
    stays: str = ""

    @property
    def page(self) -> str:
        """The page that says what to do, relative to the project."""
        return f"docs/runbooks/{self.name}.md"


@derived
def alerts(env: "Environment") -> tuple[Alert, ...]:
    """All alerts of an environment: for what its pools have, and only those whose metrics somebody gives."""
    given = recordings.given(env)
    return tuple(alert for part in _PARTS for alert in part(env) if metrics(alert.expression) <= given)


def annotations(env: "Environment", alert: Alert) -> dict[str, str]:
    """What an alert tells, with the way to its page: a link where the document has a base for it, else the file."""
    base = env.monitoring.alerts.runbooks
    page = {"runbook": alert.page} if base is None else {"runbook_url": f"{base.rstrip('/')}/{alert.name}.md"}
    return {"summary": alert.summary, "description": alert.description, **page}


_GPU = "GPU {{ $labels.gpu }} of node {{ $labels.node }}"
_XID = _GPU + ": Xid {{ $labels.xid }}"
_VALUE = '{{ printf "%.0f" $value }}'


def _per_gpu(expression: str) -> str:
    return f"max by ({GPU}) ({expression})"


def _xid(numbers: str, *more: str) -> str:
    """The exporter counts Xids in a window of five minutes. The count falls again, so a rate of it means nothing."""
    labels = ", ".join([GPU, "xid", *more])
    return f"max by ({labels}) (DCGM_EXP_XID_ERRORS_COUNT{{xid{numbers}}}) > 0"


def _of_kind(kind: str) -> str:
    return f'=~"{"|".join(map(str, xids()[kind]))}"'


def _xid_errors(_: "Environment") -> Iterator[Alert]:
    yield Alert(
        "GpuXidFatal",
        "critical",
        _xid(_of_kind("fatal")),
        _XID,
        "The GPU is gone, or its node no longer sound. Whatever ran there has failed, and the node must leave service.",
        stays=AN_EVENT,
    )
    yield Alert(
        "GpuXidReset",
        "critical",
        _xid(_of_kind("reset")),
        _XID,
        "The GPU is in a state that only a reset ends. Until then work on it fails.",
        stays=AN_EVENT,
    )
    yield Alert(
        "GpuXidNvlink",
        "critical",
        _xid(_of_kind("nvlink")),
        _XID,
        "An NVLink failed: at this GPU, at the one at its other end, or at the switch between them.",
        stays=AN_EVENT,
    )
    yield Alert(
        "GpuXidApplication",
        "info",
        _xid(_of_kind("application"), "namespace", "pod"),
        _XID + " in pod {{ $labels.namespace }}/{{ $labels.pod }}",
        "The driver ended the work of a program. The program is the first suspect; the same on one GPU only, whoever "
        "runs there, speaks against the GPU.",
    )
    named = "|".join(str(number) for kind in xids().values() for number in kind)
    yield Alert(
        "GpuXidOther",
        "warning",
        # A GPU without errors has a series without this label; some drivers report 0 for none.
        _xid(f'!~"0?|{named}"'),
        _XID,
        "The driver reports an error that is not among those whose remedy is known here.",
        stays=AN_EVENT,
    )


def _memory(env: "Environment") -> Iterator[Alert]:
    yield Alert(
        "GpuEccDoubleBit",
        "critical",
        "increase(gpu:ecc_double_bit:total[10m]) > 0",
        _GPU + ": memory errors that could not be corrected",
        "What was computed with that memory is lost, and its program was ended. It may happen again until a reset of "
        "the GPU takes the bad memory out of use.",
        stays=AN_EVENT,
    )
    yield Alert(
        "GpuEccSingleBit",
        "warning",
        f"increase(gpu:ecc_single_bit:total[1h]) > {env.monitoring.alerts.errors.single_bit}",
        f"{_GPU}: {_VALUE} corrected memory errors in an hour",
        "Nothing is lost, but errors that cannot be corrected often follow.",
    )
    yield Alert(
        "GpuRowRemapFailed",
        "critical",
        f"{_per_gpu('DCGM_FI_DEV_ROW_REMAP_FAILURE')} > 0",
        _GPU + ": a bad row of memory could not be replaced",
        "The spare rows are used up. The GPU must be replaced.",
    )
    yield Alert(
        "GpuRowRemapPending",
        "warning",
        f"{_per_gpu('DCGM_FI_DEV_ROW_REMAP_PENDING')} > 0",
        _GPU + ": a bad row of memory waits to be replaced",
        "A spare row takes its place at the next reset of the GPU.",
    )


def _memory_full(env: "Environment") -> Iterator[Alert]:
    sharing = {name: env.pools[name].sharing for name in agents.gpu_pools(env)}
    sliced = [name for name, plan in sharing.items() if isinstance(plan, SharingPlan) and plan.time_slicing]
    if not sliced:
        return
    used, free = (
        f'max by ({DEVICE}) (DCGM_FI_DEV_FB_{which}{{pool=~"{"|".join(sliced)}"}})' for which in ("USED", "FREE")
    )
    yield Alert(
        "GpuMemoryFull",
        "warning",
        f"{used} / ({used} + {free}) * 100 > {env.monitoring.alerts.memory}",
        f"{_GPU}: {_VALUE} % of the memory that its containers share is in use",
        "Nothing keeps the memory of containers on a time-sliced GPU apart: the next one that asks for some fails, "
        "whichever took it.",
        held="10m",
    )


def _heat_and_power(env: "Environment") -> Iterator[Alert]:
    temperature, throttling = env.monitoring.alerts.temperature, env.monitoring.alerts.throttling
    degrees = f"{_GPU}: {_VALUE} degrees Celsius"
    yield Alert(
        "GpuHot",
        "warning",
        f"{_per_gpu('DCGM_FI_DEV_GPU_TEMP')} > {temperature.warning}",
        degrees,
        "The GPU nears the temperature at which it slows itself down.",
        held="5m",
    )
    yield Alert(
        "GpuTooHot",
        "critical",
        f"{_per_gpu('DCGM_FI_DEV_GPU_TEMP')} > {temperature.critical}",
        degrees,
        "The GPU slows itself down to half its clock or less, and shuts itself down if that does not help.",
        held="1m",
    )
    yield Alert(
        "GpuMemoryHot",
        "warning",
        f"{_per_gpu('DCGM_FI_DEV_MEMORY_TEMP')} > {temperature.memory}",
        f"{_GPU}: memory at {_VALUE} degrees Celsius",
        "The GPU slows itself down to spare its memory.",
        held="5m",
    )
    for name, why, limit, window, what in (
        ("GpuThermalThrottling", "heat", throttling.thermal, "10m", "because of heat"),
        ("GpuPowerThrottling", "power", throttling.power, "30m", "at its power limit"),
    ):
        yield Alert(
            name,
            "warning",
            # Nanoseconds in a second: 10^7 of them are a percent.
            f"rate(gpu:slowed_by_{why}_nanoseconds:total[{window}]) / 10000000 > {limit}",
            f"{_GPU}: slowed down {what} {_VALUE} % of the time",
            "The GPU runs slower than it could, and so does every job that waits for it.",
            held="5m",
        )
    yield Alert(
        "GpuPowerBrake",
        "warning",
        _per_gpu('DCGM_EXP_CLOCK_EVENTS_COUNT{clock_event="hw_power_brake"}') + " > 0",
        _GPU + ": held at half its clock or less by the server's power supply",
        "The server told the GPU to draw less at once. It does so when a power supply fails or is overloaded.",
        held="5m",
    )


def _links(env: "Environment") -> Iterator[Alert]:
    errors = env.monitoring.alerts.errors
    yield Alert(
        "GpuNvlinkErrors",
        "warning",
        f"increase(gpu:nvlink_replays:total[5m]) > 0\nor rate(gpu:nvlink_crc_errors:total[5m]) > {errors.nvlink_crc}",
        _GPU + ": NVLink transfers fail and are repeated",
        "Nothing is lost, but the link is slower than it should be, and it may fail.",
        stays="10m",
    )
    yield Alert(
        "GpuNvlinkRecovery",
        "critical",
        "increase(gpu:nvlink_recoveries:total[10m]) > 0",
        _GPU + ": an NVLink went down and had to be brought up again",
        "What was on its way is lost, and jobs over this link usually end.",
        stays=AN_EVENT,
    )
    yield Alert(
        "GpuPcieReplays",
        "warning",
        f"rate(gpu:pcie_replays:total[5m]) * 60 > {errors.pcie_replays}",
        f"{_GPU}: {_VALUE} transfers over PCIe per minute are sent again",
        "The link to the GPU is worse than its specification allows: a board or riser that sits badly, or a fault.",
        held="5m",
    )


def _nodes(_: "Environment") -> Iterator[Alert]:
    answering = f'count by (pool) (up{{job="{JOB}"}} == 1)'
    yield Alert(
        "GpuExporterDown",
        "warning",
        f'up{{job="{JOB}"}} == 0',
        "The DCGM exporter on node {{ $labels.node }} does not answer",
        "Nothing is known of the GPUs of this node, and no other alert about them is raised. A GPU that hangs also "
        "looks like this.",
        held="5m",
    )
    yield Alert(
        "GpuExporterMissing",
        "critical",
        f"({answering} or on (pool) 0 * pool:gpu_nodes:declared) < on (pool) pool:gpu_nodes:declared",
        f"Only {_VALUE} nodes of pool {{{{ $labels.pool }}}} have a DCGM exporter that answers",
        "Nodes are missing, or the exporter does not run on them, and nothing is known of their GPUs.",
        held="15m",
    )
    yield Alert(
        "GpuMissing",
        "critical",
        "count by (pool, node) (group by (pool, node, UUID) (DCGM_FI_DEV_FB_USED))\n"
        "< on (pool) group_left () pool:gpus_per_node:declared",
        f"Node {{{{ $labels.node }}}} of pool {{{{ $labels.pool }}}} shows only {_VALUE} GPUs",
        "A GPU fell off the bus or was not found at boot. Gangs that need whole nodes do not start on this one.",
        held="10m",
    )


def _reservations(env: "Environment") -> Iterator[Alert]:
    idle = env.monitoring.alerts.idle
    active = recordings.activity_metric(env)
    busy = f"avg_over_time({active.metric}{{{HELD}}}[{idle.minutes}m]) * {active.percent}"
    yield Alert(
        "GpuIdle",
        "warning",
        # The second half: held by this pod for so long already.
        f"count by (pool, namespace, pod) (max by (pool, namespace, pod, node, UUID, GPU_I_ID) (\n"
        f"  {busy} < {idle.activity}\n"
        f"  and {active.metric}{{{HELD}}} offset {idle.minutes}m\n"
        f"))",
        f"Pod {{{{ $labels.namespace }}}}/{{{{ $labels.pod }}}} does not use {_VALUE} of the GPUs that it holds",
        "Others wait for these GPUs. Where pods share a GPU, none of them uses it: the exporter sees the whole.",
        held="5m",
    )


def _fabric(env: "Environment") -> Iterator[Alert]:
    if not any(fabric.of(pool).kind in ("infiniband", "roce") for pool in env.pools.values()):
        return
    before = " or ".join(f"node_infiniband_state_id offset {ago} == {_ACTIVE}" for ago in ("10m", "1d", "7d"))
    yield Alert(
        "RdmaLinkDown",
        "critical",
        # A port that was never connected is no fault: it was not active at any time within a week.
        f"node_infiniband_state_id != {_ACTIVE} and ({before})",
        "Port {{ $labels.port }} of RDMA device {{ $labels.device }} on {{ $labels.instance }} is not active",
        "Jobs over this port fail, or go on over fewer links or over TCP, many times slower.",
        held="5m",
    )


_ACTIVE = 4
"""State of a port that works (https://github.com/prometheus/node_exporter, collector/infiniband_linux.go, state_id)."""
_PARTS = (_xid_errors, _memory, _memory_full, _heat_and_power, _links, _nodes, _reservations, _fabric)
