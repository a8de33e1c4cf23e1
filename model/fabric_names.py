"""What a document names of a fabric (interfaces, HCAs, networks) against what the pool's machines and pods have."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import fabric, nccl
from .fabric import Fabric
from .pools import Pool
from .problems import Path, Problem, Subject, each, known, lost

if TYPE_CHECKING:
    from .environment import Environment


def limits(env: "Environment") -> Iterator[Problem]:
    """Names for more or fewer NICs than there are, and for interfaces that pods do not have."""
    yield from each(("pools",), env.pools, env, _interfaces, _hcas, _networks, _sockets)


def _declared(it: Subject[Pool]) -> tuple[Path, Fabric] | None:
    """The RDMA fabric of a pool where it was written with options."""
    choice: Any = known(it.value.fabric)
    rdma = isinstance(choice, Fabric) and known(choice.kind) in ("infiniband", "roce")
    return ((*it.at, "fabric"), choice) if rdma else None


def _ports(pool: Pool) -> int | None:
    """Ports of a node that the fabric uses: those whose interfaces are named, or all that the machine has."""
    named, ports = known(fabric.of(pool).interfaces), fabric.nics(pool)
    return ports and min(len(named) or ports.count, ports.count)


def _interfaces(it: Subject[Pool]) -> Iterator[Problem]:
    """Virtual functions are counted by NIC, so nodes would offer more or fewer than the document says."""
    if (found := _declared(it)) is None or (ports := fabric.nics(it.value)) is None:
        return
    at, declared = found
    listed = len(known(declared.interfaces))
    if listed > ports.count:
        message = f"there are {listed}, and a node has {ports.count} NICs for its fabric"
        yield Problem((*at, "interfaces"), list(declared.interfaces), message, f"at most {ports.count}")
    elif 0 < listed < ports.count and fabric.mode(declared) == "sriov":
        message = (
            f"virtual functions are offered of {listed} of the {ports.count} NICs of a node, and pods get them as if "
            "of all"
        )
        allowed = f"the interfaces of all {ports.count}"
        # With RoCE they may have to be named.
        fix = "leave it out" if declared.kind == "infiniband" else None
        yield Problem((*at, "interfaces"), list(declared.interfaces), message, allowed, fix)


def _hcas(it: Subject[Pool]) -> Iterator[Problem]:
    if (found := _declared(it)) is None or (ports := _ports(it.value)) is None:
        return
    at, declared = found
    hcas = known(declared.hcas)
    cards = len({known(name).partition(":")[0] for name in hcas})
    if fabric.mode(declared) == "sriov":
        # Which virtual functions a pod gets is not known beforehand, so those of all pods may be named.
        if cards > (most := fabric.devices(it.value)):
            message = f"there are {cards}, and a node has {most} virtual functions"
            yield Problem((*at, "hcas"), list(hcas), message, f"at most {most}")
    elif cards > ports:
        message = f"there are {cards}, and a node has {ports} NICs for its fabric"
        yield Problem((*at, "hcas"), list(hcas), message, f"at most {ports}")
    elif 0 < cards < ports:
        message = f"it leaves {ports - cards} of the {ports} NICs of a node idle"
        yield Problem((*at, "hcas"), list(hcas), message, fix="leave it out", severity="warning")


def _networks(it: Subject[Pool]) -> Iterator[Problem]:
    """A network is macvlan on one NIC; those without one cannot be reached from a pod."""
    if (found := _declared(it)) is None or (ports := _ports(it.value)) is None:
        return
    at, declared = found
    networks = known(declared.networks)
    if declared.kind != "roce" or fabric.mode(declared) != "shared" or not networks or len(networks) == ports:
        return
    what = "the rest stays idle" if len(networks) < ports else "some are two of one NIC"
    message = f"there are {len(networks)} for {ports} NICs of a node: {what}"
    yield Problem((*at, "networks"), list(networks), message, f"{ports}, one per NIC", severity="warning")


def _sockets(it: Subject[Pool]) -> Iterator[Problem]:
    """Outside the network of its node a pod has interfaces of its own, whatever the node's are called."""
    if (found := _declared(it)) is None or lost(found[1].socket_interface):
        return
    at, declared = found
    name = declared.socket_interface
    if name is None or fabric.mode(declared) == "host":
        return
    devices = fabric.devices(it.value) if fabric.own_devices(declared) else 1
    has = nccl.interfaces(declared, devices)
    if name not in has:
        message = f"a pod has {nccl.listed(has)}, none is called so: NCCL finds no interface and fails"
        allowed = "an interface in the pod, not on its node"
        yield Problem((*at, "socketInterface"), name, message, allowed, "leave it out")
