"""All rules of the pack, in the order of the reference."""

from policies.counter_files import counter_files
from policies.device_plugins import device_plugins
from policies.gpu_parts import gpu_parts, mps_pods
from policies.gpu_visibility import gpu_visibility
from policies.images import image_version
from policies.nccl_variables import nccl_variables
from policies.plugin_files import plugin_files
from policies.privileges import privileged
from policies.queues import queue_exists, queue_sums
from policies.rules import PodRule, StackRule
from policies.workloads import gpu_limits, gpu_queue

RULES: tuple[PodRule | StackRule, ...] = (
    gpu_limits,
    gpu_parts,
    mps_pods,
    device_plugins,
    gpu_visibility,
    plugin_files,
    counter_files,
    gpu_queue,
    queue_exists,
    queue_sums,
    nccl_variables,
    image_version,
    privileged,
)
