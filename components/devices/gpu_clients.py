"""Node agents that hold GPUs open, by the names that the MIG manager knows them by.

While it cuts the GPUs of a node, nobody else may hold them. It says so by labels of the node, waits until the pods
named here are gone, cuts, and says that they may come back. The GPU Operator's agents go by a node selector for these
labels; on a cluster without it nobody would set them, so ours stay away from nodes that say `paused`.
Source: https://github.com/NVIDIA/mig-parted v0.15.0, pkg/mig/reconfigure/reconfigure.go.
"""

from dataclasses import dataclass

PAUSED = "paused-for-mig-change"
"""What the label of a client says while it must stay away."""


@dataclass(frozen=True)
class GpuClient:
    """A node agent that holds GPUs open.

    Attributes:
        deploy: The node label by which the MIG manager sends it away and calls it back.
        app: Value of the label `app` of its pods, by which the MIG manager sees that it is gone.
    """

    deploy: str
    app: str


PLUGIN = GpuClient("nvidia.com/gpu.deploy.device-plugin", "nvidia-device-plugin-daemonset")
FEATURE_DISCOVERY = GpuClient("nvidia.com/gpu.deploy.gpu-feature-discovery", "gpu-feature-discovery")
EXPORTER = GpuClient("nvidia.com/gpu.deploy.dcgm-exporter", "nvidia-dcgm-exporter")
