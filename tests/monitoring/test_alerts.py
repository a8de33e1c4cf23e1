"""Every alert is raised when it should be, and silent when it should be."""

import pytest

from model.monitoring.alerts import alerts
from model.monitoring.dashboards import dashboards

from .documents import environment
from .promtool import POD, XID, Promtool, node, on_gpu, on_port
from .raised import RAISED
from .silent import SILENT

ALERTS = {alert.name: alert for alert in alerts(environment())}


def test_promtool_finds_nothing_wrong_with_the_rules(promtool: Promtool) -> None:
    assert promtool.check() == ""


def test_promtool_can_read_every_panel(promtool: Promtool) -> None:
    panels = [
        query for board in dashboards(environment()) for panel in board.panels for query in panel.queries.values()
    ]
    assert promtool.parse(panels) == ""
    assert promtool.parse([*panels, "sum by (pool (up)"]) != ""


def test_every_alert_is_tried_both_ways() -> None:
    assert set(RAISED) == set(SILENT) == set(ALERTS)
    assert all(situation.raised for situations in RAISED.values() for situation in situations)
    assert not any(situation.raised for situations in SILENT.values() for situation in situations)


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert(promtool: Promtool, name: str) -> None:
    assert promtool.judge(ALERTS[name], [*RAISED[name], *SILENT[name]]) == ""


def test_a_sound_cluster_raises_nothing(promtool: Promtool) -> None:
    busy: list[dict[str, str]] = []
    for pool, count in (("train", 2), ("serve", 1), ("slices", 1)):
        for number in range(count):
            busy.append(node("up", "1x90", pool=pool, name=f"{pool}-{number}"))
            for gpu in range(8):
                at = {"pool": pool, "name": f"{pool}-{number}", "gpu": gpu, **POD}
                busy += [on_gpu(metric, values, **at) for metric, values in SOUND.items()]
                busy.append(on_gpu(XID, "0x90", **at))
    busy.append(on_port("node_infiniband_state_id", "4x90"))
    assert promtool.all_silent(ALERTS.values(), busy, at=80) == ""


SOUND = {
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": "0.9x90",
    "DCGM_FI_DEV_GPU_TEMP": "65x90",
    "DCGM_FI_DEV_MEMORY_TEMP": "75x90",
    "DCGM_FI_DEV_FB_USED": "60000x90",
    "DCGM_FI_DEV_FB_FREE": "20000x90",
    "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": "3x90",
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": "1x90",
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": "0x90",
    "DCGM_FI_DEV_ROW_REMAP_PENDING": "0x90",
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": "0+1x90",
    "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL": "0x90",
    "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL": "0x90",
    "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL": "0+10x90",
    "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL": "0+10x90",
    "DCGM_FI_DEV_THERMAL_VIOLATION": "0+1000000x90",
    "DCGM_FI_DEV_POWER_VIOLATION": "0+9000000000x90",
}
