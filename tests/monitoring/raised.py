"""Situations in which an alert must be raised."""

from .promtool import GPU_0, POD, SERVE, Situation, no_xid, node, on_gpu, on_port, pod, where, xid

# What is written as in promtool: `1x5` is six times 1, `0+2x60` grows by 2 each minute, `_` is nothing.
RAISED: dict[str, list[Situation]] = {
    "GpuXidFatal": [
        Situation(
            "a GPU falls off the bus",
            [no_xid("0x4"), xid("79", "_x4 1x5")],
            at=6,
            raised=[(GPU_0 | {"xid": "79"}, f"{where()}: Xid 79")],
        ),
        Situation(
            "the error is out of the exporter's window, and nobody has seen the alert yet",
            [xid("79", "_x4 1x5 _x60")],
            at=25,
            raised=[(GPU_0 | {"xid": "79"}, f"{where()}: Xid 79")],
        ),
        Situation(
            "two pods share the GPU: it is one error",
            [xid("151", "1x5", pool="serve", **POD), xid("151", "1x5", pool="serve", **pod("job-1"))],
            at=2,
            raised=[(SERVE | {"xid": "151"}, f"{where(SERVE)}: Xid 151")],
        ),
    ],
    "GpuXidReset": [
        Situation("48", [xid("48", "1x5")], at=1, raised=[(GPU_0 | {"xid": "48"}, f"{where()}: Xid 48")]),
        Situation("119", [xid("119", "2x5")], at=1, raised=[(GPU_0 | {"xid": "119"}, f"{where()}: Xid 119")]),
    ],
    "GpuXidNvlink": [
        Situation("74", [xid("74", "1x5")], at=1, raised=[(GPU_0 | {"xid": "74"}, f"{where()}: Xid 74")]),
        Situation("150", [xid("150", "1x5")], at=1, raised=[(GPU_0 | {"xid": "150"}, f"{where()}: Xid 150")]),
    ],
    "GpuXidApplication": [
        Situation(
            "a program reads past its memory",
            [xid("31", "1x5", **POD)],
            at=1,
            raised=[(GPU_0 | {"xid": "31", "namespace": "lab", "pod": "job-0"}, f"{where()}: Xid 31 in pod lab/job-0")],
        ),
    ],
    "GpuXidOther": [
        Situation("999", [xid("999", "1x5")], at=1, raised=[(GPU_0 | {"xid": "999"}, f"{where()}: Xid 999")]),
        Situation("4", [xid("4", "1x5")], at=1, raised=[(GPU_0 | {"xid": "4"}, f"{where()}: Xid 4")]),
    ],
    "GpuEccDoubleBit": [
        Situation(
            "the error ends the pod that it hits: the exporter's series is another one from then on",
            [
                on_gpu("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "0x5", **POD),
                on_gpu("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "_x5 1x10"),
            ],
            at=8,
            raised=[(GPU_0, f"{where()}: memory errors that could not be corrected")],
        ),
    ],
    "GpuEccSingleBit": [
        Situation(
            "two a minute",
            [on_gpu("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "0+2x60")],
            at=60,
            raised=[(GPU_0, f"{where()}: 120 corrected memory errors in an hour")],
        ),
    ],
    "GpuRowRemapFailed": [
        Situation(
            "no spare rows",
            [on_gpu("DCGM_FI_DEV_ROW_REMAP_FAILURE", "0x2 1x5")],
            at=3,
            raised=[(GPU_0, f"{where()}: a bad row of memory could not be replaced")],
        ),
    ],
    "GpuRowRemapPending": [
        Situation(
            "a row waits",
            [on_gpu("DCGM_FI_DEV_ROW_REMAP_PENDING", "0x2 1x5")],
            at=3,
            raised=[(GPU_0, f"{where()}: a bad row of memory waits to be replaced")],
        ),
    ],
    "GpuMemoryFull": [
        Situation(
            "two pods fill a time-sliced GPU; each series of a pod says what this pod has",
            [
                on_gpu("DCGM_FI_DEV_FB_USED", "97000x15", pool="serve"),
                on_gpu("DCGM_FI_DEV_FB_USED", "50000x15", pool="serve", **POD),
                on_gpu("DCGM_FI_DEV_FB_USED", "47000x15", pool="serve", **pod("job-1")),
                on_gpu("DCGM_FI_DEV_FB_FREE", "3000x15", pool="serve", **POD),
                on_gpu("DCGM_FI_DEV_FB_FREE", "3000x15", pool="serve", **pod("job-1")),
            ],
            at=12,
            raised=[
                (
                    SERVE,
                    f"{where(SERVE)}: 97 % of the memory that its containers share is in use",
                )
            ],
        ),
    ],
    "GpuHot": [
        Situation(
            "above 85 for five minutes",
            [on_gpu("DCGM_FI_DEV_GPU_TEMP", "86x10")],
            at=6,
            raised=[(GPU_0, f"{where()}: 86 degrees Celsius")],
        ),
    ],
    "GpuTooHot": [
        Situation(
            "above 90 for a minute",
            [on_gpu("DCGM_FI_DEV_GPU_TEMP", "80x5 91x3")],
            at=8,
            raised=[(GPU_0, f"{where()}: 91 degrees Celsius")],
        ),
    ],
    "GpuMemoryHot": [
        Situation(
            "above 95 for five minutes",
            [on_gpu("DCGM_FI_DEV_MEMORY_TEMP", "96x10")],
            at=6,
            raised=[(GPU_0, f"{where()}: memory at 96 degrees Celsius")],
        ),
    ],
    "GpuThermalThrottling": [
        Situation(
            "12 % of the time: 7.2 of 60 seconds, in nanoseconds",
            [on_gpu("DCGM_FI_DEV_THERMAL_VIOLATION", "0+7200000000x30")],
            at=20,
            raised=[(GPU_0, f"{where()}: slowed down because of heat 12 % of the time")],
        ),
    ],
    "GpuPowerThrottling": [
        Situation(
            "95 % of the time",
            [on_gpu("DCGM_FI_DEV_POWER_VIOLATION", "0+57000000000x60")],
            at=50,
            raised=[(GPU_0, f"{where()}: slowed down at its power limit 95 % of the time")],
        ),
    ],
    "GpuPowerBrake": [
        Situation(
            "a power supply fails",
            [on_gpu("DCGM_EXP_CLOCK_EVENTS_COUNT", "3x10", clock_event="hw_power_brake")],
            at=6,
            raised=[(GPU_0, f"{where()}: held at half its clock or less by the server's power supply")],
        ),
    ],
    "GpuNvlinkErrors": [
        Situation(
            "one replay",
            [on_gpu("DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", "0x5 1x10")],
            at=8,
            raised=[(GPU_0, f"{where()}: NVLink transfers fail and are repeated")],
        ),
        Situation(
            "120 checksum errors a second, of both kinds together",
            [
                on_gpu("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", "0+3600x10"),
                on_gpu("DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL", "0+3600x10"),
            ],
            at=8,
            raised=[(GPU_0, f"{where()}: NVLink transfers fail and are repeated")],
        ),
    ],
    "GpuNvlinkRecovery": [
        Situation(
            "one recovery",
            [on_gpu("DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", "0x5 1x10")],
            at=8,
            raised=[(GPU_0, f"{where()}: an NVLink went down and had to be brought up again")],
        ),
    ],
    "GpuPcieReplays": [
        Situation(
            "40 a minute",
            [on_gpu("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "0+40x20")],
            at=15,
            raised=[(GPU_0, f"{where()}: 40 transfers over PCIe per minute are sent again")],
        ),
    ],
    "GpuExporterDown": [
        Situation(
            "an exporter hangs",
            [node("up", "1x5 0x10")],
            at=12,
            raised=[
                (
                    {"job": "dcgm-exporter", "instance": "train-0:9400", "node": "train-0", "pool": "train"},
                    "The DCGM exporter on node train-0 does not answer",
                )
            ],
        ),
    ],
    "GpuExporterMissing": [
        Situation(
            "one of two, none of one, and the pool that may be empty is",
            [node("up", "1x30"), node("up", "0x30", name="train-1"), node("up", "1x30", pool="slices")],
            at=20,
            raised=[
                ({"pool": "train"}, "Only 1 nodes of pool train have a DCGM exporter that answers"),
                ({"pool": "serve"}, "Only 0 nodes of pool serve have a DCGM exporter that answers"),
            ],
        ),
    ],
    "GpuMissing": [
        Situation(
            "seven of eight, each told of by three pods",
            [
                on_gpu("DCGM_FI_DEV_FB_USED", "1x15", pool="serve", gpu=number, **pod(f"job-{holder}"))
                for number in range(7)
                for holder in range(3)
            ],
            at=12,
            raised=[({"pool": "serve", "node": "serve-0"}, "Node serve-0 of pool serve shows only 7 GPUs")],
        ),
    ],
    "GpuIdle": [
        Situation(
            "a pod holds two GPUs for longer than an hour and uses neither, though it did so before",
            [on_gpu("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "0.9x10 0.01x80", gpu=number, **POD) for number in range(2)],
            at=80,
            raised=[
                (
                    {"pool": "train", "namespace": "lab", "pod": "job-0"},
                    "Pod lab/job-0 does not use 2 of the GPUs that it holds",
                )
            ],
        ),
        Situation(
            "two pods share a GPU and none uses it",
            [
                on_gpu("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "0x80", pool="serve", **pod(holder))
                for holder in ("job-0", "job-1")
            ],
            at=70,
            raised=[
                (
                    {"pool": "serve", "namespace": "lab", "pod": holder},
                    f"Pod lab/{holder} does not use 1 of the GPUs that it holds",
                )
                for holder in ("job-0", "job-1")
            ],
        ),
        Situation(
            "one of two MIG instances of a GPU idles",
            [
                on_gpu("DCGM_FI_PROF_GR_ENGINE_ACTIVE", value, pool="slices", instance=number, **pod(holder))
                for number, holder, value in ((7, "job-7", "0x80"), (8, "job-8", "0.5x80"))
            ],
            at=70,
            raised=[
                (
                    {"pool": "slices", "namespace": "lab", "pod": "job-7"},
                    "Pod lab/job-7 does not use 1 of the GPUs that it holds",
                )
            ],
        ),
    ],
    "RdmaLinkDown": [
        Situation(
            "a cable is pulled",
            [on_port("node_infiniband_state_id", "4x10 1x20")],
            at=20,
            raised=[
                (
                    {"job": "node-exporter", "instance": "train-0:9100", "device": "mlx5_0", "port": "1"},
                    "Port 1 of RDMA device mlx5_0 on train-0:9100 is not active",
                )
            ],
        ),
        Situation(
            "a day later it is still down",
            [on_port("node_infiniband_state_id", "4x12 1x140")],
            at=10 * 146,
            step=10,
            raised=[
                (
                    {"job": "node-exporter", "instance": "train-0:9100", "device": "mlx5_0", "port": "1"},
                    "Port 1 of RDMA device mlx5_0 on train-0:9100 is not active",
                )
            ],
        ),
    ],
}
