"""Configuration of the NVIDIA device plugin.

Source of the format: https://github.com/NVIDIA/k8s-device-plugin, api/config/v1.
"""

from typing import TYPE_CHECKING, Any

from . import agents, nodes
from .pools import Pool

if TYPE_CHECKING:
    from .environment import Environment


def configuration_name(pool: Pool) -> str:
    """The name of the configuration of a pool: `whole`, or `time-slicing-<replicas>`."""
    replicas = nodes.replicas(pool)
    return "whole" if replicas == 1 else f"time-slicing-{replicas}"


def device_plugin_configuration(pool: Pool) -> dict[str, Any]:
    """The plugin's configuration file for the nodes of a pool, as a value.

    Shared GPUs are renamed, and a container gets one slice only: two could be slices of the same GPU, which nobody
    means who asks for two.
    """
    configuration: dict[str, Any] = {"version": "v1", "flags": {"migStrategy": "none"}}
    replicas = nodes.replicas(pool)
    if replicas > 1:
        configuration["sharing"] = {
            "timeSlicing": {
                "renameByDefault": True,
                "failRequestsGreaterThanOne": True,
                "resources": [{"name": nodes.GPU, "replicas": replicas}],
            }
        }
    return configuration


def configurations(env: "Environment") -> dict[str, dict[str, Any]]:
    """All configurations that the GPU pools need, by name."""
    pools = (env.pools[name] for name in agents.gpu_pools(env))
    return dict(sorted((configuration_name(pool), device_plugin_configuration(pool)) for pool in pools))
