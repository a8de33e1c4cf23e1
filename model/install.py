"""How what GPUs need is installed on the nodes."""

from typing import ClassVar, Literal

from .base import Declared


class Devices(Declared):
    """Who brings the node agents of GPUs and of their network."""

    synonyms: ClassVar = {"mode": "install"}

    install: Literal["plugins", "operator"] = "plugins"
    """`plugins`: the device plugin and the other agents, each as a DaemonSet of its own; the nodes' image brings driver
    and container toolkit. `operator`: NVIDIA's GPU Operator and network operator, by their charts, which also bring
    driver and container toolkit where the image does not."""
