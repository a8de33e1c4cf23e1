"""Nodes as real clusters show them, to hold what we say that a node offers against.

What the kubelet reports, word for word, as published by people who ran `kubectl describe node`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class RealNode:
    """A node of somebody's cluster."""

    source: str
    cpu: str
    memory: str
    pods: int
    gpus: int
    replicas: int
    advertised: int
    allocatable_cpu: str
    allocatable_memory: str


REAL_NODES = {
    # 8 x A100 on Amazon Linux 2023, kubelet 1.34.
    "p4d.24xlarge": RealNode(
        source="https://github.com/gnosia93/training-on-eks, kubectl describe node ip-10-0-5-152 (2025-12-18)",
        cpu="96",
        memory="1176300008Ki",
        pods=737,
        gpus=8,
        replicas=1,
        advertised=8,
        allocatable_cpu="95690m",
        allocatable_memory="1167634920Ki",
    ),
    # 1 x A10G on Bottlerocket.
    "g5.8xlarge": RealNode(
        source="https://github.com/aws/aws-k8s-tester/pull/471 (2024-08-29)",
        cpu="32",
        memory="130461372Ki",
        pods=234,
        gpus=1,
        replicas=1,
        advertised=1,
        allocatable_cpu="31850m",
        allocatable_memory="127462076Ki",
    ),
    # 1 GPU in 12 time slices; their name was kept there, the number is the same.
    "time-sliced": RealNode(
        source="https://github.com/NVIDIA/gpu-operator/issues/684 (2024-03-22)",
        cpu="8",
        memory="32386524Ki",
        pods=29,
        gpus=1,
        replicas=12,
        advertised=12,
        allocatable_cpu="7910m",
        allocatable_memory="31696348Ki",
    ),
}

RESERVED_CPU = {
    # Cores and millicores that the kubelet keeps back.
    # 192 cores: https://github.com/pytorch/ci-infra/pull/529, p5.48xlarge "Kubelet reserved: 550m CPU" (2026-05-01).
    192: 550,
    # 4 and 16 cores: https://github.com/2i2c-org/infrastructure/issues/2121 (2023-03-12).
    4: 80,
    16: 110,
    64: 230,
}
