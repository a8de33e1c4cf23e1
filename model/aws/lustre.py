"""What a document may say of a Lustre file system on AWS, and what follows from it."""

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING

from model import agents, aws, fabric
from model.derived import derived
from model.problems import ABSENT, NOTHING, Problem, Unanswerable, answered, known, lost, nearest
from model.storage.shared import Lustre

from . import here, lustre_links, storage, subnets
from .lustre_types import EFA, GIB, METADATA, TIB, TYPES, Steps, Type, automatic_metadata, persistent
from .shape import said

if TYPE_CHECKING:
    from model.environment import Environment

AT = ("storage", "shared")
_ONLY_MADE = ("deployment", "disk", "throughput", "efa", "metadata", "zone", "links")


@derived
def gib(env: "Environment") -> int:
    """Its size in GiB.

    Raises:
        Unanswerable: It could not be read.
    """
    return int(known(_made(env).size).value / GIB)


@derived
def zone(env: "Environment") -> str:
    """The zone that it stands in: the declared one, or that of the pools with EFA, or of those with GPUs.

    Raises:
        Unanswerable: There are several, and none is declared.
    """
    declared = known(_made(env).zone)
    if declared is not None:
        return declared
    (found,) = _zones(env) if len(_zones(env)) == 1 else (None,)
    if found is None:
        raise Unanswerable
    return found


@derived
def write_rate(env: "Environment") -> int:
    """Bytes per second that all nodes together can write to it for as long as they like.

    Source: disk throughput (baseline) of https://docs.aws.amazon.com/fsx/latest/LustreGuide/ssd-storage.html.

    Raises:
        Unanswerable: What it follows from could not be read.
    """
    lustre = _made(env)
    rate = known(lustre.throughput) or _type(lustre).writes
    return gib(env) * rate * 1_000_000 // TIB


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with it by itself."""
    shared = known(known(env.storage).shared)
    if not isinstance(shared, Lustre):
        return
    if storage.lustre(env) is None:
        yield from _elsewhere(env, shared)
        return
    if not lost(shared.write) and shared.write is not None:
        message = "the speed of one that is made follows from its size and throughput"
        yield Problem((*AT, "write"), shared.write.text, message, "with mount", "leave it out", spoils=NOTHING)
    yield from faults(shared)
    yield from answered(lustre_links.values, shared)


def faults(lustre: Lustre) -> Iterator[Problem]:
    """What AWS does not make: a type, a size, a speed and a rate of metadata that do not go together."""
    for rule in (_type_and_throughput, _efa, _size, _metadata):
        yield from answered(rule, lustre)


def references(env: "Environment") -> Iterator[Problem]:
    """Zones that the cluster does not have, and links with an archive or a namespace that is not there."""
    lustre = storage.lustre(env)
    if lustre is None:
        return
    zones = aws.zones(env)
    if not lost(lustre.zone) and lustre.zone is not None and lustre.zone not in zones:
        message = "the cluster has no such zone"
        near = nearest(lustre.zone, zones)
        yield Problem((*AT, "zone"), lustre.zone, message, ", ".join(zones), near)
    yield from lustre_links.references(env, lustre)


def limits(env: "Environment") -> Iterator[Problem]:
    """Nodes that stand in another zone, and checkpoints that are kept where nothing lasts."""
    lustre = storage.lustre(env)
    if lustre is not None:
        yield from answered(_near, env, lustre)
        yield from answered(_kept, env, lustre)


def _made(env: "Environment") -> Lustre:
    found = storage.lustre(env)
    if found is None:
        raise Unanswerable
    return found


def _type(lustre: Lustre) -> Type:
    if known(lustre.efa):
        return EFA
    found = TYPES.get((known(lustre.deployment), known(lustre.disk)))
    if found is None:
        raise Unanswerable
    return found


def _elsewhere(env: "Environment", lustre: Lustre) -> Iterator[Problem]:
    reason = "this one is there already (mount)" if here(env) else "the cluster is not made on AWS"
    for key in _ONLY_MADE:
        if said(lustre, key):
            message = f"says how AWS makes one, and {reason}"
            yield Problem((*AT, key), key, message, "on AWS, without mount", "leave it out", spoils=NOTHING)


def _type_and_throughput(lustre: Lustre) -> Iterator[Problem]:
    deployment, disk = known(lustre.deployment), known(lustre.disk)
    if (deployment, disk) not in TYPES:
        message = f"{deployment} has no such disks"
        yield Problem((*AT, "disk"), disk, message, "hdd with persistent-1; ssd", "disk: ssd")
        return
    kind = TYPES[deployment, disk]
    throughput, at = known(lustre.throughput), (*AT, "throughput")
    allowed = ", ".join(map(str, kind.throughputs))
    if not kind.throughputs:
        if throughput is not None:
            message = f"{deployment} has one speed for each size; only persistent ones are asked for a throughput"
            yield Problem(at, throughput, message, "with persistent-1, persistent-2", "leave it out", spoils=NOTHING)
    elif throughput is None:
        message = f"{deployment} on {disk} comes in several speeds, in MB/s for each TiB"
        yield Problem(at, ABSENT, message, allowed, f"throughput: {kind.throughputs[0]}")
    elif throughput not in kind.throughputs:
        near = min(kind.throughputs, key=lambda it: (abs(it - throughput), -it))
        yield Problem(
            at, throughput, f"{deployment} on {disk} has no such speed, in MB/s for each TiB", allowed, f"{near}"
        )


def _efa(lustre: Lustre) -> Iterator[Problem]:
    if known(lustre.efa) and known(lustre.deployment) != "persistent-2":
        message = f"only persistent-2 is reached over EFA, and this is {lustre.deployment}"
        yield Problem((*AT, "efa"), True, message, "with persistent-2", "leave it out")


def _size(lustre: Lustre) -> Iterator[Problem]:
    size, at = known(lustre.size), (*AT, "size")
    if known(lustre.efa) and known(lustre.deployment) != "persistent-2":
        return
    steps, asked = _steps(lustre), size.value / GIB
    if steps.has(asked):
        return
    near = [f"{it}Gi" for it in steps.nearest(asked)]
    speed = f" with {lustre.throughput} MB/s for each TiB" if lustre.efa or lustre.disk == "hdd" else ""
    over = " over EFA" if lustre.efa else ""
    message = f"is {_told(asked)} GiB, and {lustre.deployment} on {lustre.disk}{over}{speed} has no such size"
    yield Problem(at, size.text, message, f"{steps.told}; nearest {' and '.join(near)}", f"size: {' or '.join(near)}")


def _steps(lustre: Lustre) -> Steps:
    """The sizes that it may have, as far as they are known: those of other disks do not depend on its throughput."""
    sizes, throughput = _type(lustre).sizes, known(lustre.throughput)
    if throughput in sizes:
        return sizes[throughput]
    first = next(iter(sizes.values()))
    if any(each != first for each in sizes.values()):
        raise Unanswerable
    return first


def _told(amount: Decimal) -> str:
    return f"{(amount * 10 // 1 / 10).normalize():f}"


def _metadata(lustre: Lustre) -> Iterator[Problem]:
    rate, at = known(lustre.metadata), (*AT, "metadata")
    if rate is None:
        return
    if known(lustre.deployment) != "persistent-2":
        message = f"only persistent-2 is asked for it, and this is {lustre.deployment}"
        yield Problem(at, rate, message, "with persistent-2", "leave it out", spoils=NOTHING)
    elif rate not in METADATA:
        least = automatic_metadata(0 if lost(lustre.size) else int(lustre.size.value / GIB))
        rates = [it for it in METADATA if it >= least]
        near = [it for it in rates if it < rate][-1:] + [it for it in rates if it > rate][:1]
        allowed = "1500, 3000, 6000, multiples of 12000 up to 192000"
        told = " and ".join(map(str, near))
        yield Problem(at, rate, "AWS has no such rate", f"{allowed}; nearest {told}", f"metadata: {near[-1]}")
    else:
        least = automatic_metadata(int(known(lustre.size).value / GIB))
        if rate < least:
            message = f"with {lustre.size} AWS gives {least} by itself, and takes no lower number"
            yield Problem(at, rate, message, f"at least {least}", "leave it out", spoils=NOTHING)


@derived
def _zones(env: "Environment") -> tuple[str, ...]:
    """The zones of the pools that it is made for: those with EFA, or else those with GPUs."""
    gpus = agents.gpu_pools(env)
    efa = [name for name in gpus if fabric.of(env.pools[name]).kind == "efa"]
    wanted = {it for name in efa or gpus for it in subnets.zones(env, env.pools[name])}
    return tuple(it for it in aws.zones(env) if it in wanted)


def _near(env: "Environment", lustre: Lustre) -> Iterator[Problem]:
    at, declared = (*AT, "zone"), known(lustre.zone)
    if declared is None and len(_zones(env)) != 1:
        found = _zones(env) or aws.zones(env)
        message = (
            f"it stands in one zone, and pools with GPUs are in {', '.join(found)}"
            if _zones(env)
            else "it stands in one zone, and no pool with GPUs says which"
        )
        yield Problem(at, ABSENT, message, ", ".join(found), f"zone: {found[0]}")
        return
    place = zone(env)
    for name in agents.gpu_pools(env):
        pool = env.pools[name]
        away = [it for it in subnets.zones(env, pool) if it != place]
        if not away:
            continue
        efa = fabric.of(pool).kind == "efa"
        if efa and declared is not None:
            message = f"pool {name} is in {', '.join(away)}, and its nodes would read and write across zones"
            yield Problem(at, declared, message, ", ".join(_zones(env)), f"zone: {away[0]}")
        elif not efa:
            message = (
                f"its nodes may stand in {', '.join(away)}, and the shared file system is in {place}: what they read "
                "and write goes across zones, which costs, and is slower"
            )
            value = known(pool.zone) or ABSENT
            yield Problem(("pools", name, "zone"), value, message, fix=f"zone: {place}", severity="warning")


def _kept(env: "Environment", lustre: Lustre) -> Iterator[Problem]:
    checkpoints = known(known(env.storage).checkpoints)
    if checkpoints is None or persistent(known(lustre.deployment)) or known(checkpoints.keep) != "shared":
        return
    message = f"{lustre.deployment} has one copy of everything, and it is gone when a file server fails"
    at = ("storage", "checkpoints", "keep")
    yield Problem(at, "shared", message, "archive; a persistent deployment", "deployment: persistent-2", spoils=NOTHING)
