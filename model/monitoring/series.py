"""The series that rules and dashboards speak of: their labels, and whose they are."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from model.scheduler import Kind
from model.submission import POD_LABELS

GPU = "pool, node, gpu, UUID, modelName"
"""Labels of a GPU. The exporter repeats what it knows of a whole GPU for each pod that shares it and for each MIG
instance, so whoever counts GPUs asks for the maximum by these first."""
DEVICE = f"{GPU}, GPU_I_ID, GPU_I_PROFILE"
"""Labels of what a container gets: a GPU, or an instance of one under MIG."""
HELD = 'pod!=""'
"""Matches the series of devices that a pod holds: a device that nobody holds has no pod."""
QUEUES: Mapping[Kind, str] = {kind: re.sub(r"\W", "_", label) for kind, label in POD_LABELS.items()}
"""The pod's label with its queue, by scheduler, as the exporter writes it. Where pods share a GPU the exporter leaves
labels of pods out (https://github.com/NVIDIA/dcgm-exporter, internal/pkg/transformation/kubernetes.go)."""

OTHERS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "Prometheus": frozenset({"up", "ALERTS"}),
        # https://github.com/prometheus/node_exporter, collector/infiniband_linux.go, which is on by default
        "node-exporter": frozenset({"node_infiniband_state_id"}),
    }
)
"""Metrics that are not the DCGM exporter's, by who gives them."""

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_LABELS = re.compile(r"\{[^}]*\}|\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)")
_RANGE = re.compile(r"\[[^]]*\]|\boffset\s+\w+")
_NAME = re.compile(r"(?<![\w:.])([a-zA-Z_:][\w:]*)(?!\s*\(|[\w:])")
_WORDS = {"and", "or", "unless", "bool", "by", "without", "on", "ignoring", "group_left", "group_right", "inf", "nan"}


def metrics(expression: str) -> frozenset[str]:
    """The metrics that an expression in PromQL asks for."""
    for noise in (_STRING, _LABELS, _RANGE):
        expression = noise.sub(" ", expression)
    return frozenset(name for name in _NAME.findall(expression) if name.lower() not in _WORDS)
