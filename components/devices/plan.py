"""What the agents of a sharing plan have in common: its file, what they see of GPUs, the folder of MPS.

Source: https://github.com/NVIDIA/k8s-device-plugin v0.20.0, deployments/helm/nvidia-device-plugin/templates.
"""

from pulumi_kubernetes.core.v1 import EnvVarArgs, SecurityContextArgs, VolumeArgs, VolumeMountArgs

from components.devices.agent import administering, host_path, restricted
from model.devices import MPS_ROOT, Plan

FILE = "config.yaml"
_CONFIG = "/config"

CONFIG_MOUNT = VolumeMountArgs(name="config", mount_path=_CONFIG, read_only=True)
"""Where the agents find the plan's file; the volume is called `config`."""

MPS_MOUNTS = (
    VolumeMountArgs(name="mps-root", mount_path="/mps"),
    VolumeMountArgs(name="mps-shm", mount_path="/dev/shm"),  # noqa: S108
)
"""The folder and the shared memory of the MPS control daemon, where its programs look for them."""


def mps_volumes() -> tuple[VolumeArgs, ...]:
    """Give the volumes of `MPS_MOUNTS`."""
    # The daemon mounts the shared memory there, so there may be nothing yet that could be checked.
    return host_path("mps-root", MPS_ROOT, "DirectoryOrCreate"), host_path("mps-shm", f"{MPS_ROOT}/shm")


def variables(plan: Plan, **more: str) -> list[EnvVarArgs]:
    """Give the environment of an agent that reads the plan's file.

    Nothing in it says what the file says: a variable would win over the file.
    """
    seen = {
        "CONFIG_FILE": f"{_CONFIG}/{FILE}",
        # It asks for no GPU, so the container runtime would hide them all from it.
        "NVIDIA_VISIBLE_DEVICES": "all",
        "NVIDIA_DRIVER_CAPABILITIES": "compute,utility",
    }
    if plan.layout:
        seen["NVIDIA_MIG_MONITOR_DEVICES"] = "all"
    return [EnvVarArgs(name=name, value=value) for name, value in {**seen, **more}.items()]


def privileges(plan: Plan) -> SecurityContextArgs:
    """Give the least with which an agent sees all that there is of GPUs: how they are cut is for administrators."""
    return administering() if plan.layout else restricted(root=True)
