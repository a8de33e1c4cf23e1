"""Node pools: what kind of node, how many, and what marks them."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from catalog import reader as catalog

from . import aws, names
from .amounts import Cpu, Memory
from .aws.shape import Capacity
from .base import Declared, Listed, one_of
from .counts import Count, count_problems, fewest, initial, most
from .fabric import FabricChoice, Nics
from .problems import ABSENT, NOTHING, Path, Problem, Subject, answered, each, known, lost, nearest
from .sharing import Sharing, SharingPlan

if TYPE_CHECKING:
    from .environment import Environment


MOST_NODES = 100_000
"""Nodes per pool. A bound of ours against a slip of the pen, not a limit of Kubernetes, which is tested up to 5,000
(https://kubernetes.io/docs/setup/best-practices/cluster-large/)."""
MOST_PODS = 2_500
"""Pods per node. A bound of ours against a slip of the pen: Kubernetes is tested up to 110 (same page), OpenShift up to
500 (docs.redhat.com, OpenShift 4.9, "Planning your environment according to object maximums")."""
MOST_GPUS = 64
"""GPUs per node: four times what the largest server has (DGX-2, 16), so that only a slip of the pen is refused."""


class ShapeGpu(Declared):
    """The GPUs of an explicit shape."""

    model: Annotated[str, one_of(catalog.gpus)]
    """A GPU of the catalogue, such as `h100-sxm-80gb`."""
    count: int
    """GPUs per node, 1 to 64."""


class Disks(Declared):
    """NVMe disks for data, without those of the operating system."""

    count: int
    """Disks per node, 1 to 64."""
    size: Memory
    """Size of one of them, such as 3840G."""


class Shape(Declared):
    """A node described by hand, where the catalogue has no such server."""

    cpu: Cpu
    """Cores of the machine (logical, as the kubelet counts them)."""
    memory: Memory
    """Memory of the machine."""
    gpu: ShapeGpu | None = None
    """GPUs; none for a pool of plain machines."""
    nics: Nics | None = None
    """NICs of the compute fabric; none where nodes talk over plain TCP."""
    disks: Disks | None = None
    """NVMe disks for data, such as {count: 4, size: 3840G}; none where there are none."""
    architecture: Literal["amd64", "arm64"] | None = None
    """CPU architecture, as in the label kubernetes.io/arch. Left out: amd64, or arm64 with GH200 and GB200."""


_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_EKS_EFFECTS = {"NO_SCHEDULE": "NoSchedule", "PREFER_NO_SCHEDULE": "PreferNoSchedule", "NO_EXECUTE": "NoExecute"}


def _effect(value: str) -> str:
    effect = _EKS_EFFECTS.get(value, value)
    if effect not in _EFFECTS:
        context = {"reason": "is no taint effect", "allowed": ", ".join(_EFFECTS), "fix": nearest(value, _EFFECTS)}
        raise PydanticCustomError("rule", "{reason}", context)
    return effect


class Host(Declared):
    """The host around a server's GPUs."""

    cpu: Cpu | None = None
    """Cores of the machine (logical, as the kubelet counts them)."""
    memory: Memory | None = None
    """Memory that is installed."""
    nics: Nics | None = None
    """NICs of the compute fabric."""
    disks: Disks | None = None
    """NVMe disks for data."""


class Taint(Declared):
    """A taint that the nodes of the pool carry. Every node agent that must reach them tolerates it."""

    key: str
    """Key, such as `nvidia.com/gpu`."""
    value: str = ""
    """Value; may be empty."""
    effect: Annotated[str, AfterValidator(_effect), Field(json_schema_extra={"enum": [*_EFFECTS, *_EKS_EFFECTS]})]
    """NoSchedule, PreferNoSchedule or NoExecute; EKS's spelling (NO_SCHEDULE) is read too."""


class Reserved(Declared):
    """What the kubelet of these nodes keeps back. Left out: computed by the formula of `model.nodes`."""

    cpu: Cpu
    """Cores in all."""
    memory: Memory
    """Memory in all, what is set aside for eviction included."""


class Pool(Declared):
    """Nodes of one kind. Exactly one of `server`, `shape` and `instance` says which.

    On an existing cluster each node of the pool must carry the label `gangline.dev/pool: <name>` (kubelet
    `--node-labels`); `labels` and `taints` state what else they carry.
    """

    synonyms: ClassVar = {"nodes": "size", "count": "size", "replicas": "size", "instanceType": "instance"}

    server: Annotated[str, one_of(catalog.servers)] | None = None
    """A server of the catalogue, such as `dgx-h100`."""
    host: Host | None = None
    """The host of the server, where it is not the catalogue's: that of an HGX board, or one with more memory."""
    shape: Shape | None = None
    """An explicit shape."""
    instance: Annotated[str, one_of(catalog.instances)] | None = None
    """An instance type of Amazon EC2, such as `p5en.48xlarge`."""
    image: Annotated[str, one_of(catalog.images)] | None = None
    """The family of the nodes' operating system, such as `dgx-os`: it says what they bring for GPUs. Left out: driver
    and container toolkit are there (`devices.install: plugins`), or the GPU Operator brings them (`operator`)."""
    size: Count
    """Number of nodes, at most 100000, or {min, max, desired} under an autoscaler."""
    sharing: Sharing = "none"
    """How its GPUs are shared: none, {timeSlicing: …}, {mps: …}, {mig: …}, or {mig: …, timeSlicing: …}."""
    fabric: FabricChoice = "tcp"
    """What connects its nodes: efa, infiniband, roce or tcp, or {kind: infiniband, ...} with options."""
    labels: dict[str, str] = Field(default_factory=dict)
    """Further labels of these nodes. Values are text: "true", not true."""
    taints: Listed[Taint] = ()
    """Taints of these nodes."""
    domains: dict[str, int] = Field(default_factory=dict)
    """Topology domains of this pool per level, e.g. {spine: 2, rack: 4}: nodes fill them evenly."""
    max_pods: int = 110
    """Pods per node that the kubelet allows, 1 to 2500."""
    reserved: Reserved | None = None
    """What the kubelet keeps back, if not by the usual formula."""
    zone: str | None = None
    """On AWS, the one zone of its nodes; any of the cluster's when left out."""
    capacity: Capacity = Capacity(kind="on-demand")
    """On AWS, how its machines are paid for and held."""
    provisioner: Literal["managed", "karpenter"] = "managed"
    """On AWS, who makes its nodes: a managed node group, or Karpenter, as pods need them."""
    ami_release: str | None = None
    """On AWS, the exact release of a managed pool's image, such as 1.35.3-20261112. Left out: the newest when the pool
    is made, and that one from then on."""
    root_volume: Memory | None = None
    """On AWS, the size of the nodes' root volume in whole Gi; 100Gi when left out."""

    @property
    def plan(self) -> SharingPlan | None:
        """How its GPUs are shared; None for whole ones.

        Raises:
            Unanswerable: It could not be read.
        """
        sharing = known(self.sharing)
        return None if isinstance(sharing, str) else sharing

    @property
    def fewest(self) -> int:
        """The lowest number of nodes."""
        return fewest(self.size)

    @property
    def initial(self) -> int:
        """The number of nodes to begin with."""
        return initial(self.size)

    @property
    def most(self) -> int:
        """The highest number of nodes."""
        return most(self.size)


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with each pool by itself."""
    if not env.pools:
        yield Problem(("pools",), {}, "there must be at least one pool")
    yield from each(("pools",), env.pools, env, _name, _kind, _host, _cores, _gpus, _size, _pods, _labels, _taints)


def references(env: "Environment") -> Iterator[Problem]:
    """What pools say about their place in the topology that the topology does not bear out."""
    yield from each(("pools",), env.pools, env, _hosts, _derived_labels, _levels, _domains)
    yield from answered(_room_for_operators, env)


def _name(it: Subject[Pool]) -> Iterator[Problem]:
    if fault := names.DNS_LABEL.fault(it.name):
        yield Problem(it.at, it.name, fault, names.DNS_LABEL.allowed, spoils=NOTHING)


_KINDS = ("server", "shape", "instance")


def _kind(it: Subject[Pool]) -> Iterator[Problem]:
    pool = it.value
    said = [key for key in _KINDS if lost(getattr(pool, key)) or getattr(pool, key) is not None]
    if not said:
        kinds = ("instance",) if aws.here(it.env) else _KINDS
        yield Problem((*it.at, kinds[0]), ABSENT, "a pool must say what its nodes are", f"one of {', '.join(kinds)}")
    if pool.server is not None and pool.server not in catalog.servers():
        yield _unknown((*it.at, "server"), pool.server, "server", catalog.servers())
    if known(pool.instance) is not None and pool.instance not in catalog.instances():
        yield _unknown((*it.at, "instance"), pool.instance or "", "instance type", catalog.instances())
    # On AWS only an instance is right, and the others are told as that.
    for other in () if aws.here(it.env) else said[1:]:
        message = f"{said[0]} says already what the nodes are"
        value = other if other == "shape" else getattr(pool, other)
        yield Problem((*it.at, other), value, message, f"one of {', '.join(_KINDS)}")


def _host(it: Subject[Pool]) -> Iterator[Problem]:
    server, host, at = it.value.server, it.value.host, (*it.at, "host")
    if server is None:
        if host is not None and not lost(host):
            yield Problem(
                at, "host", "belongs to a server; a shape says itself what the machine has", fix="leave out host"
            )
        return
    known = catalog.servers().get(server)
    if known is None:
        return
    unsaid = {key: getattr(known, key) for key in ("cpu", "memory") if getattr(host, key, None) is None}
    if known.board and unsaid:
        taken = ", ".join(f"{key}: {value}" for key, value in unsaid.items())
        message = f"{server} is a board that makers build different hosts around; one of them is assumed: {taken}"
        yield Problem(at, ABSENT, message, "what yours have", f"host: {{{taken}}}", severity="warning")


def _gpus(it: Subject[Pool]) -> Iterator[Problem]:
    shape = it.value.shape
    if shape is None or shape.gpu is None:
        return
    at = (*it.at, "shape", "gpu")
    if not lost(shape.gpu.model) and shape.gpu.model not in catalog.gpus():
        yield _unknown((*at, "model"), shape.gpu.model, "GPU", catalog.gpus())
    if shape.gpu.count < 1:
        allowed = f"1 to {MOST_GPUS}; no gpu where there is none"
        yield Problem((*at, "count"), shape.gpu.count, "must be at least 1", allowed)
    elif shape.gpu.count > MOST_GPUS:
        message = f"is more than {MOST_GPUS}, and no server has so many GPUs"
        yield Problem((*at, "count"), shape.gpu.count, message, f"1 to {MOST_GPUS}")
    gpu, said = catalog.gpus().get(known(shape.gpu.model)), known(shape.architecture)
    if said and gpu and gpu.architecture not in (None, said):
        message = f"{gpu.name} is on one module with its CPU, which is {gpu.architecture}"
        yield Problem((*it.at, "shape", "architecture"), said, message, gpu.architecture, "leave it out")


def _cores(it: Subject[Pool]) -> Iterator[Problem]:
    for part in ("shape", "host"):
        machine = getattr(it.value, part)
        if machine is not None and machine.cpu is not None and machine.cpu.value % 1:
            yield Problem((*it.at, part, "cpu"), machine.cpu.text, "a machine has whole cores", "a whole number")


def _unknown(at: Path, name: str, called: str, known: Iterable[str]) -> Problem:
    return Problem(at, name, f"the catalogue has no such {called}", ", ".join(known), nearest(name, known))


def _size(it: Subject[Pool]) -> Iterator[Problem]:
    yield from count_problems((*it.at, "size"), it.value.size, MOST_NODES)


def _pods(it: Subject[Pool]) -> Iterator[Problem]:
    if not 1 <= it.value.max_pods <= MOST_PODS:
        fault = (
            "must be at least 1"
            if it.value.max_pods < 1
            else f"is more than {MOST_PODS}, the most that any distribution supports"
        )
        yield Problem((*it.at, "maxPods"), it.value.max_pods, fault, f"1 to {MOST_PODS}")


def _labels(it: Subject[Pool]) -> Iterator[Problem]:
    for key, value in it.value.labels.items():
        at = (*it.at, "labels", key)
        if fault := names.label_key_fault(key):
            yield Problem(at, key, fault, names.LABEL_KEY_ALLOWED)
        elif not lost(value) and (fault := names.LABEL_VALUE.fault(value)):
            yield Problem(at, value, fault, names.LABEL_VALUE.allowed)


def _taints(it: Subject[Pool]) -> Iterator[Problem]:
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(it.value.taints):
        yield from answered(_taint, (*it.at, "taints", index), taint, seen)


def _taint(at: Path, taint: Taint, seen: set[tuple[str, str]]) -> Iterator[Problem]:
    if not lost(taint.value) and (fault := names.LABEL_VALUE.fault(taint.value)):
        yield Problem((*at, "value"), taint.value, fault, names.LABEL_VALUE.allowed)
    if fault := names.label_key_fault(taint.key):
        yield Problem((*at, "key"), taint.key, fault, names.LABEL_KEY_ALLOWED)
        return
    this = (taint.key, taint.effect)
    if this in seen:
        message = f"there is another taint {taint.key} with effect {taint.effect}"
        yield Problem(at, taint.key, message, "one per key and effect", spoils=NOTHING)
    seen.add(this)


def _hosts(it: Subject[Pool]) -> Iterator[Problem]:
    host = f"{it.name}-{max(it.value.most - 1, 0)}"
    # On AWS nodes have their names from EC2.
    if not aws.here(it.env) and names.DNS_LABEL.fault(it.name) is None and len(host) > names.LABEL:
        message = f"its nodes would be called {host}, {len(host)} characters; a host name has at most {names.LABEL}"
        allowed = f"at most {len(it.name) - len(host) + names.LABEL} characters"
        yield Problem(it.at, it.name, message, allowed, spoils=NOTHING)


def _derived_labels(it: Subject[Pool]) -> Iterator[Problem]:
    for key in it.value.labels:
        at = (*it.at, "labels", key)
        if key in _DERIVED_LABELS:
            yield Problem(at, key, "this label is derived and cannot be set", fix="leave it out")
        elif key in it.env.topology.node_labels and key.rpartition("/")[2] in it.value.domains:
            yield Problem(at, key, "domains says already how the pool fills this level", fix="keep one of both")


_DERIVED_LABELS = ("gangline.dev/pool", "kubernetes.io/hostname", "kubernetes.io/arch", "kubernetes.io/os")


def _room_for_operators(env: "Environment") -> Iterator[Problem]:
    """Operators stay off GPU nodes where there are others; nodes that the document does not describe may be there."""
    if aws.here(env):
        return  # there such a pool must be
    plain = [
        name
        for name, pool in env.pools.items()
        if pool.server is None and known(pool.instance) is None and _gpus_of(pool) is None
    ]
    if plain and len(plain) < len(env.pools) and not any(env.pools[name].initial for name in plain):
        at = ("pools", plain[0], "size")
        message = "no pool without GPUs begins with nodes, and the operators stay off those with GPUs"
        yield Problem(at, 0, message, "1 or more, unless nodes of no pool hold them", severity="warning")


def _gpus_of(pool: Pool) -> ShapeGpu | None:
    return None if pool.shape is None else known(pool.shape.gpu)


def _levels(it: Subject[Pool]) -> Iterator[Problem]:
    topology, at = it.env.topology, (*it.at, "domains")
    if it.value.domains and topology.racks:
        yield Problem(at, "domains", "topology.racks says already where each node stands", fix="leave out domains")
        return
    if it.value.domains and topology.source == "aws":
        yield Problem(at, "domains", "where nodes of EC2 stand is for AWS to say", fix="leave out domains")
        return
    levels = [label.rpartition("/")[2] for label in topology.node_labels]
    for level in it.value.domains:
        if level not in levels:
            message = "topology.labels has no such level" if levels else "there is no topology"
            yield Problem((*at, level), level, message, ", ".join(levels) or None, nearest(level, levels))


def _domains(it: Subject[Pool]) -> Iterator[Problem]:
    """Domains nest: each wider one holds whole closer ones, and each holds at least one node."""
    domains, wider = it.value.domains, None
    for level in (label.rpartition("/")[2] for label in it.env.topology.node_labels):
        if level not in domains or lost(domains[level]):
            continue
        at, count = (*it.at, "domains", level), domains[level]
        if count < 1:
            yield Problem(at, count, "must be at least 1", "1 or more")
            continue
        if wider is not None and count % wider[1]:
            message = f"{count} of level {level} cannot stand evenly in {wider[1]} of level {wider[0]}"
            yield Problem(at, count, message, f"a multiple of {wider[1]}", spoils=((*it.at, "domains"),))
        elif not lost(it.value.size) and count > it.value.most > 0:
            message = f"{it.value.most} nodes cannot fill {count} of level {level}"
            spoils = ((*it.at, "domains"), (*it.at, "size"))
            yield Problem(at, count, message, f"1 to {it.value.most}", spoils=spoils)
        wider = (level, count)
