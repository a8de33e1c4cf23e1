"""Device plans: what the agents of the GPU nodes are told, once per distinct way of sharing.

Source of the configuration's format: https://github.com/NVIDIA/k8s-device-plugin v0.18.0, api/config/v1.
"""

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from . import images, mig, nodes
from .derived import derived
from .sharing import SharingPlan

if TYPE_CHECKING:
    from .environment import Environment
    from .pools import Pool

Strategy = Literal["none", "time-slicing", "mps", "mig"]

CONFIG_LABEL = "nvidia.com/device-plugin.config"
"""The node label by which the GPU operator's device plugin picks a named configuration."""

MPS_ROOT = "/run/nvidia/mps"
"""The folder of the node that the MPS control daemon, the device plugin and the containers share."""

_LONGEST = 32
"""Characters of a plan's name, so that what is called after a plan is still short enough for a label value (63)."""


@dataclass(frozen=True)
class Plan:
    """One way of sharing, and the pools that have it.

    Attributes:
        name: A DNS label such as `whole`, `time-slicing-4`, `mps-8` or `mig-7x1g-10gb`; another for each configuration.
        strategy: How GPUs are shared; `mig` also where instances are time-sliced on top.
        pools: Names of the pools, in the order of the document.
        configuration: The device plugin's configuration file, as a value. GPU feature discovery and the MPS control
            daemon read the same file.
        layout: Name of the layout in the MIG manager's file; None where GPUs are not cut.
        labels: Labels that the nodes need for upstream's own agents: which named configuration, which layout.
        feature_discovery: Whether GPU feature discovery must run.
        mps: Whether the MPS control daemon must run.
    """

    name: str
    strategy: Strategy
    pools: tuple[str, ...]
    configuration: dict[str, Any]
    layout: str | None
    labels: dict[str, str]
    feature_discovery: bool
    mps: bool


@derived
def plans(env: "Environment") -> tuple[Plan, ...]:
    """The plans of all pools whose device plugin is configured here, in the order of the document."""
    pools: dict[str, list[str]] = {}
    for name in images.managed_pools(env):
        pools.setdefault(plan_name(env.pools[name]), []).append(name)
    return tuple(_plan(env.pools[names[0]], name, tuple(names)) for name, names in pools.items())


def plan_name(pool: "Pool") -> str:
    """The name of a pool's plan."""
    sharing = pool.plan
    if sharing is None:
        return "whole"
    words: list[str] = []
    if sharing.mig:
        strategy = ["single"] if sharing.mig.strategy == "single" else []
        words += ["mig", *strategy, mig.layout_name(sharing.mig.profiles)]
    if sharing.time_slicing:
        words += ["time-slicing", str(sharing.time_slicing.replicas)]
    if sharing.mps:
        words += ["mps", str(sharing.mps.replicas)]
    name = "-".join(words)
    told = name.replace(".", "-")
    if len(told) <= _LONGEST:
        return told
    # Cut, with a hash of the whole, so that long names that begin alike stay apart.
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{told[: _LONGEST - 1 - len(digest)].rstrip('-')}-{digest}"


def _plan(pool: "Pool", name: str, pools: tuple[str, ...]) -> Plan:
    sharing = pool.plan
    layout = mig.layout_name(sharing.mig.profiles) if sharing and sharing.mig else None
    labels = {CONFIG_LABEL: name} | ({mig.CONFIG_LABEL: layout} if layout else {})
    return Plan(
        name=name,
        strategy=_strategy(sharing),
        pools=pools,
        configuration=configuration(pool),
        layout=layout,
        labels=labels,
        feature_discovery=sharing is not None,
        mps=sharing is not None and sharing.mps is not None,
    )


def _strategy(sharing: SharingPlan | None) -> Strategy:
    if sharing is None:
        return "none"
    return "mig" if sharing.mig else "mps" if sharing.mps else "time-slicing"


def configuration(pool: "Pool") -> dict[str, Any]:
    """The device plugin's configuration file for the nodes of a pool, as a value.

    Shared GPUs are renamed, and a container gets one slice only: two could be slices of the same GPU, which nobody
    means who asks for two. Both settings stand under the kind of sharing; in `flags` they would be ignored.
    """
    sharing = pool.plan
    flags: dict[str, Any] = {"migStrategy": sharing.mig.strategy if sharing and sharing.mig else "none"}
    found: dict[str, Any] = {"version": "v1", "flags": flags}
    if sharing and sharing.time_slicing:
        found["sharing"] = {"timeSlicing": _replicated(nodes.unshared(pool), sharing.time_slicing.replicas)}
    elif sharing and sharing.mps:
        flags["mpsRoot"] = MPS_ROOT
        found["sharing"] = {"mps": _replicated(nodes.unshared(pool), sharing.mps.replicas)}
    return found


def _replicated(resources: "list[str] | dict[str, int]", replicas: int) -> dict[str, Any]:
    return {
        "renameByDefault": True,
        "failRequestsGreaterThanOne": True,
        "resources": [{"name": name, "replicas": replicas} for name in resources],
    }


@derived
def mig_configuration(env: "Environment") -> dict[str, Any]:
    """The MIG manager's configuration file, as a value: every layout of the document, and one without MIG.

    The latter takes a node out of MIG again. Format: https://github.com/NVIDIA/mig-parted v0.15.0, api/spec/v1.
    """
    configs: dict[str, Any] = {mig.DISABLED: [{"devices": "all", "mig-enabled": False}]}
    for name in images.managed_pools(env):
        sharing = env.pools[name].plan
        if sharing and sharing.mig:
            configs[mig.layout_name(sharing.mig.profiles)] = mig.layout(sharing.mig.profiles)
    return {"version": "v1", "mig-configs": configs}
