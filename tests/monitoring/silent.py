"""Situations in which an alert must not be raised."""

from .promtool import POD, Situation, no_xid, node, on_gpu, on_port, xid

SILENT: dict[str, list[Situation]] = {
    "GpuXidFatal": [
        Situation(
            "other kinds", [no_xid(), *(xid(n, "1x5") for n in ("48", "74", "13", "43", "999", "7", "791"))], at=2
        ),
        Situation("long over", [xid("79", "1x5 _x60")], at=55),
    ],
    "GpuXidReset": [
        Situation("other kinds", [no_xid(), *(xid(n, "1x5") for n in ("79", "74", "13", "43", "999"))], at=2)
    ],
    "GpuXidNvlink": [Situation("other kinds", [no_xid(), *(xid(n, "1x5") for n in ("79", "48", "13", "43"))], at=2)],
    "GpuXidApplication": [
        Situation("other kinds", [no_xid(), *(xid(n, "1x5") for n in ("79", "48", "74", "43", "999"))], at=2)
    ],
    "GpuXidOther": [
        Situation(
            "known ones, and none", [no_xid(), *(xid(n, "1x5") for n in ("0", "79", "48", "74", "13", "43"))], at=2
        )
    ],
    "GpuEccDoubleBit": [
        Situation("errors of another day", [on_gpu("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "3x30")], at=20),
        Situation("the driver was loaded again", [on_gpu("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "3x10 0x10")], at=15),
    ],
    "GpuEccSingleBit": [Situation("one a minute", [on_gpu("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "0+1x70")], at=60)],
    "GpuRowRemapFailed": [Situation("none", [on_gpu("DCGM_FI_DEV_ROW_REMAP_FAILURE", "0x5")], at=3)],
    "GpuRowRemapPending": [Situation("none", [on_gpu("DCGM_FI_DEV_ROW_REMAP_PENDING", "0x5")], at=3)],
    "GpuMemoryFull": [
        Situation(
            "nine tenths of a shared GPU, all of a whole one",
            [
                on_gpu("DCGM_FI_DEV_FB_USED", "90000x15", pool="serve"),
                on_gpu("DCGM_FI_DEV_FB_FREE", "10000x15", pool="serve"),
                on_gpu("DCGM_FI_DEV_FB_USED", "79000x15", **POD),
                on_gpu("DCGM_FI_DEV_FB_FREE", "1000x15", **POD),
            ],
            at=12,
        ),
        Situation(
            "for a moment",
            [
                on_gpu("DCGM_FI_DEV_FB_USED", "10000x5 99000x5 10000x10", pool="serve"),
                on_gpu("DCGM_FI_DEV_FB_FREE", "90000x5 1000x5 90000x10", pool="serve"),
            ],
            at=12,
        ),
    ],
    "GpuHot": [
        Situation("at the limit", [on_gpu("DCGM_FI_DEV_GPU_TEMP", "85x10")], at=8),
        Situation("for four minutes", [on_gpu("DCGM_FI_DEV_GPU_TEMP", "80x3 88x4 80x5")], at=7),
    ],
    "GpuTooHot": [Situation("at the limit", [on_gpu("DCGM_FI_DEV_GPU_TEMP", "90x10")], at=8)],
    "GpuMemoryHot": [Situation("at the limit", [on_gpu("DCGM_FI_DEV_MEMORY_TEMP", "95x10")], at=8)],
    "GpuThermalThrottling": [
        Situation("8 % of the time", [on_gpu("DCGM_FI_DEV_THERMAL_VIOLATION", "0+4800000000x30")], at=20),
        Situation("of another day", [on_gpu("DCGM_FI_DEV_THERMAL_VIOLATION", "9000000000000x30")], at=20),
    ],
    "GpuPowerThrottling": [
        Situation("80 % of the time", [on_gpu("DCGM_FI_DEV_POWER_VIOLATION", "0+48000000000x60")], at=50),
    ],
    "GpuPowerBrake": [
        Situation(
            "other reasons",
            [
                on_gpu("DCGM_EXP_CLOCK_EVENTS_COUNT", "9x10", clock_event=reason)
                for reason in ("power_cap", "gpu_idle", "sw_thermal", "hw_thermal", "hw_slowdown")
            ],
            at=8,
        ),
    ],
    "GpuNvlinkErrors": [
        Situation(
            "few checksum errors, and replays of another day",
            [
                on_gpu("DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", "7x10"),
                on_gpu("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", "0+2400x10"),
                on_gpu("DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL", "0+2400x10"),
            ],
            at=8,
        ),
    ],
    "GpuNvlinkRecovery": [
        Situation("of another day", [on_gpu("DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", "2x20")], at=15)
    ],
    "GpuPcieReplays": [Situation("20 a minute", [on_gpu("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "0+20x20")], at=15)],
    "GpuExporterDown": [
        Situation("it answers; another job does not", [node("up", "1x15"), node("up", "0x15", job="other")], at=12),
        Situation("it starts anew", [node("up", "1x5 0x3 1x10")], at=8),
    ],
    "GpuExporterMissing": [
        Situation(
            "all there",
            [
                *(node("up", "1x30", name=f"train-{number}") for number in range(2)),
                node("up", "1x30", pool="serve"),
                node("up", "1x30", pool="slices"),
            ],
            at=20,
        ),
        Situation(
            "a node starts anew",
            [
                node("up", "1x30"),
                node("up", "1x5 0x10 1x30", name="train-1"),
                node("up", "1x30", pool="serve"),
                node("up", "1x30", pool="slices"),
            ],
            at=15,
        ),
    ],
    "GpuMissing": [
        Situation(
            "all eight, cut into instances",
            [
                on_gpu("DCGM_FI_DEV_FB_USED", "1x15", pool="slices", gpu=number, instance=instance)
                for number in range(8)
                for instance in (7, 8)
            ],
            at=12,
        ),
    ],
    "GpuIdle": [
        Situation("it computes", [on_gpu("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "0.06x80", **POD)], at=75),
        Situation(
            "it only came half an hour ago", [on_gpu("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "_x45 0x35", **POD)], at=75
        ),
        Situation("nobody holds it", [on_gpu("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "0x80")], at=75),
    ],
    "RdmaLinkDown": [
        Situation(
            "active, and a port that never was",
            [
                on_port("node_infiniband_state_id", "4x30"),
                on_port("node_infiniband_state_id", "1x30", device="mlx5_9"),
            ],
            at=20,
        ),
        Situation("for a moment", [on_port("node_infiniband_state_id", "4x10 1x3 4x20")], at=14),
    ],
}
