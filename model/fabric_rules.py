"""Which fabric a pool can have, and what may be said of it."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from catalog import reader as catalog

from . import fabric, fabric_names, names, nodes, rdma
from .fabric import Fabric
from .pools import MOST_PODS, Pool
from .problems import ABSENT, Path, Problem, Subject, answered, each, known, lost, nearest
from .quantities import readable

if TYPE_CHECKING:
    from .environment import Environment

MOST_PORTS = 64
"""NIC ports per node: twice what the largest instance has (32 EFA devices), so that only a slip of the pen is
refused."""
MOST_FUNCTIONS = 127
"""Virtual functions per port that the firmware of ConnectX NICs makes at most (https://docs.nvidia.com/networking,
MLNX_OFED, SR-IOV: NUM_OF_VFS)."""
_ROCE_SLOTS = 63
_INTERFACE = re.compile(r"(?!\.{1,2}$)[^\s/:,^=;*]{1,15}")
"""Names of network interfaces: at most 15 characters (IFNAMSIZ), no blanks, slashes or colons, not `.` or `..`
(dev_valid_name in net/core/dev.c of Linux), and none of the characters that mean something in lists and patterns."""
_HCA = re.compile(r"[A-Za-z0-9_.-]{1,63}(:[1-9][0-9]?)?")

_OPTIONS: dict[str, tuple[str, ...]] = {
    "slots": ("shared",),
    "virtualFunctions": ("sriov",),
    "interfaces": ("shared", "sriov", "host"),
    "hcas": ("shared", "sriov", "host"),
    "storageHcas": ("shared", "sriov", "host"),
    "networks": ("shared", "sriov"),
    "socketInterface": ("shared", "sriov", "host"),
    "trafficClass": ("shared", "sriov", "host"),
}
"""Options that mean something in some modes only. Where there are no modes, EFA and TCP, there is nothing to choose."""


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with each fabric and each list of NICs by itself."""
    yield from each(("pools",), env.pools, env, _nics, _mode, _options, _numbers, _interfaces, _hcas, _networks)


def references(env: "Environment") -> Iterator[Problem]:
    """Fabrics for which the machines have no NICs, or that lack what their kind needs."""
    yield from each(("pools",), env.pools, env, _link, _roce, _host)


def limits(env: "Environment") -> Iterator[Problem]:
    """What machines are too small for, names that they cannot have, and pools that one policy cannot tell apart."""
    yield from fabric_names.limits(env)
    yield from each(("pools",), env.pools, env, _room)
    if env.devices.install == "operator":
        yield from _told_apart(env)


def _nics(it: Subject[Pool]) -> Iterator[Problem]:
    for part in ("shape", "host"):
        holder = getattr(it.value, part)
        if holder is None or lost(holder) or lost(holder.nics) or holder.nics is None:
            continue
        at = (*it.at, part, "nics")
        model, count = holder.nics.model, holder.nics.count
        if not lost(model) and model not in catalog.nics():
            allowed = ", ".join(catalog.nics())
            yield Problem(
                (*at, "model"), model, "the catalogue has no such NIC", allowed, nearest(model, catalog.nics())
            )
        if not lost(count) and not 1 <= count <= MOST_PORTS:
            fault = (
                "must be at least 1" if count < 1 else f"is more than {MOST_PORTS}, and no machine has so many ports"
            )
            yield Problem((*at, "count"), count, fault, f"1 to {MOST_PORTS}")


def _declared(it: Subject[Pool]) -> tuple[Path, Fabric] | None:
    """The fabric of a pool where it was written with options."""
    choice: Any = known(it.value.fabric)
    return ((*it.at, "fabric"), choice) if isinstance(choice, Fabric) else None


def _mode(it: Subject[Pool]) -> Iterator[Problem]:
    if (found := _declared(it)) is None or known(found[1].mode) is None:
        return
    at, declared = found
    modes = catalog.fabrics()[known(declared.kind)].modes
    if declared.mode in modes:
        return
    if declared.mode == "host":
        message = (
            f"{declared.kind} needs no pods in the network of their node, where they would reach all that listens there"
        )
    else:
        message = f"{declared.kind} has no modes: pods get at it in one way only"
    yield Problem(
        (*at, "mode"), declared.mode, message, ", ".join(modes) or None, "shared" if modes else "leave it out"
    )


def _options(it: Subject[Pool]) -> Iterator[Problem]:
    """Options that have no effect, so that nobody believes in one."""
    if (found := _declared(it)) is None:
        return
    at, declared = found
    kind = known(declared.kind)
    mode = fabric.mode(declared)
    for option, modes in _OPTIONS.items():
        value = getattr(declared, _python(option))
        if lost(value) or value is None or value == ():
            continue
        if mode is None:
            message = f"has no effect on {kind}"
            yield Problem((*at, option), option, message, fix="leave it out")
        elif mode not in modes:
            yield Problem((*at, option), option, f"has no effect with mode {mode}", f"with mode {' or '.join(modes)}")
        elif option == "trafficClass" and kind == "infiniband":
            message = "InfiniBand has service levels; a traffic class is one of RoCE"
            yield Problem((*at, option), option, message, "with kind roce", "leave it out")
    if kind == "tcp" and known(declared.memlock) is not None:
        yield Problem((*at, "memlock"), "memlock", "TCP locks no memory", fix="leave it out")


def _python(option: str) -> str:
    return next(name for name, field in Fabric.model_fields.items() if (field.alias or name) == option)


def _numbers(it: Subject[Pool]) -> Iterator[Problem]:
    if (found := _declared(it)) is None:
        return
    at, declared = found
    kind = known(declared.kind)
    functions = fabric.mode(declared) == "sriov"
    yield from answered(_slots, at, declared)
    for option, number, low, high in (
        ("virtualFunctions", declared.virtual_functions if functions else None, 1, MOST_FUNCTIONS),
        ("trafficClass", declared.traffic_class if kind == "roce" else None, 0, 255),
    ):
        if not lost(number) and number is not None and not low <= number <= high:
            fault = f"must be at least {low}" if number < low else f"is more than {high}, the most there can be"
            yield Problem((*at, option), number, fault, f"{low} to {high}")


def _slots(at: Path, declared: Fabric) -> Iterator[Problem]:
    slots = known(declared.slots)
    if slots is None:
        return
    at = (*at, "slots")
    if slots < 1:
        fault = (
            "must not be negative"
            if slots < 0
            else "no pod would get RDMA: the device plugin accepts 0 and offers nothing"
        )
        yield Problem(at, slots, fault, f"1 to {MOST_PODS}", "fabric: tcp, for no RDMA" if slots == 0 else None)
    elif slots > MOST_PODS:
        yield Problem(at, slots, f"is more than {MOST_PODS}: each slot needs a pod", f"1 to {MOST_PODS}")
    elif slots > _ROCE_SLOTS and known(declared.kind) == "roce":
        message = f"RoCE has room for about {_ROCE_SLOTS} pods per port; those beyond start and then fail to connect"
        yield Problem(at, slots, message, f"at most {_ROCE_SLOTS}", severity="warning")


def _interfaces(it: Subject[Pool]) -> Iterator[Problem]:
    if (found := _declared(it)) is None:
        return
    at, declared = found
    listed: list[tuple[Path, str]] = [
        ((*at, "interfaces", index), name) for index, name in enumerate(known(declared.interfaces))
    ]
    if not lost(declared.socket_interface) and declared.socket_interface is not None:
        listed.append(((*at, "socketInterface"), declared.socket_interface))
    for place, name in listed:
        if not lost(name) and not _INTERFACE.fullmatch(name):
            message = "is no name of one network interface; prefixes and lists are not for here"
            yield Problem(place, name, message, "at most 15 characters without blanks / : , ; ^ = *, such as ibp24s0")
    yield from _twice((*at, "interfaces"), known(declared.interfaces))


def _hcas(it: Subject[Pool]) -> Iterator[Problem]:
    if (found := _declared(it)) is None:
        return
    at, declared = found
    for option in ("hcas", "storageHcas"):
        listed = known(getattr(declared, _python(option)))
        for index, name in enumerate(listed):
            if not lost(name) and not _HCA.fullmatch(name):
                yield _no_hca((*at, option, index), name)
        yield from _twice((*at, option), listed)
    if declared.hcas and declared.storage_hcas:
        message = "hcas says already which HCAs NCCL uses; NCCL reads one list, of names to take or of names to leave"
        yield Problem((*at, "storageHcas"), "storageHcas", message, fix="leave it out")


def _no_hca(at: Path, name: str) -> Problem:
    plain = name.lstrip("^=").strip()
    if name[:1] in ("^", "=") and _HCA.fullmatch(plain):
        message = "names here are exact already: the list that NCCL reads is made from them"
        fix = f"storageHcas: [{plain}]" if "^" in name else plain
        return Problem(at, name, message, "a name such as mlx5_0 or mlx5_0:1; HCAs to leave out: storageHcas", fix)
    message = "is no name of one HCA; write one per item of the list"
    parts = [part for part in re.split(r"[,;\s]+", plain) if part]
    fix = f"[{', '.join(parts)}]" if len(parts) > 1 and all(map(_HCA.fullmatch, parts)) else None
    return Problem(at, name, message, "a name such as mlx5_0 or mlx5_0:1", fix)


def _twice(at: Path, listed: tuple[str, ...]) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, name in enumerate(listed):
        if not lost(name):
            if name in seen:
                yield Problem((*at, index), name, "is named twice", "each once", "leave it out")
            seen.add(name)


def _networks(it: Subject[Pool]) -> Iterator[Problem]:
    if (found := _declared(it)) is None:
        return
    at, declared = found
    networks = known(declared.networks)
    for index, network in enumerate(networks):
        if not lost(network) and (fault := _network_fault(network)):
            yield Problem(
                (*at, "networks", index), network, fault, "name or namespace/name, as Kubernetes names objects"
            )
    if len(networks) > 1 and known(declared.mode) == "sriov":
        message = "each virtual function of a pod gets one network, the same for all"
        yield Problem((*at, "networks"), list(networks), message, "one network")
    else:
        yield from _twice((*at, "networks"), networks)


def _network_fault(network: str) -> str | None:
    namespace, slash, name = network.rpartition("/")
    return (names.DNS_LABEL.fault(namespace) if slash else None) or names.subdomain_fault(name)


def _link(it: Subject[Pool]) -> Iterator[Problem]:
    kind = known(fabric.of(it.value).kind)
    link, ports = catalog.fabrics()[kind].link, fabric.nics(it.value)
    if link is None:
        return
    at, plain = _kind_at(it)
    if ports is None and it.value.instance is not None:
        sold = ", ".join(other.name for other in catalog.instances().values() if other.efa and other.gpus)
        message = f"{it.value.instance} has no EFA, and no other NIC for it"
        yield Problem(at, kind, message, f"tcp; efa with {sold}" if kind == "efa" else "tcp", "fabric: tcp")
    elif ports is None:
        part = "shape" if it.value.shape is not None else "host"
        fitting = [name for name, nic in catalog.nics().items() if link in nic.links]
        message = f"the pool has no NICs for it: {_nobody(it.value)}"
        fix = f"{part}: {{nics: {{model: …, count: …}}}}"
        yield Problem(at, kind, message, f"with {part}.nics of model {', '.join(fitting)}; tcp", fix)
    elif link not in ports.model.links:
        fitting = [name for name, other in catalog.fabrics().items() if other.link in (None, *ports.model.links)]
        message = f"the pool's NICs are {ports.count} x {ports.model.name}, which cannot do it"
        if kind == "efa":
            message += ": EFA is a NIC of AWS instances, and other machines have none"
        fix = f"{'' if plain else 'kind: '}{fitting[0]}"
        yield Problem(at, kind, message, ", ".join(fitting), f"fabric: {fix}" if plain else fix)


def _kind_at(it: Subject[Pool]) -> tuple[Path, bool]:
    """Where the kind of a pool's fabric stands, and whether it stands there alone."""
    plain = not isinstance(it.value.fabric, Fabric)
    return ((*it.at, "fabric"), True) if plain else ((*it.at, "fabric", "kind"), False)


def _nobody(pool: Pool) -> str:
    if pool.server is None:
        return "its shape names none"
    return f"{pool.server} is a board, and which NICs are around it is its maker's choice"


def _roce(it: Subject[Pool]) -> Iterator[Problem]:
    """What RoCE needs beside the kind: interfaces in the pod's network, and a word which NICs are its own."""
    kind = fabric.of(it.value)
    if known(kind.kind) != "roce" or known(it.value.instance) is not None:
        return
    lacking: dict[str, str] = {}
    if fabric.mode(kind) != "host" and not known(kind.networks):
        lacking["networks"] = (
            "RoCE finds its peer by IP address, so a pod needs interfaces of the NICs in its own network (Multus), or "
            "mode: host; with the devices alone it cannot connect"
        )
    if not known(kind.interfaces) and (others := _others_alike(it.value)):
        lacking["interfaces"] = (
            f"{it.value.server} has {others.count} more ports of {others.model}, for storage and management, on "
            "Ethernet as well: unless those of the fabric are named, pods get them all"
        )
    at, plain = _kind_at(it)
    if plain and lacking:
        fix = f"fabric: {{kind: roce, {', '.join(f'{option}: […]' for option in lacking)}}}"
        yield Problem(at, "roce", "; ".join(lacking.values()), f"with {' and '.join(lacking)}", fix)
        return
    for option, message in lacking.items():
        yield Problem((*it.at, "fabric", option), ABSENT, message, fix=f"{option}: […]", spoils=((*it.at, "fabric"),))


def _others_alike(pool: Pool) -> catalog.Nics | None:
    """Ports of the server's NICs of storage and management, where they are of the fabric's model."""
    server = catalog.servers().get(known(pool.server) or "")
    if server is None or server.others is None or server.nics is None or server.others.model != server.nics.model:
        return None
    return server.others


def _host(it: Subject[Pool]) -> Iterator[Problem]:
    """NCCL takes the first interface that is neither lo nor docker: on a node often one of pods or of a rail."""
    if (found := _declared(it)) is None:
        return
    at, declared = found
    if fabric.mode(declared) == "host" and known(declared.socket_interface) is None:
        message = "pods in the network of the node see all its interfaces, and NCCL would take any"
        yield Problem((*at, "socketInterface"), ABSENT, message, "the node's own interface", "socketInterface: …")


def _room(it: Subject[Pool]) -> Iterator[Problem]:
    """Memory in huge pages is memory for nothing else."""
    pages = fabric.huge_pages(it.value)
    if pages is None:
        return
    left = nodes.machine(it.value).memory.value - nodes.kept_back(it.value)[1]
    if 0 < left <= pages.value:
        at, _ = _kind_at(it)
        message = f"it sets {pages} aside in huge pages, and a node has {readable('memory', left)} for pods"
        yield Problem(at, "efa", message, "a larger machine, or tcp")


def _told_apart(env: "Environment") -> Iterator[Problem]:
    """The operator's policy has one entry per resource for all nodes."""
    first: dict[str, tuple[str, dict[str, Any]]] = {}
    for name, pool in env.pools.items():
        yield from answered(_same_as_first, name, pool, first)


def _same_as_first(name: str, pool: Pool, first: dict[str, tuple[str, dict[str, Any]]]) -> Iterator[Problem]:
    if rdma.plugin(pool) in (None, "efa"):
        return
    entry = rdma.entry(pool)
    other, before = first.setdefault(entry["resourceName"], (name, entry))
    named = [it["selectors"].get("ifNames") or it["selectors"].get("pfNames") for it in (before, entry)]
    if entry.get("rdmaHcaMax") != before.get("rdmaHcaMax"):
        what = f"slots {entry['rdmaHcaMax']}, and pool {other} has {before['rdmaHcaMax']}"
    elif bool(named[0]) != bool(named[1]):
        what = f"{'interfaces' if named[1] else 'no interfaces'}, unlike pool {other}"
    elif named[0] != named[1]:
        # All together they would be taken on nodes of either, where the others' may be those of storage.
        what = f"interfaces {', '.join(named[1])}, and pool {other} has {', '.join(named[0])}"
    else:
        return
    message = (
        f"it has {what}: the network operator has one policy for all nodes with {fabric.PREFIX}/{entry['resourceName']}"
    )
    yield Problem(("pools", name, "fabric"), "fabric", message, f"as in pool {other}, or devices: {{install: plugins}}")
