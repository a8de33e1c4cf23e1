"""Counters files of the DCGM exporter. Further cases: test_counter_files.py."""

from typing import Any

from tests.policies.objects import UNKNOWN, Breaks, Passes, Resource, Unknowns

RIGHT = "DCGM_FI_DEV_GPU_TEMP, gauge, Temperature\n"
WRONG = RIGHT + "DCGM_FI_DEV_FB_FREE, guage, Free\n"


def config_map(**files: Any) -> Resource:
    return Resource("kubernetes:core/v1:ConfigMap", {"data": files})


def release(chart: str, **values: Any) -> Resource:
    return Resource("kubernetes:helm.sh/v3:Release", {"chart": chart, "values": values})


BREAKS: Breaks = {
    "counter-files": [
        (config_map(any=WRONG), "data.any: guage: line 2: is no type of metric"),
        (release("dcgm-exporter", customMetrics=WRONG), "values.customMetrics: guage"),
        (
            Resource("kubernetes:helm.sh/v4:Chart", release("dcgm-exporter", customMetrics=WRONG).inputs),
            "values.customMetrics: guage",
        ),
        (release("gpu-operator", dcgmExporter={"config": {"data": WRONG}}), "values.dcgmExporter.config.data: guage"),
    ]
}

PASSES: Passes = {
    "counter-files": [config_map(any=RIGHT), config_map(any="a, b, c\n"), release("other", customMetrics=WRONG)]
}

UNKNOWNS: Unknowns = {
    "counter-files": [
        (config_map(any=UNKNOWN), "data.any"),
        (release("dcgm-exporter", customMetrics=UNKNOWN), "values.customMetrics"),
    ]
}
