"""DataLoader's defaults, by hand and in general."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model import dataloader
from model.dataloader import BATCH, PREFETCH, WORKERS

GIB = 2**30


@pytest.mark.parametrize(
    ("cpu", "shared_memory", "gpus", "workers", "prefetch"),
    [
        (96, 512 * GIB, 8, 11, 4),  # 12 cores each, less one
        (8, 32 * GIB, 8, 1, 4),  # never none
        (24, 8 * GIB, 1, 16, 2),  # 32 batches fit, two for each worker
        (24, 16 * GIB, 1, 23, 2),  # 64 batches for 23 workers
        (4, 4 * GIB, 1, 3, 4),  # 16 batches for 3 workers are more than needed
    ],
)
def test_defaults_by_hand(cpu: int, shared_memory: int, gpus: int, workers: int, prefetch: int) -> None:
    found = dataloader.variables(cpu=Decimal(cpu), shared_memory=Decimal(shared_memory), gpus=gpus)
    assert found == {WORKERS: str(workers), PREFETCH: str(prefetch)}


def test_who_has_no_gpu_is_told_nothing() -> None:
    assert dataloader.variables(cpu=Decimal(8), shared_memory=Decimal(GIB), gpus=0) == {}


@given(st.integers(1, 256), st.integers(1, 2048), st.integers(1, 16))
def test_batches_fit_in_shared_memory_and_workers_in_cores(cpu: int, gibibytes: int, gpus: int) -> None:
    found = dataloader.variables(cpu=Decimal(cpu), shared_memory=Decimal(gibibytes * GIB), gpus=gpus)
    workers, prefetch = int(found[WORKERS]), int(found[PREFETCH])
    assert workers == 1 or workers < cpu // gpus
    assert workers == 1 or workers * prefetch * BATCH * gpus <= gibibytes * GIB
