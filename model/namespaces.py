"""Namespaces of the system: Kubernetes' own and those that this project makes for what it installs. No team has one."""

from collections.abc import Collection

AGENTS = "gangline-system"
"""Node agents, and what Prometheus is told of them."""
VOLCANO = "volcano-system"
"""The batch scheduler."""
KUEUE = "kueue-system"
"""Kueue, where that is the scheduler."""
JOBSET = "jobset-system"
"""The controller of JobSets. Its own code knows no other name."""
KAI = "kai-scheduler"
"""KAI, where that is the scheduler."""
RAY = "kuberay-system"
"""Ray's operator."""
GPU_OPERATOR = "gpu-operator"
"""NVIDIA's GPU Operator, and all that it deploys."""
NETWORK_OPERATOR = "network-operator"
"""NVIDIA's network operator, and all that it deploys."""
JUICEFS = "juicefs-system"
"""JuiceFS's driver, and its mounts."""
FLUID = "fluid-system"
"""Fluid: the name is fixed in its chart."""

OURS = (AGENTS, VOLCANO, KUEUE, JOBSET, KAI, RAY, GPU_OPERATOR, NETWORK_OPERATOR, JUICEFS, FLUID)
_RESERVED = "kube-"
"""How Kubernetes' own begin (https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/)."""


def of_system(name: str, named: Collection[str] = ()) -> bool:
    """Whether a namespace is of the system, or one of those that the document names beside it."""
    return name.startswith(_RESERVED) or name in OURS or name in named
