"""What the images of nodes bring, and who owns what is missing: one owner of the driver, one device plugin per node."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from catalog import reader as catalog
from catalog.kinds import Part

from . import agents, aws
from .derived import derived
from .pools import Pool
from .problems import NOTHING, Problem, Subject, Unanswerable, each, known, nearest

if TYPE_CHECKING:
    from .environment import Environment

_DEPLOY = "nvidia.com/gpu.deploy."
"""Prefix of the node labels by which the GPU Operator decides what runs on a node. What stands there already it leaves
as it is (https://github.com/NVIDIA/gpu-operator, controllers/state_manager.go, addGPUStateLabels)."""


def brings(env: "Environment", pool: str, part: Part) -> bool:
    """Whether the image of a pool's nodes brings a part.

    A pool that names no image has driver and container toolkit in `plugins` mode, as nobody else would bring them, and
    a system without NVIDIA's software in `operator` mode.

    Raises:
        Unanswerable: The catalogue has no such image.
    """
    image = _image(env, pool)
    if image is None:
        return env.devices.install == "plugins" and part in ("driver", "toolkit", "fabric-manager")
    return part in image.brings


def driver_owner(env: "Environment", pool: str) -> Literal["image", "operator"] | None:
    """Who brings the driver to the nodes of a pool; None when nobody can, which is refused where there are GPUs."""
    if brings(env, pool, "driver"):
        return "image"
    image = _image(env, pool)
    return "operator" if env.devices.install == "operator" and (image is None or image.operator_driver) else None


def toolkit_owner(env: "Environment", pool: str) -> Literal["image", "operator"] | None:
    """Who brings the container toolkit to the nodes of a pool; None when nobody does."""
    if brings(env, pool, "toolkit"):
        return "image"
    return "operator" if env.devices.install == "operator" else None


def plugin_owner(env: "Environment", pool: str) -> Literal["gangline", "operator", "image"]:
    """Who runs the device plugin on the nodes of a pool: this project's DaemonSets, the GPU Operator or the image."""
    if brings(env, pool, "device-plugin"):
        return "image"
    return "operator" if env.devices.install == "operator" else "gangline"


@derived
def plugin_pools(env: "Environment") -> tuple[str, ...]:
    """GPU pools on which this project's own device plugin runs, and what goes with it (feature discovery, MPS, MIG)."""
    return tuple(pool for pool in agents.gpu_pools(env) if plugin_owner(env, pool) == "gangline")


@derived
def managed_pools(env: "Environment") -> tuple[str, ...]:
    """GPU pools whose device plugin is configured by this project, be it its own or the GPU Operator's."""
    return tuple(pool for pool in agents.gpu_pools(env) if plugin_owner(env, pool) != "image")


@derived
def operator_pools(env: "Environment") -> tuple[str, ...]:
    """GPU pools that the GPU Operator looks after.

    It stays off nodes whose image runs its own device plugin: of such systems it supports none
    (https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/platform-support.html).
    """
    return tuple(pool for pool in agents.gpu_pools(env) if plugin_owner(env, pool) == "operator")


@derived
def exporter_pools(env: "Environment") -> tuple[str, ...]:
    """GPU pools on which this project's own DCGM exporter runs: all that the GPU Operator does not look after."""
    return tuple(pool for pool in agents.gpu_pools(env) if pool not in operator_pools(env))


def node_labels(env: "Environment", pool: str) -> dict[str, str]:
    """Labels that keep the GPU Operator from bringing to a pool's nodes what their image brings; sorted.

    Empty where there is no operator, and for parts that it brings to no pool at all, since these are switched off.
    """
    looked_after = operator_pools(env)
    if not looked_after or pool not in agents.gpu_pools(env):
        return {}
    if pool not in looked_after:
        return {f"{_DEPLOY}operands": "false"}
    owners = {"container-toolkit": toolkit_owner, "driver": driver_owner}
    return {
        f"{_DEPLOY}{part}": "false"
        for part, owner in owners.items()
        if owner(env, pool) == "image" and any(owner(env, other) == "operator" for other in looked_after)
    }


def of(env: "Environment", pool: str) -> str:
    """The image family of a pool's nodes on AWS: the document's, or the usual one for the instance type."""
    declared = known(env.pools[pool].image)
    if declared is not None:
        return declared
    instance = catalog.instances().get(known(env.pools[pool].instance) or "")
    if instance is None:
        raise Unanswerable
    return usual(instance)


def usual(instance: catalog.Instance) -> str:
    """The image family that an instance type gets when the document names none."""
    return "al2023-nvidia" if instance.gpus else "al2023"


def _image(env: "Environment", pool_name: str) -> catalog.Image | None:
    name = of(env, pool_name) if aws.here(env) else known(env.pools[pool_name].image)
    if name is None:
        return None
    if name not in catalog.images():
        raise Unanswerable
    return catalog.images()[name]


def values(env: "Environment") -> Iterator[Problem]:
    """Images that the catalogue does not have."""
    yield from each(("pools",), env.pools, env, _known)


def references(env: "Environment") -> Iterator[Problem]:
    """Images that do not fit their servers, leave GPUs without a driver, or cannot share them as the pool says."""
    yield from each(("pools",), env.pools, env, _servers, _driver, _sharing)


def _known(it: Subject[Pool]) -> Iterator[Problem]:
    image = it.value.image
    if image is not None and image not in catalog.images():
        allowed = ", ".join(catalog.images())
        near = nearest(image, catalog.images())
        yield Problem((*it.at, "image"), image, "the catalogue has no such image", allowed, near)


def _servers(it: Subject[Pool]) -> Iterator[Problem]:
    image, server = _image(it.env, it.name), known(it.value.server)
    if image is None:
        return
    if _elsewhere(image, server):
        operator = it.env.devices.install == "operator"
        others = [
            name
            for name, other in catalog.images().items()
            if not other.ec2 and ("driver" in other.brings or (operator and other.operator_driver))
        ]
        message = f"{image.title}, runs on Amazon EC2 only, and no {server} is there"
        yield Problem((*it.at, "image"), image.name, message, ", ".join(others), spoils=NOTHING)
    if not image.servers or server in image.servers:
        return
    has = server or "an explicit shape"
    message = f"{image.title}, runs on its own servers only, and the pool has {has}"
    yield Problem((*it.at, "image"), image.name, message, f"with {', '.join(image.servers)}", spoils=NOTHING)


def _elsewhere(image: catalog.Image, server: str | None) -> bool:
    """Whether an image is for EC2 only, and a server is not there. Its instances are built around boards."""
    found = None if server is None else catalog.servers().get(server)
    return image.ec2 and found is not None and not found.board


def _driver(it: Subject[Pool]) -> Iterator[Problem]:
    image = _image(it.env, it.name)
    if image is None or it.name not in agents.gpu_pools(it.env) or driver_owner(it.env, it.name) is not None:
        return
    if _elsewhere(image, it.value.server):
        return
    others = {name: other for name, other in catalog.images().items() if "driver" in other.brings}
    with_driver = [
        name
        for name, other in others.items()
        if not _elsewhere(other, it.value.server) and (other.ami or not aws.here(it.env))
    ]
    if it.env.devices.install == "operator":
        message = f"it brings no NVIDIA driver, and the GPU Operator has none for it ({image.title})"
    else:
        message = f"it brings no NVIDIA driver ({image.title}), and with devices.install: plugins nobody else does"
    fix = "image: prepared, where you installed it yourself"
    if image.operator_driver and it.env.devices.install == "plugins":
        fix = f"devices: {{install: operator}}, or {fix}"
    accelerated = f"{image.name}-nvidia"
    if accelerated in with_driver:
        fix = f"image: {accelerated}"
    yield Problem((*it.at, "image"), image.name, message, ", ".join(with_driver), fix, spoils=NOTHING)


def _sharing(it: Subject[Pool]) -> Iterator[Problem]:
    image, plan = _image(it.env, it.name), it.value.sharing
    if image is None or plan == "none" or "device-plugin" not in image.brings:
        return
    for kind, part in (("timeSlicing", plan.time_slicing), ("mps", plan.mps), ("mig", plan.mig)):
        if part is not None and kind not in image.sharing:
            message = f"{image.title} runs its own device plugin, which cannot be set to this"
            yield Problem((*it.at, "sharing"), kind, message, ", ".join(("none", *image.sharing)), "sharing: none")
            return
