"""What NVIDIA's GPU Operator is told, so that its nodes offer what the document says.

Source of the values: https://github.com/NVIDIA/gpu-operator v26.7.0, deployments/gpu-operator (values.yaml, templates)
and controllers/object_controls.go.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from . import agents, devices, images, mig, network_operator
from .derived import derived
from .monitoring import counters, exporter
from .monitoring.shape import Dcgm

if TYPE_CHECKING:
    from .environment import Environment
    from .pools import Pool

PRODUCTS = ("gpu-operator", "network-operator")
"""The products of the catalogue that only environments with operators run."""

_WHOLE = "whole"
"""The configuration of nodes that nobody labelled: whole GPUs, so that none is shared by accident."""


@dataclass(frozen=True)
class File:
    """A file that the operator mounts into its agents, in a ConfigMap.

    Attributes:
        role: What it is for; a DNS label.
        name: The ConfigMap's name. It changes with the content: the operator does not watch ConfigMaps, so that only
            a new name reaches the agents.
        data: Its keys.
    """

    role: str
    name: str
    data: Mapping[str, str]


@derived
def products(env: "Environment") -> tuple[str, ...]:
    """The operators that an environment runs: none in `plugins` mode, or where no pool needs them."""
    found = {"gpu-operator": images.operator_pools(env), "network-operator": network_operator.pools(env)}
    return tuple(product for product, pools in found.items() if pools)


@derived
def plugin_file(env: "Environment") -> File:
    """The named configurations of the device plugin, one per sharing plan."""
    named = {plan.name: plan.configuration for plan in devices.plans(env)}
    if len(named) > 1:
        named.setdefault(_WHOLE, {"version": "v1", "flags": {"migStrategy": "none"}})
    return _file("device-plugin", {name: _yaml(configuration) for name, configuration in sorted(named.items())})


@derived
def mig_file(env: "Environment") -> File | None:
    """The layouts of the MIG manager; None where no pool cuts its GPUs."""
    if not any(plan.layout for plan in devices.plans(env)):
        return None
    return _file("mig-manager", {"config.yaml": _yaml(devices.mig_configuration(env))})


@derived
def counters_file(env: "Environment") -> File | None:
    """The counters of the DCGM exporter; None where the document wants no exporter."""
    if not isinstance(env.monitoring.dcgm, Dcgm):
        return None
    return _file("dcgm-exporter", {"dcgm-metrics.csv": counters.counters_file(env)})


def files(env: "Environment") -> tuple[File, ...]:
    """All files that the operator needs."""
    found = (plugin_file(env), mig_file(env), counters_file(env))
    return tuple(file for file in found if file)


def gpu_operator_values(env: "Environment") -> dict[str, Any]:
    """Values of the GPU Operator's chart, but for where the operator itself runs."""
    pools = images.operator_pools(env)
    tolerations = agents.tolerations(env, pools)
    plugin, layouts = plugin_file(env), mig_file(env)
    return {
        # One node feature discovery per cluster, and this project brings it.
        "nfd": {"enabled": False},
        # The namespace is made with its labels; the operator would write them, too.
        "psa": {"enabled": False},
        "cdi": {"enabled": True},
        "operator": {
            # Definitions are this project's, apart from the release.
            "upgradeCRD": False,
            "cleanupCRD": False,
            # The chart's 350Mi are too few for some hundred nodes.
            "resources": {"requests": {"cpu": "200m", "memory": "256Mi"}, "limits": {"cpu": "500m", "memory": "1Gi"}},
        },
        "daemonsets": {
            "tolerations": [{"key": it.key, "operator": "Exists", "effect": it.effect} for it in tolerations],
            # One node at a time would take hours on a large cluster; running workloads keep their devices.
            "rollingUpdate": {"maxUnavailable": "10%"},
        },
        "driver": {
            "enabled": any(images.driver_owner(env, pool) == "operator" for pool in pools),
            # It would evict pods node by node, and each eviction ends a whole gang. A new driver comes with the next
            # start of a node.
            "upgradePolicy": {"autoUpgrade": False},
        },
        "toolkit": {"enabled": any(images.toolkit_owner(env, pool) == "operator" for pool in pools)},
        # Set here, it would beat what the configuration of each plan says.
        "mig": {"strategy": ""},
        "devicePlugin": {
            "enabled": True,
            "config": {"create": False, "name": plugin.name, "default": _default(plugin)},
        },
        "dcgmExporter": _exporter(env),
        "gfd": {"enabled": True},
        "migManager": {
            "enabled": True,
            "config": {"create": False, "name": layouts.name if layouts else "", "default": mig.DISABLED},
        },
    }


def _exporter(env: "Environment") -> dict[str, Any]:
    """The exporter's values. It runs once for all nodes, so it is told of every way in which some pool shares its GPUs.

    Prometheus is pointed at it by this project's own ServiceMonitor, so that series have the same labels in both modes.
    """
    file = counters_file(env)
    if file is None:
        return {"enabled": False}
    pools = images.operator_pools(env)
    return {
        "enabled": True,
        "config": {"name": file.name},
        "env": [{"name": name, "value": value} for name, value in sorted(exporter.variables(env, pools).items())],
        # Only by their processes can time slices of a GPU be told apart.
        "hostPID": any(_sliced(env.pools[pool]) for pool in pools),
        # The usual 512Mi are too few for eight GPUs and the labels of their pods.
        "resources": {"requests": {"cpu": "100m", "memory": "512Mi"}, "limits": {"memory": "1Gi"}},
        "serviceMonitor": {"enabled": False},
    }


def _sliced(pool: "Pool") -> bool:
    return pool.sharing != "none" and pool.sharing.time_slicing is not None


def _default(plugin: File) -> str:
    return next(iter(plugin.data)) if len(plugin.data) == 1 else _WHOLE


def _file(role: str, data: Mapping[str, str]) -> File:
    digest = hashlib.sha256("".join(f"{key} {len(text)}\n{text}" for key, text in data.items()).encode())
    return File(role, f"{role}-{digest.hexdigest()[:8]}", data)


def _yaml(value: Mapping[str, Any]) -> str:
    return yaml.safe_dump(value, sort_keys=False)
