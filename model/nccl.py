"""Variables of NCCL that people set themselves: names and values, and what NCCL really makes of them.

Each message says what happens otherwise. Read in the source of the version that the catalogue names; what each variable
is for: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html.
"""

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog import reader as catalog

from . import fabric, nccl_networks, nccl_values, pod_patch
from .problems import Path, Problem, Subject, Unanswerable, known, lost
from .workloads import Workload, judged

if TYPE_CHECKING:
    from .environment import Environment

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_LIBFABRIC = ("FI_", "OFI_NCCL_")
_HARMFUL = {
    "FI_EFA_FORK_SAFE": "the plugin sets it itself where it is needed",
    "FI_EFA_USE_DEVICE_RDMA": "it is found out since libfabric 1.18; 1 ends the job where a device has no RDMA",
    "NCCL_BUFFSIZE": "the plugin sets what suits the instance, and only where nobody else has",
    "RDMAV_FORK_SAFE": "with newer kernels it breaks things",
}
"""On EFA better left out (https://github.com/aws/aws-ofi-nccl, doc/efa-env-var.md, src/platform-aws.cpp)."""


@dataclass(frozen=True)
class Setting:
    """Where variables are used.

    Attributes:
        pool: Name of the pool.
        kind: Its fabric, as far as the pods use it: `tcp` where they ask for no RDMA.
        ports: NIC ports of a node that belong to the fabric; 0 where that is not known.
        derived: Variables that follow from the fabric.
        interfaces: Network interfaces that a pod has; empty where it has those of its node.
    """

    pool: str
    kind: str
    ports: int = 0
    derived: Mapping[str, str] = field(default_factory=dict)
    interfaces: tuple[str, ...] = ()


def setting(env: "Environment", pool_name: str, *, gpus: int, rdma: int | None = None) -> Setting:
    """Where the variables of a pod are used that asks for so many GPUs and RDMA devices.

    Raises:
        Unanswerable: The pool, its machines or its fabric are not known.
    """
    if pool_name not in env.pools:
        raise Unanswerable
    kind = fabric.of(env.pools[pool_name])
    asked = pod_patch.resources(env, pool_name, gpus=gpus, rdma=rdma)
    if not asked:
        return Setting(pool_name, "tcp", interfaces=(pod_patch.POD_INTERFACE,))
    ports = fabric.nics(env.pools[pool_name])
    return Setting(
        pool_name,
        known(kind.kind),
        ports.count if ports else 0,
        pod_patch.environment(kind),
        interfaces(kind, int(asked[fabric.resource(kind) or ""])),
    )


def interfaces(kind: fabric.Fabric, count: int) -> tuple[str, ...]:
    """Interfaces that a pod with that many RDMA devices has; empty where it has those of its node.

    Multus calls the networks that it attaches net1, net2 (https://github.com/k8snetworkplumbingwg/multus-cni).
    """
    if fabric.mode(kind) == "host":
        return ()
    attached = len(pod_patch.networks(kind, count))
    return (pod_patch.POD_INTERFACE, *(f"net{number}" for number in range(1, attached + 1)))


def listed(interfaces: tuple[str, ...]) -> str:
    """What a pod has, said shortly: `eth0, net1 to net8 and lo`."""
    own, *attached = interfaces
    spoken = f"{attached[0]} to {attached[-1]}" if len(attached) > 2 else ", ".join(attached)
    return f"{', '.join(filter(None, (own, spoken)))} and lo"


def limits(env: "Environment") -> Iterator[Problem]:
    """Variables of workloads."""
    yield from judged(env, _workload)


def _workload(it: Subject[Workload]) -> Iterator[Problem]:
    where: Setting | None = None
    try:
        workers = it.value.workers
        where = setting(it.env, known(it.value.pool), gpus=known(workers.gpus), rdma=known(workers.rdma))
    except Unanswerable:
        pass
    yield from problems((*it.at, "env"), known(it.value.env), where)


def problems(at: Path, variables: Mapping[str, str], where: Setting | None = None) -> Iterator[Problem]:
    """What is wrong with some variables, the most telling reason for each.

    Args:
        at: Where they stand.
        variables: Values by name.
        where: Where they are used; None where that is not known, and then only what is wrong anywhere is told.
    """
    for name, value in variables.items():
        place = (*at, name)
        if not _NAME.fullmatch(name):
            message = "is no name of an environment variable that every shell can use"
            yield Problem(place, name, message, "letters, digits, _ . -; no digit first")
        elif not lost(value) and not (where and where.derived.get(name) == value):
            found = (rule(place, name, value, where) for rule in _RULES)
            yield from [problem for problem in found if problem][:1]
    if where is None or where.kind == "tcp":
        yield from _sockets(at, variables)


def _unknown(at: Path, name: str, _: str, __: Setting | None) -> Problem | None:
    table = catalog.nccl()
    if name.upper().startswith("NCCL_") and name not in _names() and not name.startswith(table.plugins):
        if name in table.renamed:
            message, today = "is PyTorch's, not NCCL's, under a name of the past", table.renamed[name]
            return Problem(at, name, f"{message}: it is called {today}", fix=today, severity="warning")
        meant = _meant(name)
        message = f"NCCL {table.version} reads no such variable"
        if name in table.gone:
            return Problem(at, name, f"{message} any more: {table.gone[name]}", fix="leave it out", severity="warning")
        return Problem(
            at, name, f"{message}; did you mean {meant}?" if meant else message, fix=meant, severity="warning"
        )
    return None


def _meant(name: str) -> str | None:
    """The variable of which a name is a slip of the pen; a name that only has words in common is something else."""
    ends = {known.removeprefix("NCCL_"): known for known in sorted(_names())}
    found = difflib.get_close_matches(name.upper().removeprefix("NCCL_"), ends, n=1, cutoff=0.8)
    return ends[found[0]] if found else None


def _names() -> frozenset[str]:
    table = catalog.nccl()
    parts = (table.ranges, table.switches, table.numbers, table.words, table.lists, table.levels.names, table.texts)
    return frozenset({"NCCL_ALGO", "NCCL_PROTO"}.union(*parts))


def _derived(at: Path, name: str, value: str, where: Setting | None) -> Problem | None:
    """A variable that the fabric sets, said otherwise; another network plugin may take the place of NCCL's own."""
    if where is None or name not in where.derived or name == "NCCL_NET":
        return None
    if name == "NCCL_SOCKET_IFNAME" and where.interfaces and not value.startswith("^"):
        said, meant = (nccl_values.chosen(text, where.interfaces) for text in (value, where.derived[name]))
        if said == meant:
            return None
    message = f"it follows from pools.{where.pool}.fabric: {where.derived[name]}"
    return Problem(at, value, message, where.derived[name], "leave it out, or change the fabric")


def _foreign(at: Path, name: str, value: str, where: Setting | None) -> Problem | None:
    """A variable of another fabric."""
    if where is None:
        return None
    kind, why = where.kind, None
    if name.startswith("NCCL_IB_") and kind in ("efa", "tcp"):
        over = "NCCL goes over libfabric there" if kind == "efa" else "NCCL goes over TCP sockets there"
        why = f"has no effect on {kind}: {over}"
    elif name.startswith(_LIBFABRIC) and kind != "efa":
        why = f"has no effect on {kind}: NCCL uses libfabric on EFA only"
    elif name in ("NCCL_SOCKET_NTHREADS", "NCCL_NSOCKS_PERTHREAD") and kind != "tcp":
        why = f"has no effect on {kind}: it is for data over TCP"
    elif name == "NCCL_IB_GID_INDEX" and kind == "infiniband":
        why = "has no effect on InfiniBand, which finds its peer by LID: GID indexes are for RoCE"
    elif name in _HARMFUL and kind == "efa":
        why = _HARMFUL[name]
    return Problem(at, value, why, fix="leave it out", severity="warning") if why else None


def _network(at: Path, name: str, value: str, where: Setting | None) -> Problem | None:
    """A word about which network NCCL uses."""
    kind, pool = (where.kind, where.pool) if where else (None, "")
    if name == "NCCL_NET":
        return nccl_networks.net(at, value, kind, pool)
    if kind == "efa" and nccl_networks.turns_off_efa(name, value):
        message = f"without libfabric's EFA NCCL goes over TCP, and pool {pool} has efa"
        return Problem(at, value, message, "efa" if name == "FI_PROVIDER" else None, "leave it out")
    return None


def _value(at: Path, name: str, value: str, _: Setting | None) -> Problem | None:
    """A value that NCCL reads otherwise than it is meant."""
    table = catalog.nccl()
    if name in table.switches:
        return nccl_values.number(at, value, (0, 1), table.automatic.get(name))
    if name in table.ranges:
        return nccl_values.number(at, value, table.ranges[name], table.automatic.get(name))
    if name in table.numbers:
        return nccl_values.number(at, value, None)
    if name in table.words:
        return nccl_values.word(at, value, table.words[name])
    if name in table.levels.names:
        return nccl_values.level(at, value, table.levels)
    if name in ("NCCL_ALGO", "NCCL_PROTO"):
        elements = table.algorithms if name == "NCCL_ALGO" else table.protocols
        return nccl_values.choice(at, value, elements, table.collectives)
    return nccl_values.prefixes(at, name, value) if name in table.lists else None


def _interfaces(at: Path, name: str, value: str, where: Setting | None) -> Problem | None:
    """Interfaces that a pod does not have."""
    if where is None or name not in ("NCCL_SOCKET_IFNAME", "NCCL_OOB_NET_IFNAME") or not where.interfaces:
        return None
    fault = nccl_values.prefixes(at, name, value)
    if (fault and fault.severity == "error") or nccl_values.chosen(value, where.interfaces):
        return None
    message = f"a pod has {listed(where.interfaces)}, none of them is meant: NCCL finds no interface and fails"
    return Problem(at, value, message, "names of interfaces in the pod, not on its node", "leave it out")


def _unwise(at: Path, name: str, value: str, where: Setting | None) -> Problem | None:
    """A value that NCCL takes as it is meant, and that is seldom what is wanted."""
    kind = where.kind if where else None
    number = int(value, 0) if nccl_values.is_number(value) else None
    message, severity = None, "warning"
    if name == "NCCL_IB_DISABLE" and number == 1 and kind in ("infiniband", "roce"):
        message = f"it turns off the fabric that pool {where.pool if where else ''} has"
        return Problem(at, value, message, "0, or workers.rdma: 0", "leave it out")
    if name == "NCCL_IB_HCA" and kind in ("infiniband", "roce") and nccl_values.leaves_out_all(value, "mlx5_"):
        message = "names are prefixes: this leaves out every HCA, and NCCL finds none"
        return Problem(at, value, message, "such as ^=mlx5_0", "leave it out")
    if name == "NCCL_IB_GID_INDEX" and number is not None and number >= 0:
        message = (
            "it pins an entry of the GID table, which differs between nodes and changes with pods; since 2.21 NCCL "
            "finds the right one itself (NCCL_IB_ROCE_VERSION_NUM and NCCL_IB_ADDR_FAMILY narrow its choice)"
        )
    elif name == "NCCL_IB_TIMEOUT" and number is not None and number > _LONGEST:
        message = f"NCCL's documentation has 1 to {_LONGEST}: each step doubles the wait for a lost packet, 22 is 17 s"
    elif name in ("NCCL_ALGO", "NCCL_PROTO"):
        message = nccl_values.forced(name, value)
    elif name in catalog.nccl().levels.names and value == nccl_values.FARTHEST:
        message = f"{value} is {nccl_values.ACROSS}"
    elif name in ("NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE") and number == 1:
        instead = "host memory" if name == "NCCL_P2P_DISABLE" else "the network"
        message = f"GPUs of one node then talk through {instead}; it is for finding faults, not for work"
    elif name == "NCCL_IB_HCA" and where and where.ports and (count := nccl_values.definite_names(value)) < where.ports:
        message = f"it leaves {where.ports - count} of the {where.ports} NICs of a node idle" if count else None
    return Problem(at, value, message, fix="leave it out", severity=severity) if message else None


_LONGEST = 22

_Rule = Callable[[Path, str, str, Setting | None], Problem | None]
_RULES: tuple[_Rule, ...] = (_unknown, _foreign, _network, _derived, _interfaces, _value, _unwise)


def _sockets(at: Path, variables: Mapping[str, str]) -> Iterator[Problem]:
    """The product of both is capped (src/transport/net_socket.cc, MAX_SOCKETS)."""
    names = ("NCCL_SOCKET_NTHREADS", "NCCL_NSOCKS_PERTHREAD")
    values = [variables.get(name) for name in names]
    if any(value is None or lost(value) or not nccl_values.is_number(value) for value in values):
        return
    threads, each = (int(value or "0", 0) for value in values)
    if 1 <= threads <= _THREADS and 1 <= each <= _SOCKETS < threads * each:
        message = f"with {threads} threads that is {threads * each} sockets, NCCL makes at most {_SOCKETS}"
        yield Problem((*at, names[1]), values[1], message, f"at most {_SOCKETS // threads}", severity="warning")


_THREADS, _SOCKETS = 16, 64
