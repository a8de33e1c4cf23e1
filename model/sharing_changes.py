"""What a change of sharing does to what runs: nodes that must be emptied first.

When the device plugin is rolled, running pods keep their devices, and the kubelet goes on counting those whose resource
keeps its name. What is called otherwise it counts from zero.
"""

from collections.abc import Iterator

from . import devices, images, mig, nodes
from .disruption import Disruption
from .environment import Environment
from .pools import Pool


def disruptions(before: Environment, after: Environment) -> list[Disruption]:
    """What a change of document does to the nodes of pools that share their GPUs otherwise than before."""
    return [
        found
        for name, pool in after.pools.items()
        if name in before.pools and nodes.machine(pool).gpus and nodes.machine(before.pools[name]).gpus
        for found in _of_pool(name, before.pools[name], pool, operated=images.plugin_owner(after, name) == "operator")
    ]


def _of_pool(name: str, before: Pool, after: Pool, *, operated: bool) -> Iterator[Disruption]:
    was, will = _layout(before), _layout(after)
    gone = sorted(set(nodes.gpu_resources(before)) - set(nodes.gpu_resources(after)))
    subject, change = f"pool {name}", f"{devices.plan_name(before)} -> {devices.plan_name(after)}"
    if was and not will and not operated:
        # Our MIG manager runs where GPUs are cut; the operator's runs everywhere and falls back to its default layout.
        effect = (
            "nothing joins the GPUs again by itself: drain the nodes and do so first, as docs/guides/devices.md says"
        )
    elif was != will:
        effect = "the MIG manager cuts GPUs that no pod uses: drain the nodes"
    elif bool(_mps(before)) != bool(_mps(after)):
        effect = "the MPS server and processes without it keep each other from a GPU: drain the nodes"
    elif _mps(before) != _mps(after):
        # The servers run in the control daemon's container, which starts anew to read its file.
        effect = "the MPS server starts anew, and what runs under it ends: drain the nodes"
    elif gone:
        effect = f"GPUs of pods that hold {', '.join(gone)} are offered anew while they still run: drain the nodes"
    else:
        return
    yield Disruption(subject, change, effect, drains=True)


def _layout(pool: Pool) -> str:
    return mig.layout_name(pool.plan.mig.profiles) if pool.plan and pool.plan.mig else ""


def _mps(pool: Pool) -> int:
    return pool.plan.mps.replicas if pool.plan and pool.plan.mps else 0
