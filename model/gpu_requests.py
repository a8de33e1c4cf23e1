"""What a container may ask for of GPUs, and what it must leave alone where they are shared.

Knows names only, no documents, so that policies judge other people's workloads with it.
"""

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal

GPU = "nvidia.com/gpu"
"""The resource of whole GPUs, and of MIG instances under the strategy `single`."""

SHARED = ".shared"
"""What the name of a shared resource ends with: the device plugin's own word for it, with `renameByDefault`
(https://github.com/NVIDIA/k8s-device-plugin, README, "Shared Access to GPUs")."""

MIG = "nvidia.com/mig-"
"""How the resources of MIG instances begin under the strategy `mixed`."""

SHARED_MEMORY = "/dev/shm"  # noqa: S108  a path in containers
MPS_PIPES = "CUDA_MPS_PIPE_DIRECTORY"
"""The variable by which a process finds the MPS server."""

VISIBLE = "NVIDIA_VISIBLE_DEVICES"
"""The variable by which NVIDIA's runtime hands GPUs over."""
NOTHING_VISIBLE = ("", "void", "none")
"""Values with which it hands over none
(https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html)."""

_NVIDIA = r"nvidia\.com/gpu(\.shared)?|nvidia\.com/mig-.+"
_NAME = re.compile(_NVIDIA)

ANY_MAKERS = rf"{_NVIDIA}|amd\.com/gpu|gpu\.intel\.com/.+"
"""Names of GPUs and of parts of them, also those of other makers' device plugins, as a regular expression that Python
and CEL read alike. Source: ROCm/k8s-device-plugin; intel/intel-device-plugins-for-kubernetes, cmd/gpu_plugin."""
_ANY_MAKERS = re.compile(ANY_MAKERS)


def is_gpu(resource: str) -> bool:
    """Whether a resource is a GPU of NVIDIA's device plugin, or a part of one."""
    return _NAME.fullmatch(resource) is not None


def is_any_gpu(resource: str) -> bool:
    """Whether a resource is a GPU of any maker, or a part of one."""
    return _ANY_MAKERS.fullmatch(resource) is not None


def fault(resource: str, amount: Decimal | int, *, cut: bool = False) -> str | None:
    """What is wrong with how many of a GPU resource one container asks for; None when it may.

    Args:
        resource: Its name.
        amount: How many.
        cut: Whether the resource is one of MIG instances, where its name does not say so (strategy `single`).
    """
    if amount <= 1:
        return None
    if resource.endswith(SHARED):
        return "two slices may be of the same GPU, so a container gets one only"
    if cut or resource.startswith(MIG):
        # https://docs.nvidia.com/datacenter/tesla/mig-user-guide/, "Application Considerations"
        return "a process uses one instance only, and instances reach each other by neither NVLink nor P2P"
    return None


def mps_faults(mounts: Iterable[str], variables: Iterable[str], *, host_ipc: bool) -> Iterator[tuple[str, str]]:
    """What a container on an MPS pool must not have: what it is, and why.

    The device plugin mounts the MPS server's `/dev/shm` and pipes into the container and names the pipes
    (https://github.com/NVIDIA/k8s-device-plugin v0.18.0, internal/plugin/mps.go); with a memory of its own the
    container starts and finds no GPU (issue #805 there).

    Args:
        mounts: Paths at which it mounts volumes.
        variables: Names of the variables that it sets.
        host_ipc: Whether its pod is in the IPC namespace of the node.
    """
    if any(path.rstrip("/") == SHARED_MEMORY for path in mounts):
        yield SHARED_MEMORY, f"{SHARED_MEMORY} must be that of the MPS server, which the device plugin mounts"
    if MPS_PIPES in variables:
        yield MPS_PIPES, "the device plugin says where the pipes of the MPS server are"
    if host_ipc:
        yield "hostIPC", f"brings the node's own {SHARED_MEMORY} in place of that of the MPS server"


def visibility_fault(value: str) -> str | None:
    """What is wrong with a value of `NVIDIA_VISIBLE_DEVICES`; None when it hands over no GPU."""
    return None if value in NOTHING_VISIBLE else "hands over GPUs that the pod was not given"
