"""The cache of datasets: where it is on the nodes, and what a document may say of it."""

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from model import agents, aws, names
from model.namespaces import FLUID
from model.nodes import POOL_LABEL
from model.problems import ABSENT, Path, Problem, Unanswerable, answered, known, readable
from model.quantities import MEBIBYTE
from model.quantities import readable as told

from . import classes, disks, remote
from .cache import Fluid, Juicefs
from .scratch import Local
from .shared import ExistingClass

if TYPE_CHECKING:
    from model.environment import Environment

FOLDER = "/var/lib/kubelet/dataset-cache"
"""The folder of the nodes that holds the cache. The kubelet's own folder is what is on the array of disks, whoever made
it: on nodes of EKS (nodeadm's RAID0, Bottlerocket's bind) and, by the guide, elsewhere."""
_AT: Path = ("storage", "cache")
_KUBECONFIG_ON_EKS = "/var/lib/kubelet/kubeconfig"
_FREE = "0.1"
"""The part of the disks that the cache leaves free: the kubelet evicts pods below 10 %
(https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/, nodefs.available)."""


def mebibytes(env: "Environment") -> int:
    """How much each node caches, as JuiceFS counts."""
    cache = known(env.storage.cache)
    return 0 if cache is None else int(known(cache.size).value // MEBIBYTE)


def driver_values(env: "Environment", image: str) -> dict[str, Any]:
    """Values of the chart of JuiceFS's driver, but for where its pods run.

    Its writes go to the store before they are done: with `writeback` they would be on a node's disk only, and lost with
    the mount's pod (https://juicefs.com/docs/csi/guide/cache/).

    Args:
        env: The document.
        image: The image of mounts, which the chart takes as it is built each night where none is said.
    """
    mounts = {
        "ceMountImage": image,
        # Of the usual 5Gi a training job's reads take more, and with the mount all its pods lose their data.
        "resources": {"requests": {"cpu": "1", "memory": "2Gi"}, "limits": {"memory": "16Gi"}},
        "cacheDirs": [{"type": "HostPath", "path": FOLDER}],
        "mountOptions": [f"cache-size={mebibytes(env)}", f"free-space-ratio={_FREE}"],
    }
    return {
        "mountMode": "mountpod",
        "defaultMountImage": {"ce": image},
        # Its web page asks nobody who they are.
        "dashboard": {"enabled": False},
        "globalConfig": {"enabled": True, "manageByHelm": True, "mountPodPatch": [mounts]},
        # The class is this project's.
        "storageClasses": [],
    }


def fluid_values(env: "Environment") -> dict[str, Any]:
    """Values of Fluid's chart: the one runtime that is used is switched on; none is, unless it is said."""
    cache = _fluid(env)
    return {
        "namespace": FLUID,
        # Definitions are this project's, apart from the release.
        "crdUpgrade": {"enabled": False},
        "runtime": {cache.runtime: {"enabled": True}},
        # Where the kubelet keeps its own configuration, with which the plugin asks the API server for no more than it.
        "csi": {"kubelet": {"kubeConfigFile": _KUBECONFIG_ON_EKS}} if aws.here(env) else {},
    }


def dataset(env: "Environment", name: str) -> dict[str, Any]:
    """The spec of a Dataset: where its data is, and on which nodes it is cached."""
    cache = _fluid(env)
    pools = disks.pools(env)
    place = {"key": POOL_LABEL, "operator": "In", "values": list(pools)}
    return {
        "mounts": [{"name": name, **(_s3(env, name) if cache.runtime == "alluxio" else _juicefs(cache, name))}],
        "accessModes": ["ReadOnlyMany"],
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [place]}]}},
        "tolerations": [
            {"key": each.key, "operator": "Exists", "effect": each.effect} for each in agents.tolerations(env, pools)
        ],
    }


def _juicefs(cache: Fluid, name: str) -> dict[str, Any]:
    keys = ("metaurl", "access-key", "secret-key")
    folder = cache.datasets[name].strip("/")
    return {"mountPoint": f"juicefs:///{folder}", "encryptOptions": [_key(key, cache.secret, key) for key in keys]}


def _s3(env: "Environment", name: str) -> dict[str, Any]:
    archive, options = known(env.storage.archive), remote.existing(env)
    if archive is None or options is None:
        raise Unanswerable
    by_host = options["provider"] == "Alibaba"
    return {
        "mountPoint": f"s3://{archive.bucket}/{_fluid(env).datasets[name]}",
        "options": {
            "alluxio.underfs.s3.endpoint": options["endpoint"],
            "alluxio.underfs.s3.disable.dns.buckets": str(not by_host).lower(),
        },
        "encryptOptions": [
            _key("aws.accessKeyId", archive.secret, "access-key"),
            _key("aws.secretKey", archive.secret, "secret-key"),
        ],
    }


def _key(option: str, secret: str | None, key: str) -> dict[str, Any]:
    return {"name": option, "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}}


def runtime(env: "Environment", name: str, image: str) -> tuple[str, dict[str, Any]]:
    """The kind and spec of a dataset's runtime.

    Args:
        env: The document.
        name: The dataset.
        image: The image of JuiceFS's mounts.
    """
    cache = _fluid(env)
    repository, _, tag = image.rpartition(":")
    level = {
        "mediumtype": "SSD",
        "volumeType": "hostPath",
        "path": f"{FOLDER}/{name}",
        "quota": f"{mebibytes(env)}Mi",
        "low": _FREE,
    }
    spec: dict[str, Any] = {"replicas": cache.workers, "tieredstore": {"levels": [level]}}
    if cache.runtime == "alluxio":
        return "AlluxioRuntime", spec
    pinned = {"image": repository, "imageTag": tag, "imagePullPolicy": "IfNotPresent"}
    return "JuiceFSRuntime", spec | {"juicefsVersion": pinned}


def _fluid(env: "Environment") -> Fluid:
    cache = known(env.storage.cache)
    if not isinstance(cache, Fluid):
        raise Unanswerable
    return cache


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with the cache by itself."""
    cache = known(env.storage.cache)
    if cache is None:
        return
    yield from answered(_secret, cache)
    if isinstance(cache, Fluid):
        yield from answered(_datasets, cache)
        yield from answered(_workers, known(cache.workers))


def _secret(cache: Juicefs | Fluid) -> Iterator[Problem]:
    name, at, alluxio = known(cache.secret), (*_AT, "secret"), isinstance(cache, Fluid) and cache.runtime == "alluxio"
    if name is None:
        if not alluxio:
            message = "JuiceFS reads from it which file system it is"
            yield Problem(at, ABSENT, message, "the name of a Secret with metaurl, access-key and secret-key")
    elif alluxio:
        yield Problem(at, name, "Alluxio reads the archive, with the archive's own keys", fix="leave it out")
    elif fault := names.subdomain_fault(name):
        yield Problem(at, name, fault, names.DNS_SUBDOMAIN.allowed)


def _workers(count: int) -> Iterator[Problem]:
    if count < 1:
        yield Problem((*_AT, "workers"), count, "with none nothing is cached", "1 or more", "workers: 1")


def _datasets(cache: Fluid) -> Iterator[Problem]:
    for name, prefix in readable(cache.datasets):
        at = (*_AT, "datasets", name)
        if fault := names.DNS_LABEL.fault(name):
            yield Problem(at, name, fault, names.DNS_LABEL.allowed)
        elif prefix.startswith("/") or not prefix.endswith("/") or ".." in prefix.split("/"):
            meant = prefix.strip("/") + "/"
            yield Problem(at, prefix, "is no folder", "such as datasets/imagenet/", meant)


def references(env: "Environment") -> Iterator[Problem]:
    """Caches without disks to be on, or without an archive to cache."""
    cache, scratch = known(env.storage.cache), known(env.storage.scratch)
    if cache is None:
        return
    if scratch is None:
        message = "the cache is on the nodes' NVMe disks, and there is no storage.scratch"
        yield Problem((*_AT, "kind"), cache.kind, message, fix="scratch: {kind: nvme}", spoils=(_AT,))
    elif isinstance(scratch, Local):
        message = "each disk is a volume that one claim takes as a whole, and none is left for the cache"
        yield Problem((*_AT, "kind"), cache.kind, message, "with scratch of kind nvme", spoils=(_AT,))
    if isinstance(cache, Fluid) and known(cache.runtime) == "alluxio" and remote.existing(env) is None:
        message = "Alluxio reads the archive with keys, and there is no storage.archive of an existing store"
        yield Problem((*_AT, "runtime"), "alluxio", message, "juicefs", "runtime: juicefs", spoils=(_AT,))
    yield from answered(_checkpoints, env)


def _checkpoints(env: "Environment") -> Iterator[Problem]:
    """What is written to a cache is where nobody promised to keep it."""
    shared, at = known(env.storage.shared), ("storage", "shared", "name")
    if isinstance(shared, ExistingClass) and known(shared.name) == classes.DATASETS:
        message = f"{classes.DATASETS} is the class of cached datasets, and no place for checkpoints and homes"
        yield Problem(at, shared.name, message, "the class of a shared file system")


def limits(env: "Environment") -> Iterator[Problem]:
    """Caches that the disks do not hold; and a cache that nobody works on any more."""
    cache = known(env.storage.cache)
    if cache is None:
        return
    yield from answered(_room, env)
    if isinstance(cache, Fluid) and cache.runtime == "alluxio":
        message = "Alluxio's open edition has had no release since 2024"
        yield Problem((*_AT, "runtime"), "alluxio", message, "juicefs", "runtime: juicefs", severity="warning")


def _room(env: "Environment") -> Iterator[Problem]:
    cache = known(env.storage.cache)
    holds = {name: disks.size(env, name) for name in disks.pools(env)}
    if cache is None or not holds:
        return
    name = min(holds, key=lambda pool: holds[pool])
    most = holds[name] * (1 - Decimal(_FREE))
    if known(cache.size).value > most:
        message = (
            f"the disks of a node of pool {name} hold {told('memory', holds[name])}, and a tenth of them stays free"
        )
        yield Problem((*_AT, "size"), cache.size.text, message, f"at most {told('memory', most)}")
