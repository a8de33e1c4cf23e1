"""What the pods of a job get of the tiers: the value that a workload component puts into them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING

from model import nodes
from model.aws import storage
from model.problems import Problem, Subject, known
from model.quantities import MEBIBYTE, Quantity, written
from model.releases import upstream
from model.workloads import Workload, judged

from . import claims, classes, contract, disks, remote
from .names import CONFIG, JOBS

if TYPE_CHECKING:
    from model.environment import Environment

SCRATCH, SHARED = "/scratch", "/shared"
"""Where jobs find the tiers."""
FOLDER = "checkpoints"
"""The folder of checkpoints in both."""
SCRIPT = "checkpoints"
"""The ConfigMap, in each tenant's namespaces, with the uploader's script."""
DIR, KEEP, ARCHIVE, RETAIN, EVERY = (
    f"GANGLINE_CHECKPOINT_{name}" for name in ("DIR", "KEEP", "ARCHIVE", "RETAIN", "EVERY")
)
"""Variables: where a job writes, where that is kept, where it is archived, how many are kept, seconds between two."""
RESOURCES: Mapping[str, Quantity] = MappingProxyType({"cpu": Quantity.parse(2), "memory": Quantity.parse("1Gi")})
"""What the uploader asks for: a core to copy and one for checksums. rclone has 4 files in flight, each in an upload of
4 parts of 5 MiB (https://rclone.org/s3/), which is far below the rest."""
_OF_DISK = Decimal("0.9")
"""How much of a disk is asked for: a file system takes a part of it, and whichever is bound is a whole one."""
MARGIN = 30
"""Seconds of the grace period for the job itself to end."""


@dataclass(frozen=True)
class Disk:
    """A pod's part of its node's disks.

    Attributes:
        size: How much it may hold, or ask for of a whole disk.
        storage_class: The class of a claim that takes a whole disk; None for a folder that the kubelet makes.
    """

    size: Quantity
    storage_class: str | None = None


@dataclass(frozen=True)
class Uploader:
    """The sidecar that carries checkpoints on.

    Attributes:
        image: Its image.
        environment: Variables with plain values.
        from_config: Variables that the namespace's ConfigMap holds, each with its key there.
        remote: Name of the ConfigMap that says how the archive is reached; None where it is not needed.
        secret: Name of the Secret with the keys of the archive; None where identity does without.
    """

    image: str
    environment: Mapping[str, str]
    from_config: Mapping[str, str] = field(default_factory=dict)
    remote: str | None = None
    secret: str | None = None


@dataclass(frozen=True)
class Mounts:
    """What a pod gets.

    Attributes:
        uploader: The sidecar.
        grace: Seconds that the pod has to end (`terminationGracePeriodSeconds`): until all that it wrote is carried on.
        environment: Variables of the job's container.
        scratch: Its part of the node's disks, at `SCRATCH`.
        claim: The claim of the shared tier, at `SHARED`.
        account: The service account that has the rights to the archive; None where none is needed.
    """

    uploader: Uploader
    grace: int
    environment: Mapping[str, str]
    scratch: Disk | None = None
    claim: str | None = None
    account: str | None = None


def of(env: "Environment", workload: Workload) -> Mounts | None:
    """What the workers of a workload get; None where it does not ask for it.

    Raises:
        Unanswerable: There is no contract.
    """
    if not known(workload.checkpoints):
        return None
    it, took = contract.declared(env), contract.times(env)
    where = {"scratch": f"{SCRATCH}/{FOLDER}", "shared": f"{SHARED}/{FOLDER}"}
    job = {DIR: where[it.write], EVERY: str(took.every)}
    plain, from_config = {**job, RETAIN: str(it.retain)}, dict[str, str]()
    if it.keep == "archive":
        from_config[KEEP] = remote.PLACE
    else:
        plain[KEEP] = where[it.keep]
    if it.archive:
        from_config[ARCHIVE] = remote.PLACE
    uploader = Uploader(
        image=upstream(env, "rclone").images["rclone"],
        environment=plain,
        from_config=from_config,
        remote=CONFIG if from_config else None,
        secret=remote.secret(env) if from_config else None,
    )
    return Mounts(
        uploader=uploader,
        grace=took.grace + MARGIN,
        environment=job,
        scratch=_disk(env, workload) if it.write == "scratch" else None,
        claim=claims.claim(env, workload.namespace),
        account=JOBS if identified(env) else None,
    )


def identified(env: "Environment") -> bool:
    """Whether jobs reach the archive by who they are, and not by keys: where AWS has made it."""
    return env.storage.archive is not None and storage.archive(env) is not None


def resources(workload: Workload) -> Mapping[str, Decimal]:
    """What each worker of a workload asks for beside its own, in base units."""
    return {name: amount.value for name, amount in RESOURCES.items()} if known(workload.checkpoints) else {}


def _disk(env: "Environment", workload: Workload) -> Disk:
    whole = disks.size(env, workload.pool)
    if disks.volumes(env, workload.pool):
        return Disk(_written(whole * _OF_DISK), classes.SCRATCH)
    return Disk(_written(whole * _share(env, workload)))


def _written(size: Decimal) -> Quantity:
    return Quantity.parse(written("memory", max(Decimal(1), size // MEBIBYTE) * MEBIBYTE))


def _share(env: "Environment", workload: Workload) -> Decimal:
    """A worker's share of its node: that of its GPUs, or of its cores. So all that fit have room, and need not ask."""
    workers, offered = workload.workers, nodes.offered(env, workload.pool)
    resource = nodes.gpu_resource(env.pools[workload.pool], workers.profile) if workers.gpus else None
    return workers.gpus / offered[resource] if resource else min(Decimal(1), workers.cpu.value / offered["cpu"])


def references(env: "Environment") -> Iterator[Problem]:
    """Workloads that rely on a contract that is not there."""
    yield from judged(env, _contract)


def limits(env: "Environment") -> Iterator[Problem]:
    """Workloads on pools without the disks that they would write to."""
    yield from judged(env, _on_scratch)


def _contract(it: Subject[Workload]) -> Iterator[Problem]:
    if known(it.value.checkpoints) and known(it.env.storage.checkpoints) is None:
        at = (*it.at, "checkpoints")
        yield Problem(at, True, "there is no storage.checkpoints", fix="declare storage.checkpoints, or leave it out")


def _on_scratch(it: Subject[Workload]) -> Iterator[Problem]:
    if not known(it.value.checkpoints) or contract.declared(it.env).write != "scratch":
        return
    if disks.size(it.env, known(it.value.pool)) == 0:
        message = f"checkpoints are written to scratch, and nodes of pool {it.value.pool} have none"
        yield Problem((*it.at, "pool"), it.value.pool, message, "a pool with NVMe disks in storage.scratch")
