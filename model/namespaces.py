"""Namespaces that this project makes for what it installs. No team has one of them."""

AGENTS = "gangline-system"
"""Node agents, and what Prometheus is told of them."""
VOLCANO = "volcano-system"
"""The batch scheduler."""
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

OURS = (AGENTS, VOLCANO, RAY, GPU_OPERATOR, NETWORK_OPERATOR, JUICEFS, FLUID)
