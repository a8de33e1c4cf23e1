"""What may be shared, how far, and what is refused because the hardware or NVIDIA's agents cannot do it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from catalog import reader as catalog

from . import mig, nodes
from .pools import MOST_PODS, Pool
from .problems import Path, Problem, Subject, Unanswerable, each, known, lost
from .quantities import Quantity, readable
from .sharing import Mig, SharingPlan

if TYPE_CHECKING:
    from .environment import Environment

MPS_CLIENTS, MPS_CLIENTS_BEFORE_TURING = 48, 16
"""Processes that the MPS server of a GPU takes, with compute capability 7.5 or more, and before
(https://github.com/NVIDIA/k8s-device-plugin v0.18.0, cmd/mps-control-daemon/mps/device.go)."""


def values(env: "Environment") -> Iterator[Problem]:
    """Plans that contradict themselves, and those that the GPUs of their pools cannot follow.

    At once, as what a pool offers follows from its plan: quotas that name it would be wrong by consequence.
    """
    rules = (_one_plan, _fewest, _slices, _instances, _single, _shareable, _clients, _cut)
    yield from each(("pools",), env.pools, env, *rules)


def limits(env: "Environment") -> Iterator[Problem]:
    """Plans that leave too little to each container, or more parts than there can be pods."""
    yield from each(("pools",), env.pools, env, _memory, _pods)


def _plan(it: Subject[Pool]) -> SharingPlan:
    """The plan of a pool that shares its GPUs.

    Raises:
        Unanswerable: It does not.
    """
    if it.value.plan is None:
        raise Unanswerable
    return it.value.plan


def _kinds(plan: SharingPlan) -> list[str]:
    """The kinds of sharing that a plan names, by their keys."""
    parts = {"timeSlicing": plan.time_slicing, "mps": plan.mps, "mig": plan.mig}
    return [key for key, part in parts.items() if part is not None]


def _one_plan(it: Subject[Pool]) -> Iterator[Problem]:
    """The device plugin takes MPS and drops time slicing where both are set, and fails where MPS meets MIG devices."""
    kinds, at = _kinds(_plan(it)), (*it.at, "sharing")
    beside = [key for key in kinds if key != "mps"]
    if not kinds:
        yield Problem(at, {}, "does not say how", "none, timeSlicing, mps, mig", "sharing: none")
    if "mps" not in kinds or not beside:
        return
    reasons = {
        "timeSlicing": "MPS would win and time slicing be ignored",
        "mig": "MPS shares whole GPUs, and the device plugin fails where they are cut into instances",
    }
    message = f"cannot stand beside {' and '.join(beside)}: {'; '.join(reasons[key] for key in beside)}"
    instead = "; timeSlicing may stand beside mig" if "mig" in beside else ""
    yield Problem((*at, "mps"), "mps", message, f"one of timeSlicing, mps, mig{instead}", spoils=(at,))


def _fewest(it: Subject[Pool]) -> Iterator[Problem]:
    plan = _plan(it)
    for key, part in (("timeSlicing", plan.time_slicing), ("mps", plan.mps)):
        if part is not None and part.replicas < 2:
            whole = "leave out timeSlicing" if plan.mig else "sharing: none"
            message = "a GPU is shared by at least 2; for whole ones there is nothing to configure"
            yield Problem((*it.at, "sharing", key, "replicas"), part.replicas, message, "2 or more", whole)


def _slices(it: Subject[Pool]) -> Iterator[Problem]:
    part = _plan(it).time_slicing
    if part is not None and part.replicas > MOST_PODS:
        message = f"is more than {MOST_PODS}: each slice needs a pod, and no node has more pods"
        yield Problem((*it.at, "sharing", "timeSlicing", "replicas"), part.replicas, message, f"2 to {MOST_PODS}")


def _instances(it: Subject[Pool]) -> Iterator[Problem]:
    at, cut = _mig(it)
    if not cut.profiles:
        yield Problem((*at, "profiles"), {}, "names no instances", "instances per GPU by profile: {1g.10gb: 7}")
    for name, count in cut.profiles.items():
        if not lost(count) and count < 1:
            yield Problem((*at, "profiles", name), count, "must be at least 1", "1 or more, or no such profile")


def _single(it: Subject[Pool]) -> Iterator[Problem]:
    at, cut = _mig(it)
    if cut.strategy == "single" and len(cut.profiles) > 1:
        message = f"with strategy single all instances are called {nodes.GPU}, so they must be alike"
        allowed = "one profile, or strategy: mixed"
        path = (*at, "strategy")
        yield Problem(path, "single", message, allowed, "strategy: mixed", spoils=(path, (*at, "profiles")))


def _mig(it: Subject[Pool]) -> tuple[Path, Mig]:
    cut = _plan(it).mig
    if cut is None:
        raise Unanswerable
    return (*it.at, "sharing", "mig"), cut


def _shareable(it: Subject[Pool]) -> Iterator[Problem]:
    plan, shape, at = _plan(it), it.value.shape, (*it.at, "sharing")
    instance = catalog.instances().get(it.value.instance or "")
    if (shape is not None and shape.gpu is None) or (instance is not None and not instance.gpus):
        yield Problem(at, " and ".join(_kinds(plan)), "the pool has no GPUs to share", "none", "sharing: none")


def _gpu(it: Subject[Pool]) -> catalog.Gpu:
    gpu = nodes.machine(it.value).gpu
    if gpu is None:
        raise Unanswerable
    return gpu


def _clients(it: Subject[Pool]) -> Iterator[Problem]:
    part, gpu = _plan(it).mps, _gpu(it)
    if part is None:
        return
    recent = gpu.compute >= (7, 5)
    most = MPS_CLIENTS if recent else MPS_CLIENTS_BEFORE_TURING
    if part.replicas > most:
        why = "" if recent else f", as its compute capability is {_capability(gpu)} and not 7.5 or more"
        message = f"MPS takes at most {most} on {gpu.name}{why}"
        yield Problem((*it.at, "sharing", "mps", "replicas"), part.replicas, message, f"2 to {most}")


def _capability(gpu: catalog.Gpu) -> str:
    return ".".join(map(str, gpu.compute))


def _cut(it: Subject[Pool]) -> Iterator[Problem]:
    (at, cut), gpu = _mig(it), _gpu(it)
    if not gpu.mig:
        able = ", ".join(name for name, other in catalog.gpus().items() if other.mig)
        yield Problem(at, "mig", f"{gpu.name} cannot be cut into instances", f"timeSlicing, mps; mig on {able}")
        return
    unknown = [name for name in cut.profiles if isinstance(name, str) and name not in gpu.mig]
    for name in unknown:
        path, meant = (*at, "profiles", name), mig.meant(gpu.mig, name)
        message, allowed = f"{gpu.name} has no such profile", ", ".join(gpu.mig)
        yield Problem(path, name, message, allowed, meant, spoils=((*at, "profiles"),))
    if cut.profiles.keys() <= gpu.mig.keys() and not mig.fits(
        gpu.mig, {it: known(n) for it, n in cut.profiles.items()}
    ):
        yield _too_much((*at, "profiles"), gpu, cut)


def _too_much(at: Path, gpu: catalog.Gpu, cut: Mig) -> Problem:
    """One problem for all profiles: any of them may be the one that is too many."""
    told = ", ".join(f"{count} of {name}" for name, count in cut.profiles.items())
    taken, whole = mig.taken(gpu.mig, cut.profiles), mig.slices(gpu.mig)
    media = [name for name in cut.profiles if gpu.mig[name].media]
    if taken > whole:
        why = f"they take {taken} slices of its memory, it has {whole}"
    elif sum(cut.profiles[name] for name in media) > 1:
        why = f"its media engines go to one instance ({' or '.join(media)})"
    else:
        why = "instances begin at certain places of its memory only, and not all find one that is free"
    room = {name: mig.most(gpu.mig, cut.profiles, name) for name in cut.profiles}
    beside = " beside the others" if len(room) > 1 else ""
    allowed = " or ".join(f"at most {most} of {name}{beside}" for name, most in room.items() if most >= 0)
    return Problem(at, cut.profiles, f"{gpu.name} does not hold {told}: {why}", allowed or "fewer instances")


def _memory(it: Subject[Pool]) -> Iterator[Problem]:
    part, gpu = _plan(it).mps, _gpu(it)
    if part is None or part.floor is None:
        return
    whole = Quantity.parse(gpu.memory).value
    each_gets = whole / part.replicas
    if each_gets < part.floor.value:
        told = (
            f"each of {part.replicas} gets {readable('memory', each_gets // 2**20 * 2**20)} of the memory of {gpu.name}"
        )
        most = int(whole // part.floor.value)
        allowed = f"replicas: at most {most}" if most > 1 else "a GPU with more memory"
        at = (*it.at, "sharing", "mps", "replicas")
        yield Problem(at, part.replicas, f"{told}, less than the floor {part.floor}", allowed, severity="warning")


def _pods(it: Subject[Pool]) -> Iterator[Problem]:
    key, units = _kinds(_plan(it))[0], sum(nodes.gpu_resources(it.value).values())
    if units > it.value.max_pods:
        message = f"a node offers {units} parts of its GPUs and takes {it.value.max_pods} pods, so some stay unused"
        # Agents need pods as well, so as many as the parts are the least that can do.
        allowed = "fewer parts" if units > MOST_PODS else f"fewer parts, or maxPods: {units} or more"
        yield Problem((*it.at, "sharing", key), units, message, allowed, severity="warning")
