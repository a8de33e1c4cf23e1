"""Nodes as real clusters show them, to hold what we say that a node offers against.

What the kubelet reports, word for word, as published by people who ran `kubectl describe node`.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RealNode:
    """A node of somebody's cluster."""

    source: str
    cpu: str
    memory: str
    pods: int
    gpus: int
    sharing: Any
    advertised: dict[str, int]
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
        sharing="none",
        advertised={"nvidia.com/gpu": 8},
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
        sharing="none",
        advertised={"nvidia.com/gpu": 1},
        allocatable_cpu="31850m",
        allocatable_memory="127462076Ki",
    ),
    # 1 GPU in 12 time slices; its name was kept there, which is `gpu.shared` here. The number is the same.
    "time-sliced": RealNode(
        source="https://github.com/NVIDIA/gpu-operator/issues/684 (2024-03-22)",
        cpu="8",
        memory="32386524Ki",
        pods=29,
        gpus=1,
        sharing={"timeSlicing": {"replicas": 12}},
        advertised={"nvidia.com/gpu.shared": 12},
        allocatable_cpu="7910m",
        allocatable_memory="31696348Ki",
    ),
    # 8 x H100 on Bottlerocket, each cut into 4 instances of 1g.20gb that are time-sliced by 4.
    "cut-and-time-sliced": RealNode(
        source="https://github.com/bottlerocket-os/bottlerocket/pull/4418 (MIG + Time-slicing)",
        cpu="192",
        memory="2097096404Ki",
        pods=100,
        gpus=8,
        sharing={"mig": {"profiles": {"1g.20gb": 4}, "strategy": "single"}, "timeSlicing": {"replicas": 4}},
        advertised={"nvidia.com/gpu.shared": 128},
        allocatable_cpu="191450m",
        allocatable_memory="2095606484Ki",
    ),
}


@dataclass(frozen=True)
class Labelled:
    """A node's labels as GPU feature discovery wrote them; those of versions, names and engines are left out."""

    source: str
    gpu: str
    gpus: int
    sharing: Any
    labels: dict[str, str]


LABELLED = {
    "8 x H100": Labelled(
        source="https://github.com/NVIDIA/k8s-device-plugin/issues/1501 (2025-11-12)",
        gpu="h100-sxm-80gb",
        gpus=8,
        sharing="none",
        labels={
            "nvidia.com/gpu.count": "8",
            "nvidia.com/gpu.family": "hopper",
            "nvidia.com/gpu.memory": "81559",
            "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
            "nvidia.com/gpu.replicas": "1",
            "nvidia.com/mig.capable": "true",
        },
    ),
    "H100 PCIe": Labelled(
        source="https://github.com/kubeai-project/kubeai, docs (2024-10-06)",
        gpu="h100-pcie-80gb",
        gpus=1,
        sharing="none",
        labels={
            "nvidia.com/gpu.compute.major": "9",
            "nvidia.com/gpu.compute.minor": "0",
            "nvidia.com/gpu.count": "1",
            "nvidia.com/gpu.family": "hopper",
            "nvidia.com/gpu.memory": "81559",
            "nvidia.com/gpu.product": "NVIDIA-H100-PCIe",
            "nvidia.com/gpu.replicas": "1",
            "nvidia.com/gpu.sharing-strategy": "none",
            "nvidia.com/mig.capable": "true",
            "nvidia.com/mps.capable": "false",
        },
    ),
    "8 x V100": Labelled(
        source="https://github.com/NVIDIA/k8s-device-plugin/pull/503 (2024-02-06)",
        gpu="v100-sxm-16gb",
        gpus=8,
        sharing="none",
        labels={
            "nvidia.com/gpu.compute.major": "7",
            "nvidia.com/gpu.compute.minor": "0",
            "nvidia.com/gpu.count": "8",
            "nvidia.com/gpu.family": "volta",
            "nvidia.com/gpu.memory": "16384",
            "nvidia.com/gpu.replicas": "1",
            "nvidia.com/gpu.sharing-strategy": "none",
            "nvidia.com/mig.capable": "false",
        },
    ),
    "4 x A100, uncut profile": Labelled(
        source="https://github.com/prem-research/prem-operator/issues/39 (2024-05-24)",
        gpu="a100-sxm-40gb",
        gpus=4,
        sharing={"mig": {"profiles": {"7g.40gb": 1}}},
        labels={
            "nvidia.com/mig-7g.40gb.count": "4",
            "nvidia.com/mig-7g.40gb.product": "NVIDIA-A100-SXM4-40GB-MIG-7g.40gb",
            "nvidia.com/mig-7g.40gb.replicas": "1",
        },
    ),
    "2 x A100, balanced": Labelled(
        source="https://github.com/Mellanox/network-operator/issues/211",
        gpu="a100-pcie-40gb",
        gpus=2,
        sharing={"mig": {"profiles": {"1g.5gb": 2, "2g.10gb": 1, "3g.20gb": 1}}},
        labels={
            "nvidia.com/gpu.family": "ampere",
            "nvidia.com/mig-1g.5gb.count": "4",
            "nvidia.com/mig-1g.5gb.slices.ci": "1",
            "nvidia.com/mig-1g.5gb.slices.gi": "1",
            "nvidia.com/mig-2g.10gb.count": "2",
        },
    ),
    "8 x A100, all 3g": Labelled(
        source="https://github.com/NVIDIA/gpu-feature-discovery/issues/7 (8 GPUs; the name as it is since then)",
        gpu="a100-sxm-40gb",
        gpus=8,
        sharing={"mig": {"profiles": {"3g.20gb": 2}}},
        labels={
            "nvidia.com/mig-3g.20gb.count": "16",
            "nvidia.com/mig-3g.20gb.slices.ci": "3",
            "nvidia.com/mig-3g.20gb.slices.gi": "3",
            "nvidia.com/mig.strategy": "mixed",
        },
    ),
    "A30 in MIG mode": Labelled(
        source="https://github.com/NVIDIA/gpu-operator/issues/442 (2022-11-14)",
        gpu="a30",
        gpus=1,
        sharing={"mig": {"profiles": {"1g.6gb": 4}}},
        labels={
            "nvidia.com/gpu.family": "ampere",
            "nvidia.com/gpu.memory": "24576",
            "nvidia.com/gpu.product": "NVIDIA-A30",
            "nvidia.com/gpu.replicas": "0",
            "nvidia.com/mig.capable": "true",
        },
    ),
    "A100, single": Labelled(
        source="https://github.com/NVIDIA/gpu-operator/issues/981",
        gpu="a100-pcie-40gb",
        gpus=2,
        sharing={"mig": {"profiles": {"1g.5gb": 7}, "strategy": "single"}},
        labels={
            "nvidia.com/gpu.family": "ampere",
            "nvidia.com/gpu.sharing-strategy": "none",
            "nvidia.com/mig.capable": "true",
        },
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


# What nodes of EC2 show as the memory of their machine, in KiB, by instance type: never less than we count on.
REAL_MEMORY_ON_EC2 = {
    "p4d.24xlarge": (1176300008, "https://github.com/gnosia93/training-on-eks, kubectl describe node (2025-12-18)"),
    "g5.8xlarge": (130461372, "https://github.com/aws/aws-k8s-tester/pull/471 (2024-08-29)"),
    "p5.48xlarge": (2097096404, "https://github.com/bottlerocket-os/bottlerocket/pull/4418"),
}
