"""Defaults for PyTorch's DataLoader, from the cores and memory that a pod has for each of its GPUs.

Each GPU has a process of its own, with a DataLoader of its own. Its workers are processes, too, which hand batches over
in /dev/shm (https://docs.pytorch.org/docs/stable/data.html, "Multi-process data loading"). `pin_memory=True` puts
batches into page-locked memory of the host, from which the GPU copies by itself; it maps nothing into the GPU's memory.
"""

from collections.abc import Mapping
from decimal import Decimal

from .quantities import MEBIBYTE

BATCH = 256 * MEBIBYTE
"""What one batch is taken to hold: 400 images of 3 x 224 x 224 in float32 are 230 MiB. Tokens are far less."""
USUAL, MOST = 2, 4
"""Batches that a worker prepares ahead: PyTorch's own default, and the number above which they only take memory."""
WORKERS, PREFETCH = "GANGLINE_DATALOADER_WORKERS", "GANGLINE_DATALOADER_PREFETCH"


def variables(*, cpu: Decimal, shared_memory: Decimal, gpus: int) -> Mapping[str, str]:
    """Variables that tell a job `num_workers` and `prefetch_factor`; none without GPUs.

    A core is left for the process itself: PyTorch warns when there are more workers than cores
    (https://github.com/pytorch/pytorch, torch/utils/data/dataloader.py, check_worker_number_rationality). All batches
    that are prepared ahead must fit into the process's part of /dev/shm, or a worker dies with a bus error.

    Args:
        cpu: Cores of the pod.
        shared_memory: Bytes of its /dev/shm.
        gpus: Its GPUs.
    """
    if gpus < 1:
        return {}
    batches = int(shared_memory / gpus // BATCH)
    workers = max(1, min(int(cpu // gpus) - 1, batches // USUAL))
    prefetch = max(USUAL, min(MOST, batches // workers))
    return {WORKERS: str(workers), PREFETCH: str(prefetch)}
