"""What NVIDIA's network operator is told, so that nodes with RDMA offer what the document says.

Source: https://github.com/Mellanox/network-operator v26.4.1, deployment/network-operator (values.yaml, crds) and
manifests/state-rdma-shared-device-plugin.
"""

import json
from typing import TYPE_CHECKING, Any

from . import agents, nodes, rdma
from .derived import derived
from .releases import Upstream

if TYPE_CHECKING:
    from .environment import Environment

POLICY = "nic-cluster-policy"
"""The one name of a policy that the operator heeds."""

_SECTIONS = {"rdma-shared": "rdmaSharedDevicePlugin", "sriov": "sriovDevicePlugin"}


@derived
def pools(env: "Environment") -> tuple[str, ...]:
    """Pools whose device plugin for RDMA is the network operator's: ConnectX NICs, in `operator` mode."""
    if env.devices.install == "plugins":
        return ()
    return tuple(name for name, pool in env.pools.items() if rdma.plugin(pool) in _SECTIONS)


def values() -> dict[str, Any]:
    """Values of the network operator's chart, but for where the operator itself runs."""
    return {
        # One node feature discovery per cluster, and this project brings it; its rule for NICs is the operator's.
        "nfd": {"enabled": False, "deployNodeFeatureRules": True},
        # Definitions are this project's, apart from the release.
        "upgradeCRDs": False,
        # The chart's 128Mi are too few for some hundred nodes.
        "operator": {
            "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"cpu": "500m", "memory": "512Mi"}}
        },
    }


def policy(env: "Environment", upstream: Upstream) -> dict[str, Any]:
    """The specification of the one NicClusterPolicy: which device plugins, with which configuration, on which nodes.

    The driver of the NICs is the image's: the operator's own would unload it under whatever uses the network.
    """
    reached = pools(env)
    selected = {"key": nodes.POOL_LABEL, "operator": "In", "values": list(reached)}
    return {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [selected]}]}
        },
        "tolerations": [
            {"key": it.key, "operator": "Exists", "effect": it.effect} for it in agents.tolerations(env, reached)
        ],
        **{
            _SECTIONS[plugin]: {**_image(upstream.images[plugin]), "config": _text(rdma.configuration(plugin, entries))}
            for plugin, entries in rdma.operator_entries(env).items()
        },
    }


def _image(reference: str) -> dict[str, str]:
    place, _, version = reference.rpartition(":")
    repository, _, image = place.rpartition("/")
    return {"repository": repository, "image": image, "version": version}


def _text(configuration: dict[str, Any]) -> str:
    """A configuration in one line: the operator pastes it between quotes."""
    return json.dumps(configuration, sort_keys=True)
