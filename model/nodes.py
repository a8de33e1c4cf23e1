"""What a node offers: its machine, what Kubernetes may give away of it, its labels and taints.

Components, the twin and every rule about fitting use these functions, so that they cannot disagree.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING

from catalog import reader as catalog

from . import fabric, mig
from .derived import derived
from .gpu_requests import GPU, SHARED
from .pools import Pool, Shape
from .problems import Problem, Subject, Unanswerable, each, known, lost, readable
from .quantities import KIBIBYTE, MEBIBYTE, Quantity, written

if TYPE_CHECKING:
    from .environment import Environment

POOL_LABEL = "gangline.dev/pool"
"""Every node of a pool carries it, with the pool's name. What must run on a pool selects by it."""

_PER_KUBELET, _PER_POD = (255 + 100) * MEBIBYTE, 11 * MEBIBYTE
_USUAL_PODS = 110


@dataclass(frozen=True)
class Machine:
    """The machine behind a node.

    Attributes:
        cpu: Logical cores.
        memory: Memory that the operating system sees.
        architecture: As in the label `kubernetes.io/arch`.
        gpu: The GPU model, if it has any.
        gpus: Number of GPUs.
    """

    cpu: Quantity
    memory: Quantity
    architecture: str
    gpu: catalog.Gpu | None
    gpus: int


def machine(pool: Pool) -> Machine:
    """The machine of a pool's nodes.

    Raises:
        Unanswerable: The pool does not say, or names what the catalogue does not have.
    """
    if pool.shape is not None:
        shape = pool.shape
        if shape.gpu is None:
            return Machine(shape.cpu, shape.memory, _architecture(shape, None), None, 0)
        gpu = None if lost(shape.gpu.model) else catalog.gpus().get(shape.gpu.model)
        return Machine(shape.cpu, shape.memory, _architecture(shape, gpu), gpu, shape.gpu.count)
    if pool.instance is not None:
        if (instance := catalog.instances().get(pool.instance)) is None:
            raise Unanswerable
        gpu = catalog.gpus()[instance.gpu] if instance.gpu else None
        memory = _seen_on_ec2(Quantity.parse(instance.memory))
        return Machine(Quantity.parse(instance.cpu), memory, instance.architecture, gpu, instance.gpus)
    if pool.server is None or (server := catalog.servers().get(pool.server)) is None:
        raise Unanswerable
    host = pool.host
    cpu = Quantity.parse(server.cpu) if host is None or host.cpu is None else host.cpu
    memory = Quantity.parse(server.memory) if host is None or host.memory is None else host.memory
    return Machine(cpu, _seen(memory), server.architecture, catalog.gpus()[server.gpu], server.gpus)


def _architecture(shape: Shape, gpu: catalog.Gpu | None) -> str:
    if shape.architecture is not None:
        return shape.architecture
    return gpu.architecture if gpu and gpu.architecture else "amd64"


def _seen(installed: Quantity) -> Quantity:
    """What the operating system sees of the installed memory.

    Linux keeps 64 bytes to describe each page of 4 KiB (https://docs.kernel.org/mm/vmemmap_dedup.html), which is 1/64;
    what firmware keeps on top is small beside it. An explicit shape says what is seen, a data sheet what is installed.
    """
    return Quantity.parse(f"{int(installed.value * 63 / 64 // KIBIBYTE)}Ki")


def _seen_on_ec2(installed: Quantity) -> Quantity:
    """What the operating system of an instance sees of the memory that its type has.

    The hypervisor and firmware keep some of it back, and nobody says how much. This is no more than any node shows that
    was found published (from 8Gi to 2Ti), and within 2 % of it from 32Gi on.
    """
    return Quantity.parse(f"{int(installed.value * 97 / 100 // KIBIBYTE) - 400 * 1024}Ki")


def unshared(pool: Pool) -> dict[str, int]:
    """The resources that a node of the pool would offer without replicas of them: units by name."""
    gpus, cut = machine(pool).gpus, pool.plan and pool.plan.mig
    if gpus == 0:
        return {}
    if cut is None:
        return {GPU: gpus}
    if cut.strategy == "single":
        return {GPU: gpus * sum(cut.profiles.values())}
    return {mig.resource(profile): gpus * count for profile, count in mig.ordered(cut.profiles)}


def replicas(pool: Pool) -> int:
    """How many containers may share one GPU, or one instance of it; 1 without sharing."""
    shared = pool.plan and (pool.plan.time_slicing or pool.plan.mps)
    return 1 if shared is None else shared.replicas


def gpu_resources(pool: Pool) -> Mapping[str, int]:
    """The resources under which a node of the pool offers its GPUs, with the units of each; empty without GPUs.

    What is shared carries `.shared` in its name, as the device plugin writes it with `renameByDefault`
    (https://github.com/NVIDIA/k8s-device-plugin, README, "Shared Access to GPUs").
    """
    shared = replicas(pool)
    if shared == 1:
        return MappingProxyType(unshared(pool))
    return MappingProxyType({f"{name}{SHARED}": units * shared for name, units in unshared(pool).items()})


def gpu_resource(pool: Pool, profile: str | None = None) -> str | None:
    """The one resource that a number of GPUs on this pool means, or that of a MIG profile.

    None where there is none: a pool without GPUs, or one that offers several and no profile says which.
    """
    offered = gpu_resources(pool)
    if known(profile) is None:
        return next(iter(offered)) if len(offered) == 1 else None
    cut = pool.plan and pool.plan.mig
    if cut is None or profile not in cut.profiles:
        return None
    name = GPU if cut.strategy == "single" else mig.resource(profile)
    return name if replicas(pool) == 1 else f"{name}{SHARED}"


def capacity(pool: Pool) -> dict[str, Quantity]:
    """What the kubelet of such a node reports as capacity."""
    it = machine(pool)
    kibibytes = int(it.memory.value // KIBIBYTE)
    offered = {"cpu": it.cpu, "memory": Quantity.parse(f"{kibibytes}Ki"), "pods": Quantity.parse(known(pool.max_pods))}
    return offered | _devices(pool)


def allocatable(pool: Pool) -> dict[str, Quantity]:
    """What pods may ask for on such a node: capacity less what the kubelet keeps back.

    Memory in huge pages is no memory for other uses (https://github.com/kubernetes/kubernetes,
    pkg/kubelet/nodestatus/setters.go).
    """
    whole = capacity(pool)
    cpu, memory = kept_back(pool)
    if fabric.HUGE_PAGES in whole:
        memory += whole[fabric.HUGE_PAGES].value
    millicores = int((whole["cpu"].value - cpu) * 1000)
    kibibytes = int((whole["memory"].value - memory) // KIBIBYTE)
    if millicores < 0 or kibibytes < 0:
        raise Unanswerable
    cores = Quantity.parse(millicores // 1000 if millicores % 1000 == 0 else f"{millicores}m")
    return {"cpu": cores, "memory": Quantity.parse(f"{kibibytes}Ki"), "pods": whole["pods"]} | _devices(pool)


def _devices(pool: Pool) -> dict[str, Quantity]:
    """What device plugins advertise, and huge pages."""
    units = {**gpu_resources(pool), **fabric.resources(pool)}
    pages = fabric.huge_pages(pool)
    offered = {name: Quantity.parse(count) for name, count in units.items()}
    return offered | ({fabric.HUGE_PAGES: pages} if pages else {})


def kept_back(pool: Pool) -> tuple[Decimal, Decimal]:
    """Cores and bytes that the kubelet keeps back: `reserved`, or the formula of the EKS image.

    Source: https://github.com/awslabs/amazon-eks-ami, nodeadm/internal/kubelet/config.go: memory 255 Mi + 11 Mi per
    pod and 100 Mi of hard eviction; cpu 6 % of the first core, 1 % of the second, 0.5 % of the next two and 0.25 % of
    the rest, in whole millicores.
    """
    if pool.reserved is not None:
        return pool.reserved.cpu.value, pool.reserved.memory.value
    millicores = int(machine(pool).cpu.value * 1000)
    steps = ((0, 1000, 600), (1000, 2000, 100), (2000, 4000, 50), (4000, millicores, 25))
    kept = sum(max(0, min(end, millicores) - start) * share // 10_000 for start, end, share in steps)
    return Decimal(kept) / 1000, _PER_KUBELET + _PER_POD * pool.max_pods


def limits(env: "Environment") -> Iterator[Problem]:
    """Machines that are too small for what their kubelet keeps back."""
    yield from each(("pools",), env.pools, env, _room)


def _room(it: Subject[Pool]) -> Iterator[Problem]:
    whole, (cpu, memory) = machine(it.value), kept_back(it.value)
    for resource, has, kept in (("cpu", whole.cpu.value, cpu), ("memory", whole.memory.value, memory)):
        if kept < has:
            continue
        left = f"a node has {written(resource, has)} of {resource}, its kubelet keeps back {written(resource, kept)}"
        if it.value.reserved is not None:
            at, value = (*it.at, "reserved", resource), getattr(it.value.reserved, resource).text
            yield Problem(at, value, left, f"less than {written(resource, has)}")
        elif resource == "memory" and it.value.max_pods > _USUAL_PODS and (most := _most_pods(has)) > 0:
            message = f"{left} for so many pods"
            yield Problem((*it.at, "maxPods"), it.value.max_pods, message, f"at most {most}")
        elif it.value.shape is not None:
            at, value = (*it.at, "shape", resource), getattr(it.value.shape, resource).text
            yield Problem(at, value, left, f"more than {written(resource, kept)}")
        else:
            at = (*it.at, "host", resource)
            yield Problem(at, written(resource, has), left, f"more than {written(resource, kept)}")


def _most_pods(memory: Decimal) -> int:
    """The most pods for which the formula keeps back less than all of the memory; 0 or less when there are none."""
    return int((memory - _PER_KUBELET - 1) // _PER_POD)


@derived
def offered(env: "Environment", pool_name: str) -> Mapping[str, Decimal]:
    """What one node of a pool has for pods, in base units (cores, bytes, items)."""
    pool = env.pools[pool_name]
    return MappingProxyType({name: amount.value for name, amount in allocatable(pool).items()})


@derived
def most_offered(env: "Environment") -> Mapping[str, Decimal]:
    """What all pools together have for pods when each is at its largest, in base units."""
    total: dict[str, Decimal] = {}
    for name, pool in env.pools.items():
        for resource, amount in offered(env, name).items():
            total[resource] = total.get(resource, Decimal(0)) + amount * pool.most
    return MappingProxyType(total)


@derived
def advertised(env: "Environment") -> frozenset[str]:
    """The GPU resources that some pool advertises.

    Raises:
        Unanswerable: What some pool has is not known.
    """
    return frozenset(resource for pool in env.pools.values() for resource in gpu_resources(pool))


@derived
def devices(env: "Environment") -> frozenset[str]:
    """What pools offer beside what every node has: GPUs, RDMA devices, huge pages.

    Raises:
        Unanswerable: What some pool has is not known.
    """
    return frozenset(resource for pool in env.pools.values() for resource in _devices(pool))


@derived
def sure_devices(env: "Environment") -> frozenset[str]:
    """The same of those pools of which it is known."""
    found: set[str] = set()
    for _, pool in readable(env.pools):
        for part in (gpu_resources, _devices):
            with suppress(Unanswerable):
                found.update(part(pool))
    return frozenset(found)
