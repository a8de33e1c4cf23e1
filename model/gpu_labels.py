"""The node labels that GPU feature discovery writes, as far as they follow from the document.

Source: https://github.com/NVIDIA/k8s-device-plugin v0.18.0, internal/lm/{nvml,resource,mig-strategy}.go. What only the
node knows is left out: versions of driver and CUDA, the machine's name, the memory and engines of MIG instances.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from catalog import reader as catalog

from . import devices, images, mig, nodes
from .derived import derived
from .problems import Unanswerable
from .quantities import MEBIBYTE, Quantity

if TYPE_CHECKING:
    from .environment import Environment
    from .pools import Pool

_FAMILIES = {7: "volta", 8: "ampere", 9: "hopper", 10: "blackwell", 12: "blackwell"}


@derived
def labels(env: "Environment", pool_name: str) -> Mapping[str, str]:
    """The labels of a pool's nodes; empty where feature discovery does not run there."""
    plan = next((plan for plan in devices.plans(env) if pool_name in plan.pools), None)
    operated = images.plugin_owner(env, pool_name) == "operator"
    if plan is None or not (plan.feature_discovery or operated):
        return MappingProxyType({})
    return MappingProxyType(written(env.pools[pool_name]))


def written(pool: "Pool") -> dict[str, str]:
    """What feature discovery writes on the nodes of a pool that has GPUs.

    Raises:
        Unanswerable: They are to be cut in a way that they cannot.
    """
    machine, cut, shared = nodes.machine(pool), pool.plan and pool.plan.mig, nodes.replicas(pool)
    gpu = machine.gpu
    if gpu is None:
        return {}
    how = "none" if shared == 1 else "mps" if pool.plan and pool.plan.mps else "time-slicing"
    found = {
        "nvidia.com/mig.capable": _bool(bool(gpu.mig)),
        "nvidia.com/mps.capable": _bool(how == "mps"),
        "nvidia.com/gpu.family": family(gpu),
        "nvidia.com/gpu.compute.major": str(gpu.compute[0]),
        "nvidia.com/gpu.compute.minor": str(gpu.compute[1]),
    }
    if cut is None:
        return found | _whole(gpu, machine.gpus, shared, how)
    found["nvidia.com/mig.strategy"] = cut.strategy
    if cut.strategy == "mixed":
        found |= _whole(gpu, machine.gpus, 0, "none")  # GPUs that are cut are handed out by none
    for profile, count in cut.profiles.items():
        if profile not in gpu.mig:
            raise Unanswerable
        name = nodes.GPU if cut.strategy == "single" else mig.resource(profile)
        found |= _resource(name, f"{gpu.product}-MIG-{mig.plain(profile)}", machine.gpus * count, shared, how)
        for part in ("gi", "ci"):
            found[f"{name}.slices.{part}"] = str(gpu.mig[profile].compute)
    return found


def _whole(gpu: catalog.Gpu, gpus: int, replicas: int, how: str) -> dict[str, str]:
    memory = str(int(Quantity.parse(gpu.memory).value / MEBIBYTE))
    return {f"{nodes.GPU}.memory": memory, **_resource(nodes.GPU, gpu.product, gpus, replicas, how)}


def _resource(name: str, product: str, count: int, replicas: int, how: str) -> dict[str, str]:
    """Labels of one resource. They are named after what is shared, not after what the shared resource is called."""
    values = {"product": product, "count": count, "replicas": replicas, "sharing-strategy": how}
    return {f"{name}.{key}": str(value) for key, value in values.items()}


def family(gpu: catalog.Gpu) -> str:
    """The name of a GPU's architecture."""
    major, minor = gpu.compute
    if major == 7 and minor >= 5:
        return "turing"
    if major == 8 and minor >= 9:
        return "ada-lovelace"
    return _FAMILIES[major]


def _bool(value: bool) -> str:
    return str(value).lower()
