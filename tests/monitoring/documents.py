"""Documents that bring about every rule there is."""

from functools import cache
from typing import Any

from model import document
from model.environment import Environment

_MACHINE = {"cpu": 64, "memory": "512Gi"}
VALUE: dict[str, Any] = {
    "cluster": {"name": "rules", "provider": "existing", "kubernetes": "1.35", "context": "rules"},
    "pools": {
        "system": {"shape": _MACHINE, "size": 3},
        "train": {"server": "dgx-h100", "size": 2, "fabric": "infiniband"},
        "serve": {"server": "dgx-a100", "size": 1, "sharing": {"timeSlicing": {"replicas": 4}}},
        "slices": {"server": "dgx-h100", "size": 1, "sharing": {"mig": {"profiles": {"1g.10gb": 7}}}},
        "burst": {"server": "dgx-h100", "size": {"min": 0, "max": 4}},
    },
    "queues": {
        "research": {
            "deserved": {"cpu": 100, "memory": "1Ti", "gpu": 12},
            "capability": {"gpu": 16, "nvidia.com/gpu.shared": 32, "nvidia.com/mig-1g.10gb": 56},
            "queues": {
                "llm": {"deserved": {"cpu": 80, "memory": "1000Gi", "gpu": 8}},
                "vision": {"deserved": {"cpu": 20, "memory": "24Gi", "gpu": 4}},
            },
        },
        "production": {
            "deserved": {"nvidia.com/mig-1g.10gb": 56},
            "capability": {"gpu": 0, "nvidia.com/gpu.shared": 32, "nvidia.com/mig-1g.10gb": 56},
        },
    },
    "tenants": {
        "research": {"namespaces": ["lab", "lab-2"], "queues": ["research"], "defaultQueue": "research.vision"},
        "production": {"namespaces": ["shop"], "queues": ["production"]},
    },
}


@cache
def environment() -> Environment:
    """Pools of every kind, one of them over InfiniBand, two tenants and three leaf queues."""
    return document.load(VALUE)
