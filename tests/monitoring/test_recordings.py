"""Every recording rule says what is so."""

from collections.abc import Mapping
from typing import Any

from model.monitoring.recordings import recordings

from .documents import environment
from .promtool import SERVE, Promtool, Sample, Series, on_gpu


def device(activity: str, tensor: str, used: int, free: int, **at: Any) -> list[Series]:
    """What the exporter says of a device, for the pod that holds it if one does."""
    return [
        on_gpu("DCGM_FI_PROF_GR_ENGINE_ACTIVE", f"{activity}x5", **at),
        on_gpu("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", f"{tensor}x5", **at),
        on_gpu("DCGM_FI_DEV_FB_USED", f"{used}x5", **at),
        on_gpu("DCGM_FI_DEV_FB_FREE", f"{free}x5", **at),
    ]


def holder(namespace: str, pod: str, queue: str = "") -> dict[str, Any]:
    labels = {"namespace": namespace, "pod": pod, "container": "main"}
    return labels | ({"volcano_sh_queue_name": queue} if queue else {})


# No mean of more than two: Prometheus adds in any order, and floats of another order are other floats.
CLUSTER = [
    # Whole GPUs: a job that names its queue, and a pod that names none.
    *device("0.75", "0.5", 60, 20, **holder("lab", "job-0", "research.llm")),
    *device("0.25", "0.25", 40, 40, name="train-1", **holder("lab", "notebook")),
    # A pod of no tenant, and a GPU that nobody holds.
    *device("0.5", "0.125", 20, 60, pool="burst", gpu=0, **holder("kube-system", "probe")),
    *device("0", "0", 0, 80, pool="burst", gpu=1),
    # A GPU that two tenants share: all but the memory in use is told of the whole GPU, once per pod.
    *device("0.5", "0.25", 50, 30, pool="serve", **holder("lab", "server-0")),
    *device("0.5", "0.25", 40, 30, pool="serve", **holder("shop", "server-1")),
    on_gpu("DCGM_FI_DEV_FB_USED", "90x5", pool="serve"),
    # A GPU that is cut, with one instance held.
    *device("0.875", "0.5", 5, 5, pool="slices", instance=7, **holder("shop", "model", "production")),
    *device("0", "0", 0, 10, pool="slices", instance=8),
    # A pool that nobody uses.
    *device("0", "0", 0, 80, pool="spare"),
]
ERRORS = {
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": 2,
    "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": 7,
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": 5,
    "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL": 3,
    "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL": 1,
    "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL": 10,
    "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL": 20,
    "DCGM_FI_DEV_THERMAL_VIOLATION": 100,
    "DCGM_FI_DEV_POWER_VIOLATION": 200,
}
COUNTERS = [
    # Told twice, since two pods share the GPU.
    on_gpu(metric, f"{value}x5", pool="serve", **holder("lab", pod))
    for metric, value in ERRORS.items()
    for pod in ("server-0", "server-1")
]


def labelled(key: str, values: Mapping[str, float]) -> list[Sample]:
    return [Sample({key: name}, value) for name, value in values.items()]


def of_devices(values: Mapping[tuple[str, int, int | None], float]) -> list[Sample]:
    found: list[Sample] = []
    for (name, gpu, instance), value in values.items():
        labels = {"pool": name.split("-")[0], "node": name, "gpu": str(gpu), "UUID": f"GPU-{name}-{gpu}"}
        cut = {} if instance is None else {"GPU_I_PROFILE": "1g.10gb", "GPU_I_ID": str(instance)}
        found.append(Sample(labels | {"modelName": "H100"} | cut, value))
    return found


def held(key: str, values: Mapping[tuple[str, str], float]) -> list[Sample]:
    return [Sample({key: name, "pool": pool}, value) for (name, pool), value in values.items()]


def held_devices(key: str, devices: Mapping[str, list[tuple[str, int, int | None]]]) -> list[Sample]:
    return [
        Sample({key: name, **sample.labels}, 1)
        for name, places in devices.items()
        for sample in of_devices(dict.fromkeys(places, 1))
    ]


DEVICES: list[tuple[str, int, int | None]] = [
    ("train-0", 0, None),
    ("train-1", 0, None),
    ("burst-0", 0, None),
    ("burst-0", 1, None),
    ("serve-0", 0, None),
    ("slices-0", 0, 7),
    ("slices-0", 0, 8),
    ("spare-0", 0, None),
]
HELD = [DEVICES[0], DEVICES[1], DEVICES[2], DEVICES[4], DEVICES[5]]
SAYS: dict[str, list[Sample]] = {
    "pool:gpu_nodes:declared": labelled("pool", {"train": 2, "serve": 1, "slices": 1}),
    "pool:gpus_per_node:declared": labelled("pool", {"train": 8, "serve": 8, "slices": 8, "burst": 8}),
    "namespace:tenant:declared": [
        Sample({"namespace": namespace, "tenant": tenant}, 1)
        for namespace, tenant in (("lab", "research"), ("lab-2", "research"), ("shop", "production"))
    ],
    "namespace:queue:declared": [
        Sample({"namespace": namespace, "queue": "research.vision"}, 1) for namespace in ("lab", "lab-2")
    ],
    "queue:devices:declared": labelled("queue", {"research.llm": 8, "research.vision": 4, "production": 56}),
    **{
        f"gpu:{name}:total": [Sample(SERVE, value)]
        for name, value in {
            "ecc_double_bit": 2,
            "ecc_single_bit": 7,
            "pcie_replays": 5,
            "nvlink_replays": 3,
            "nvlink_recoveries": 1,
            "nvlink_crc_errors": 30,
            "slowed_by_heat_nanoseconds": 100,
            "slowed_by_power_nanoseconds": 200,
        }.items()
    },
    "device:activity:ratio": of_devices(dict(zip(DEVICES, (0.75, 0.25, 0.5, 0, 0.5, 0.875, 0, 0), strict=True))),
    "device:tensor_activity:ratio": of_devices(dict(zip(DEVICES, (0.5, 0.25, 0.125, 0, 0.25, 0.5, 0, 0), strict=True))),
    "device:memory_used:ratio": of_devices(dict(zip(DEVICES, (0.75, 0.5, 0.25, 0, 0.75, 0.5, 0, 0), strict=True))),
    "device:held:bool": of_devices(dict.fromkeys(HELD, 1)),
    "pool:devices:count": labelled("pool", {"train": 2, "burst": 2, "serve": 1, "slices": 2, "spare": 1}),
    "pool:devices_held:count": labelled("pool", {"train": 2, "burst": 1, "serve": 1, "slices": 1, "spare": 0}),
    "pool:activity:ratio": labelled("pool", {"train": 0.5, "burst": 0.25, "serve": 0.5, "slices": 0.4375, "spare": 0}),
    "pool:tensor_activity:ratio": labelled(
        "pool", {"train": 0.375, "burst": 0.0625, "serve": 0.25, "slices": 0.25, "spare": 0}
    ),
    "pool:memory_used:ratio": labelled(
        "pool", {"train": 0.625, "burst": 0.125, "serve": 0.75, "slices": 0.25, "spare": 0}
    ),
    "tenant_device:held:bool": held_devices(
        "tenant",
        {
            "research": [("train-0", 0, None), ("train-1", 0, None), ("serve-0", 0, None)],
            "production": [("serve-0", 0, None), ("slices-0", 0, 7)],
        },
    ),
    "tenant:devices_held:count": held(
        "tenant",
        {("research", "train"): 2, ("research", "serve"): 1, ("production", "serve"): 1, ("production", "slices"): 1},
    ),
    "tenant:activity:ratio": held(
        "tenant",
        {
            ("research", "train"): 0.5,
            ("research", "serve"): 0.5,
            ("production", "serve"): 0.5,
            ("production", "slices"): 0.875,
        },
    ),
    "tenant:tensor_activity:ratio": held(
        "tenant",
        {
            ("research", "train"): 0.375,
            ("research", "serve"): 0.25,
            ("production", "serve"): 0.25,
            ("production", "slices"): 0.5,
        },
    ),
    "tenant:memory_used:ratio": held(
        "tenant",
        {
            ("research", "train"): 0.625,
            ("research", "serve"): 0.75,
            ("production", "serve"): 0.75,
            ("production", "slices"): 0.5,
        },
    ),
    # Of pods that share a GPU the exporter tells no labels: their queue is not known, and not guessed.
    "queue_device:held:bool": held_devices(
        "queue",
        {
            "research.llm": [("train-0", 0, None)],
            "research.vision": [("train-1", 0, None)],
            "production": [("slices-0", 0, 7)],
        },
    ),
    **{
        f"queue:{measure}": held(
            "queue",
            {
                ("research.llm", "train"): llm,
                ("research.vision", "train"): vision,
                ("production", "slices"): production,
            },
        )
        for measure, llm, vision, production in (
            ("devices_held:count", 1, 1, 1),
            ("activity:ratio", 0.75, 0.25, 0.875),
            ("tensor_activity:ratio", 0.5, 0.25, 0.5),
            ("memory_used:ratio", 0.75, 0.5, 0.5),
        )
    },
}


def test_every_recording_is_tried() -> None:
    assert set(SAYS) == {recording.name for recording in recordings(environment())}


def test_recordings_say_what_is_so(promtool: Promtool) -> None:
    assert promtool.values([*CLUSTER, *COUNTERS], SAYS, at=4) == ""
