"""What is measured on: one pool of eight-GPU nodes in racks and spines, and queues that are made for questions."""

from typing import Any

NAMESPACE = "bench"
POOL = "train"
GPUS = 8
"""GPUs of a node."""
RACK = 32
"""Nodes of a rack."""
SPINE = 8
"""Racks of a spine."""
GUARANTEED = 4
"""What part of the nodes `red` is guaranteed while others claim: a fourth."""
EVERYTHING, RED, BLUE = "everything", "red", "blue"
"""Queues: one whose limit is all there is, and two without a limit that deserve a half each."""


def document(nodes: int) -> dict[str, Any]:
    """Give the document of an environment with so many GPU nodes.

    Args:
        nodes: GPU nodes, whole racks of them.
    """
    gpus, racks = nodes * GPUS, nodes // RACK
    return {
        "cluster": {"name": "bench", "provider": "existing", "kubernetes": "1.35", "context": "gangline-twin"},
        "pools": {
            "system": {"shape": {"cpu": 16, "memory": "64Gi"}, "size": 3},
            POOL: {
                "server": "dgx-h100",
                "size": nodes,
                "fabric": "infiniband",
                "taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}],
                "domains": {"spine": max(1, racks // SPINE), "rack": racks},
            },
        },
        "topology": {"labels": ["topology.gangline.dev/spine", "topology.gangline.dev/rack"]},
        "queues": {
            "default": {"capability": {"gpu": 0}},
            # At its capability when it is full: what claims there must not wait for nodes that only a claim frees.
            EVERYTHING: {"capability": {"gpu": gpus}},
            RED: {"deserved": {"gpu": gpus // 2}},
            BLUE: {"deserved": {"gpu": gpus // 2}},
        },
        "tenants": {
            NAMESPACE: {"namespaces": [NAMESPACE], "queues": [EVERYTHING, RED, BLUE], "defaultQueue": EVERYTHING}
        },
        # Stock Kubernetes, which is measured beside it, knows no queues to name.
        "policies": {"admission": "none"},
        "monitoring": {"prometheus": {"definitions": "install"}},
        "releases": {
            "volcano": {"source": ".twin/sources/volcano-chart"},
            "kuberay": {"source": ".twin/sources/kuberay-operator"},
            "node-feature-discovery": {"source": ".twin/sources/node-feature-discovery"},
            "prometheus-operator-crds": {"version": "0.85.0", "source": ".twin/sources/prometheus-operator"},
        },
    }
