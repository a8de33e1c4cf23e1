"""The NVMe disks of nodes: which pools have scratch, of which kind, and how much."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from catalog import reader as catalog
from model import aws, images
from model.derived import derived
from model.pools import Pool
from model.problems import NOTHING, Path, Problem, Subject, answered, each, known, lost, nearest
from model.quantities import Quantity

from .scratch import Local, Scratch

if TYPE_CHECKING:
    from model.environment import Environment

MOST = 64
"""Disks per node. A bound of ours against a slip of the pen: the servers of the catalogue have 8."""

_AT: Path = ("storage", "scratch")


@dataclass(frozen=True)
class Disks:
    """The NVMe disks of one node.

    Attributes:
        count: How many.
        size: Bytes of each.
    """

    count: int
    size: Decimal


def of(pool: Pool) -> Disks | None:
    """The disks of a pool's nodes; None where there are none, or nobody says so, as of a board without its host.

    Raises:
        Unanswerable: They could not be read.
    """
    described = pool.shape if pool.shape is not None else pool.host
    if described is not None and (said := known(described.disks)) is not None:
        return Disks(known(said.count), known(said.size).value)
    found = catalog.servers().get(pool.server or "") or catalog.instances().get(pool.instance or "")
    if found is None or found.disk is None:
        return None
    return Disks(found.disks, Quantity.parse(found.disk).value)


@derived
def pools(env: "Environment") -> tuple[str, ...]:
    """The pools that have scratch: those that are named, or all whose nodes have disks."""
    scratch = known(env.storage.scratch)
    if scratch is None:
        return ()
    named = known(scratch.pools)
    return tuple(name for name, pool in env.pools.items() if (name in named if named else of(pool) is not None))


def volumes(env: "Environment", pool_name: str) -> bool:
    """Whether each disk of a pool's nodes is a volume of its own, and they are no array."""
    return isinstance(known(env.storage.scratch), Local) and pool_name in pools(env)


def size(env: "Environment", pool_name: str) -> Decimal:
    """Bytes that one pod can have of the scratch of its node: all disks where they are an array, else one disk.

    0 where the pool has none.

    Raises:
        Unanswerable: Nobody can say.
    """
    disks = of(env.pools[pool_name]) if pool_name in pools(env) else None
    if disks is None:
        return Decimal(0)
    return disks.size if volumes(env, pool_name) else disks.count * disks.size


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with disks that are described by hand, and with the folder of volumes."""
    yield from each(("pools",), env.pools, env, _count)
    scratch = known(env.storage.scratch)
    if isinstance(scratch, Local):
        yield from answered(_path, known(scratch.path))


def _count(it: Subject[Pool]) -> Iterator[Problem]:
    for part in ("shape", "host"):
        described = getattr(it.value, part)
        if described is None or lost(described) or described.disks is None:
            continue
        count = known(described.disks.count)
        if not 1 <= count <= MOST:
            allowed = f"1 to {MOST}; no disks where there are none"
            yield Problem((*it.at, part, "disks", "count"), count, "is no number of disks of a machine", allowed)


def _path(path: str) -> Iterator[Problem]:
    parts = path.split("/")
    if not path.startswith("/") or path == "/" or {"", ".", ".."} & set(parts[1:]) or any(map(str.isspace, path)):
        meant = "/" + "/".join(part for part in path.strip().split("/") if part not in ("", ".", ".."))
        message = "must be the absolute path of a folder, in which each disk is mounted in a folder of its own"
        yield Problem(
            (*_AT, "path"),
            path,
            message,
            "such as /mnt/k8s-disks",
            None if meant == "/" or any(map(str.isspace, meant)) else meant,
        )


def references(env: "Environment") -> Iterator[Problem]:
    """Pools that are not there, or have no disks."""
    scratch = known(env.storage.scratch)
    if scratch is None:
        return
    for index, name in enumerate(known(scratch.pools)):
        if not lost(name):
            yield from answered(_pool, env, scratch, index, name)
    if not known(scratch.pools):
        yield from answered(_some, env, scratch)


def _pool(env: "Environment", scratch: Scratch, index: int, name: str) -> Iterator[Problem]:
    at = (*_AT, "pools", index)
    if name not in env.pools:
        yield Problem(at, name, "there is no such pool", ", ".join(env.pools), nearest(name, env.pools))
    elif name in scratch.pools[:index]:
        yield Problem(at, name, "is there twice", "each pool once", spoils=NOTHING)
    elif of(env.pools[name]) is None:
        yield Problem(at, name, "its nodes have no NVMe disks, as far as is known", _with_disks(env), _say(env, name))


def _some(env: "Environment", scratch: Scratch) -> Iterator[Problem]:
    if not pools(env):
        name = next(iter(env.pools))
        message = "no pool has nodes with NVMe disks, as far as is known"
        yield Problem((*_AT, "kind"), scratch.kind, message, fix=_say(env, name), spoils=(_AT,))


def _with_disks(env: "Environment") -> str | None:
    return ", ".join(name for name, pool in env.pools.items() if of(pool) is not None) or None


def _say(env: "Environment", name: str) -> str | None:
    """How a document says of a pool which disks its nodes have; None where the catalogue knows."""
    pool = env.pools[name]
    part = "shape" if pool.shape is not None else "host" if pool.server is not None else None
    return None if part is None else f"in {part} of pool {name}: disks: {{count: …, size: …}}"


def limits(env: "Environment") -> Iterator[Problem]:
    """Volumes of disks where nodes cannot have them, or where pods would wait for ever."""
    scratch = known(env.storage.scratch)
    if isinstance(scratch, Local) and aws.here(env):
        for name in pools(env):
            yield from answered(_volumes, env, name)


def _volumes(env: "Environment", name: str) -> Iterator[Problem]:
    at = (*_AT, "kind")
    if images.of(env, name).startswith("bottlerocket"):
        # https://bottlerocket.dev/en/os/1.57.x/concepts/bootstrap-commands/: `ephemeral-storage init` makes one array.
        message = f"nodes of pool {name} run Bottlerocket, which makes one array of all disks"
        yield Problem(at, "local", message, "nvme; local on other pools", "kind: nvme", spoils=NOTHING)
    elif name in aws.karpenter(env) or name in aws.autoscaled(env):
        # A volume of a disk comes into being with its node.
        message = f"pods that wait for a volume bring no node of pool {name}, whose volumes come with the node"
        yield Problem(at, "local", message, "nvme; local on pools of a fixed size", "kind: nvme", spoils=NOTHING)
