"""What a container may ask for of GPUs, and what it must leave alone on a pool that shares them."""

import pytest

from model import gpu_requests


@pytest.mark.parametrize(
    ("resource", "yes"),
    [
        ("nvidia.com/gpu", True),
        ("nvidia.com/gpu.shared", True),
        ("nvidia.com/mig-1g.10gb", True),
        ("nvidia.com/mig-1g.10gb.me", True),
        ("nvidia.com/mig-1g.10gb.shared", True),
        ("nvidia.com/gpus", False),
        ("nvidia.com/gpu.memory", False),
        ("nvidia.com/mig-", False),
        ("amd.com/gpu", False),
        ("rdma/ib", False),
    ],
)
def test_resources_that_are_gpus(resource: str, yes: bool):
    assert gpu_requests.is_gpu(resource) is yes


@pytest.mark.parametrize(
    ("resource", "amount", "cut", "told"),
    [
        ("nvidia.com/gpu.shared", 2, False, "may be of the same GPU"),
        ("nvidia.com/mig-1g.10gb.shared", 2, True, "may be of the same GPU"),
        ("nvidia.com/mig-3g.40gb", 2, True, "one instance only"),
        ("nvidia.com/mig-3g.40gb", 8, False, "one instance only"),
        ("nvidia.com/gpu", 2, True, "one instance only"),
    ],
)
def test_one_part_per_container(resource: str, amount: int, cut: bool, told: str):
    assert told in (gpu_requests.fault(resource, amount, cut=cut) or "")
    assert gpu_requests.fault(resource, 1, cut=cut) is None


def test_whole_gpus_are_asked_for_in_any_number():
    assert gpu_requests.fault("nvidia.com/gpu", 8) is None


@pytest.mark.parametrize(
    ("mounts", "variables", "host_ipc", "found"),
    [
        (["/dev/shm"], [], False, ["/dev/shm"]),
        (["/data", "/dev/shm/"], ["NCCL_DEBUG"], False, ["/dev/shm"]),
        ([], [], True, ["hostIPC"]),
        ([], ["CUDA_MPS_PIPE_DIRECTORY"], False, ["CUDA_MPS_PIPE_DIRECTORY"]),
        (["/dev/shm"], ["CUDA_MPS_PIPE_DIRECTORY"], True, ["/dev/shm", "CUDA_MPS_PIPE_DIRECTORY", "hostIPC"]),
        (["/dev/shm2", "/data/dev/shm", "/dev"], ["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"], False, []),
    ],
)
def test_what_must_be_left_to_the_mps_server(mounts: list[str], variables: list[str], host_ipc: bool, found: list[str]):
    assert [what for what, _ in gpu_requests.mps_faults(mounts, variables, host_ipc=host_ipc)] == found
