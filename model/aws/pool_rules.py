"""What a document may say of pools on AWS, and of other pools not."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from catalog import reader as catalog
from model import aws, fabric, images, names
from model.counts import Size, fewest
from model.pools import Pool
from model.problems import ABSENT, NOTHING, Path, Problem, Subject, Unanswerable, answered, each, known, lost, nearest
from model.workloads import Workload, judged

from . import here, node_groups
from .shape import EXAMPLE, said

if TYPE_CHECKING:
    from model.environment import Environment

_RESERVATION = re.compile(r"cr-[0-9a-f]{17}")
_PLACEMENT_GROUP = re.compile(r"[ -~]{1,255}")
_RELEASES = {
    "Amazon Linux": (re.compile(r"1\.[0-9]{2}\.[0-9]{1,3}-[0-9]{8}"), "1.35.3-20261112"),
    "Bottlerocket": (re.compile(r"[0-9]{1,2}\.[0-9]{1,3}\.[0-9]{1,3}-[0-9a-f]{8}"), "1.57.0-d8ea4f6f"),
}
"""How releases of images look, and one as an example."""
_RESERVED = {
    "kubernetes.io": "EKS",
    "k8s.io": "EKS",
    "eks.amazonaws.com": "EKS",
    "karpenter.sh": "Karpenter",
    "karpenter.k8s.aws": "Karpenter",
}
"""Prefixes that labels must not have, and who keeps them for itself
(https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html; aws/containers-roadmap#1451; what the
definition of NodePool restricts)."""
_LONGEST_KEY = 63
"""Characters of a label's or a taint's key with its prefix, which Kubernetes does not count
(https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html, API_Taint.html)."""
LONGEST_NAME = 35
"""Characters of a managed pool's name. Its node group is called `platform-pool-NAME-group-` and seven random ones, and
EKS takes 63 (https://docs.aws.amazon.com/eks/latest/userguide/create-managed-node-group.html)."""
_MOST_TAINTS = 50
_MOST_TAGS = 45
"""Tags by which the autoscaler knows the nodes of a group that has none. A group has 50 at most, and EKS sets five
(https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-tagging.html)."""
_LEAST_VOLUME = 20
_MOST_VOLUME = 65_536
_ONLY_AWS = ("zone", "capacity", "provisioner", "amiRelease", "rootVolume")


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with each pool by itself."""
    if here(env):
        yield from each(("pools",), env.pools, env, _name, _machine, _image, _capacity, _volume)
    else:
        yield from each(("pools",), env.pools, env, _elsewhere)


def references(env: "Environment") -> Iterator[Problem]:
    """Pools that cannot stand where, or be had as, the document says."""
    if not here(env):
        return
    yield from each(("pools",), env.pools, env, _zone, _one_zone, _block, _release, _labels, _taints, _pods)
    yield from each(("pools",), env.pools, env, _karpenter_size, _karpenter_fabric)
    yield from answered(_one_pool_per_reservation, env)
    yield from answered(_home, env)


def _gang(it: Subject[Workload]) -> Iterator[Problem]:
    pool, workers = it.env.pools[known(it.value.pool)], fewest(known(it.value.workers).count)
    if pool.provisioner != "karpenter" or pool.capacity.kind in ("reservation", "block") or workers == 0:
        return
    if workers == 1 and it.value.leads is None:
        return
    lead = f"{it.value.leader} and " if it.value.leads else ""
    message = (
        f"its {lead}{workers} workers start together or not at all, and Karpenter makes nodes one after another: "
        "where capacity runs out, those that came stand there and cost"
    )
    allowed = "a managed pool, one of a reservation, or workers from 0 on"
    yield Problem((*it.at, "pool"), it.value.pool, message, allowed, "workers: {count: {min: 0, max: …}}")


def _elsewhere(it: Subject[Pool]) -> Iterator[Problem]:
    for key in _ONLY_AWS:
        if said(it.value, key):
            message = "the nodes are there already, and this is how nodes on AWS are made"
            yield Problem((*it.at, key), key, message, "with cluster.provider aws", "leave it out", spoils=NOTHING)


def limits(env: "Environment") -> Iterator[Problem]:
    """Pools that an autoscaler could not be told all of, and gangs on nodes that come one after another."""
    if here(env):
        yield from each(("pools",), {name: env.pools[name] for name in aws.autoscaled(env)}, env, _tags)
        yield from judged(env, _gang)


def _name(it: Subject[Pool]) -> Iterator[Problem]:
    if known(it.value.provisioner) == "managed" and LONGEST_NAME < len(it.name) <= names.LABEL:
        message = f"has {len(it.name)} characters, and the name of its node group would be too long for EKS"
        yield Problem(it.at, it.name, message, f"at most {LONGEST_NAME} characters", spoils=NOTHING)


def _machine(it: Subject[Pool]) -> Iterator[Problem]:
    for key in ("server", "shape"):
        value = getattr(it.value, key)
        if not lost(value) and value is not None:
            said = value if key == "server" else key
            yield Problem((*it.at, key), said, "on AWS nodes are instances of EC2", fix="instance: …")


def _capacity(it: Subject[Pool]) -> Iterator[Problem]:
    capacity, at = known(it.value.capacity), (*it.at, "capacity")
    kind = known(capacity.kind)
    reserved = kind in ("reservation", "block")
    reservation = known(capacity.reservation)
    if reserved and reservation is None:
        message = f"a {kind} is named by its id: EKS takes kind, reservation and zone together"
        yield Problem((*at, "reservation"), ABSENT, message, "such as cr-0a1b2c3d4e5f67890", spoils=(at,))
    elif not reserved and reservation is not None:
        message = f"instances of kind {kind} come from no reservation"
        allowed = "with kind reservation or block"
        yield Problem((*at, "reservation"), reservation, message, allowed, "kind: reservation", spoils=(at,))
    elif reservation is not None and not _RESERVATION.fullmatch(reservation):
        message = "is no id of a reservation"
        yield Problem((*at, "reservation"), reservation, message, "such as cr-0a1b2c3d4e5f67890", spoils=NOTHING)
    ends = known(capacity.ends)
    if kind == "block" and ends is None:
        message = "a block ends, and work must have left it by then"
        yield Problem((*at, "ends"), ABSENT, message, f"such as {EXAMPLE}, as AWS sold it", spoils=(at,))
    elif kind != "block" and ends is not None:
        yield Problem((*at, "ends"), "ends", f"only a block has an end, and this is {kind}", fix="leave it out")
    group = known(capacity.placement_group)
    if group is not None and kind != "reservation":
        message = "only a reservation is made in a placement group; other nodes get one where their fabric needs it"
        yield Problem((*at, "placementGroup"), group, message, "with kind reservation", "leave it out")
    elif group is not None and not _PLACEMENT_GROUP.fullmatch(group):
        yield Problem((*at, "placementGroup"), group, "is no name of a placement group", "1 to 255 characters of ASCII")


def _release(it: Subject[Pool]) -> Iterator[Problem]:
    release, at = known(it.value.ami_release), (*it.at, "amiRelease")
    if release is None:
        return
    if known(it.value.provisioner) == "karpenter":
        message = "Karpenter's nodes take their image by its alias, not by a release of a node group"
        yield Problem(at, release, message, "with provisioner managed", "leave it out")
        return
    image, minor = images.of(it.env, it.name), known(it.env.cluster.kubernetes)
    system = "Bottlerocket" if image.startswith("bottlerocket") else "Amazon Linux"
    pattern, example = _RELEASES[system]
    if not pattern.fullmatch(release):
        message = f"is no release of {system}, and the nodes' image is {image}"
        yield Problem(at, release, message, f"such as {example}")
    elif system == "Amazon Linux" and not release.startswith(f"{minor}."):
        message = f"is an image of another Kubernetes than the cluster's {minor}"
        yield Problem(at, release, message, f"{minor}.…")


def _volume(it: Subject[Pool]) -> Iterator[Problem]:
    volume, at = known(it.value.root_volume), (*it.at, "rootVolume")
    if volume is None:
        return
    size = node_groups.root_volume(it.value)
    if not _LEAST_VOLUME <= size <= _MOST_VOLUME:
        small = size < _LEAST_VOLUME
        fault = "holds no operating system with its images" if small else "is more than a gp3 volume can have"
        yield Problem(at, volume.text, fault, f"{_LEAST_VOLUME}Gi to {_MOST_VOLUME}Gi")
    elif volume.value != size * 1024**3:
        whole = min(size + 1, _MOST_VOLUME)
        yield Problem(at, volume.text, "volumes have whole Gi", "such as 200Gi", f"{whole}Gi")


def _taints(it: Subject[Pool]) -> Iterator[Problem]:
    if known(it.value.provisioner) != "managed":
        return
    taints = known(it.value.taints)
    if len(taints) > _MOST_TAINTS:
        message = f"EKS takes {_MOST_TAINTS} taints at most"
        yield Problem((*it.at, "taints"), len(taints), message, f"at most {_MOST_TAINTS}", spoils=NOTHING)
    for index, taint in enumerate(taints):
        if not lost(taint) and not lost(taint.key):
            yield from _key((*it.at, "taints", index, "key"), taint.key)


def _key(at: Path, key: str) -> Iterator[Problem]:
    if names.label_key_fault(key) is None and len(key) > _LONGEST_KEY:
        message = f"has {len(key)} characters with its prefix, and EKS counts them together"
        yield Problem(at, key, message, f"at most {_LONGEST_KEY}", spoils=NOTHING)


def _tags(it: Subject[Pool]) -> Iterator[Problem]:
    tags = len(node_groups.autoscaler_tags(it.env, it.name))
    if tags > _MOST_TAGS:
        message = (
            f"an autoscaler is told each label and taint of a pool with a range by a tag of its group, {tags} in all, "
            f"and AWS leaves room for {_MOST_TAGS}"
        )
        marks = len(it.value.labels) + len(it.value.taints)
        yield Problem(it.at, it.name, message, f"at most {marks - tags + _MOST_TAGS} labels and taints", "a fixed size")


def _pods(it: Subject[Pool]) -> Iterator[Problem]:
    """With prefixes AWS recommends 110 pods on nodes up to 30 cores and 250 on larger ones."""
    most = 250
    if known(it.value.max_pods) > most:
        message = "nodes of EKS run that many pods at most"
        source = f"at most {most}"
        yield Problem((*it.at, "maxPods"), it.value.max_pods, message, source, spoils=NOTHING)


def _karpenter_size(it: Subject[Pool]) -> Iterator[Problem]:
    if known(it.value.provisioner) != "karpenter":
        return
    size, at = known(it.value.size), (*it.at, "size")
    if not isinstance(size, Size):
        message = "Karpenter makes nodes when pods need them: there is no fixed number"
        yield Problem(at, size, message, fix=f"size: {{min: 0, max: {max(size, 1)}}}")
    elif known(size.min) != 0 or known(size.desired) not in (None, 0):
        key = "min" if size.min != 0 else "desired"
        message = "Karpenter begins with no nodes and keeps none that pods do not need"
        yield Problem((*at, key), getattr(size, key), message, "0", spoils=NOTHING)


def _zone(it: Subject[Pool]) -> Iterator[Problem]:
    zone, zones = known(it.value.zone), aws.zones(it.env)
    if zone is not None and zone not in zones:
        message = "the cluster has no such zone"
        yield Problem((*it.at, "zone"), zone, message, ", ".join(zones), nearest(zone, zones))


def _one_zone(it: Subject[Pool]) -> Iterator[Problem]:
    if known(it.value.zone) is not None:
        return
    kind = known(known(it.value.capacity).kind)
    zones = ", ".join(aws.zones(it.env))
    if kind in ("reservation", "block"):
        message = f"a {kind} is in one zone, and so are its nodes; the cluster has {zones}"
    elif known(fabric.of(it.value).kind) == "efa" and _carries_efa(it.value):
        message = f"EFA does not leave its zone, and neither does a placement group; the cluster has {zones}"
    else:
        return
    yield Problem((*it.at, "zone"), ABSENT, message, zones, "zone: …")


def _carries_efa(pool: Pool) -> bool:
    """Whether its nodes can have EFA at all: where not, that is what is wrong."""
    instance = catalog.instances().get(known(pool.instance) or "")
    return instance is not None and instance.efa > 0


def _block(it: Subject[Pool]) -> Iterator[Problem]:
    name = known(it.value.instance)
    if name is None or known(known(it.value.capacity).kind) != "block" or name not in catalog.instances():
        return
    if not catalog.instances()[name].blocks:
        sold = ", ".join(other.name for other in catalog.instances().values() if other.blocks)
        message = "is not sold in capacity blocks"
        yield Problem((*it.at, "instance"), name, message, sold, spoils=NOTHING)


def _image(it: Subject[Pool]) -> Iterator[Problem]:
    name = known(it.value.image)
    if name is None or name not in catalog.images() or known(it.value.instance) not in catalog.instances():
        return
    instance = catalog.instances()[it.value.instance or ""]
    fitting = [
        image.name
        for image in catalog.images().values()
        if instance.architecture in image.ami and ("driver" in image.brings) == bool(instance.gpus)
    ]
    at, image = (*it.at, "image"), catalog.images()[name]
    if instance.architecture not in image.ami:
        message = "EKS has no managed nodes with it"
        yield Problem(at, name, message, ", ".join(fitting), images.usual(instance))
    elif "driver" in image.brings and not instance.gpus:
        message = f"is made for GPUs, and {instance.name} has none"
        yield Problem(at, name, message, ", ".join(fitting), images.usual(instance))


def keeper(label: str) -> tuple[str, str] | None:
    """The prefix of a label that nodes must not be given, and who keeps it for itself; None where it may be given."""
    prefix = label.rpartition("/")[0]
    return next((it for it in _RESERVED.items() if prefix == it[0] or prefix.endswith(f".{it[0]}")), None)


def _labels(it: Subject[Pool]) -> Iterator[Problem]:
    managed = known(it.value.provisioner) == "managed"
    for key, value in known(it.value.labels).items():
        found, at = keeper(key), (*it.at, "labels", key)
        if found is not None:
            message = f"{found[1]} keeps labels under {found[0]} for itself: the nodes would not start"
            own = f"{it.env.cluster.name}.example.com/{key.rpartition('/')[2]}"
            yield Problem(at, key, message, "a prefix of your own", own, spoils=NOTHING)
        elif managed and not lost(value) and value == "":
            yield Problem(at, value, "EKS takes no empty labels", "1 to 63 characters", spoils=NOTHING)
        elif managed:
            yield from _key(at, key)


def _karpenter_fabric(it: Subject[Pool]) -> Iterator[Problem]:
    if known(it.value.provisioner) == "karpenter" and known(fabric.of(it.value).kind) == "efa":
        message = "EFA is for gangs, whose nodes must be there together; Karpenter makes one after another"
        yield Problem((*it.at, "fabric"), "efa", message, "with provisioner managed; tcp", "provisioner: managed")


def _one_pool_per_reservation(env: "Environment") -> Iterator[Problem]:
    """Two pools would each count on machines that only one of them gets."""
    first: dict[str, str] = {}
    for name, pool in env.pools.items():
        if lost(pool) or lost(pool.capacity) or lost(pool.capacity.reservation) or pool.capacity.reservation is None:
            continue
        other = first.setdefault(pool.capacity.reservation, name)
        if other != name:
            message = f"pool {other} takes its nodes from it already"
            at = ("pools", name, "capacity", "reservation")
            yield Problem(at, pool.capacity.reservation, message, "a reservation of its own", spoils=NOTHING)


def _home(env: "Environment") -> Iterator[Problem]:
    """EKS's own add-ons, the operators and Karpenter itself need nodes that are always there and let everybody in."""
    for pool in env.pools.values():
        if lost(pool):
            raise Unanswerable
        instance = catalog.instances().get(known(pool.instance) or "")
        if instance is None:
            raise Unanswerable
        untainted = not any(known(taint.effect) != "PreferNoSchedule" for taint in known(pool.taints))
        steady = known(pool.provisioner) == "managed" and known(known(pool.capacity).kind) == "on-demand"
        if not instance.gpus and untainted and steady and pool.fewest > 0:
            return
    message = (
        "no pool is a home for DNS, operators and what else the cluster runs on: one without GPUs and taints, managed, "
        "on demand, that never has 0 nodes"
    )
    yield Problem(("pools",), list(env.pools), message, fix="system: {instance: m7i.2xlarge, size: 3}", spoils=NOTHING)
