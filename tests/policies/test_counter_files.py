"""Counters files of the DCGM exporter that somebody wrote by hand, in ConfigMaps and among the values of charts."""

from typing import Any

import pytest

from tests.policies.objects import UNKNOWN, Resource, secret
from twin.policy_pack import PolicyPack

RIGHT = '# mine\nDCGM_FI_DEV_GPU_TEMP, gauge, Temperature\nDCGM_FI_DEV_FB_USED, gauge,"Used, in MiB"\n'
WRONG = {
    "DCGM_FI_DEV_GPU_TEMP, gauge": "line 3: has 2 columns instead of 3",
    "DCGM_FI_DEV_FB_FREE, gauge, Free, in MiB": "line 3: has 4 columns instead of 3",
    "  # DCGM_FI_DEV_GPU_TEMP, gauge, Temperature": "line 3: is a comment only if # is its first character",
    "DCGM_FI_DEV_FB_FREE, guage, Free": "guage: line 3: is no type of metric; gauge",
    "DCGM_FI_DEV_GPU_TMP, gauge, Free": "DCGM_FI_DEV_GPU_TMP: line 3: is no DCGM field",
}


def told(pack: PolicyPack, *resources: Resource) -> list[str]:
    return [verdict.message for verdict in pack.analyze_stack(list(resources)) if verdict.policy == "counter-files"]


def config_map(**files: Any) -> Resource:
    return Resource(
        "kubernetes:core/v1:ConfigMap", {"metadata": {"name": "counters", "namespace": "gpus"}, "data": files}
    )


def release(chart: str, **values: Any) -> Resource:
    return Resource("kubernetes:helm.sh/v3:Release", {"chart": chart, "values": values})


def exporter(**container: Any) -> Resource:
    image = "nvcr.io/nvidia/k8s/dcgm-exporter:4.5.3-4.8.2-distroless"
    spec = {"template": {"spec": {"containers": [{"name": "exporter", "image": image, **container}]}}}
    return Resource("kubernetes:apps/v1:DaemonSet", {"metadata": {"name": "e", "namespace": "gpus"}, "spec": spec})


def test_a_file_that_is_right_passes(pack: PolicyPack):
    assert told(pack, config_map(metrics=RIGHT), exporter(args=["-m", "gpus:counters"])) == []


@pytest.mark.parametrize("line", WRONG)
def test_each_bad_line_is_told_with_its_number(pack: PolicyPack, line: str):
    text = RIGHT.splitlines()[0] + "\nDCGM_FI_DEV_SM_CLOCK, gauge, Clock\n" + line + "\n"
    (message,) = told(pack, config_map(**{"any.csv": text}))
    assert 'data["any.csv"]: ' in message
    assert WRONG[line] in message


@pytest.mark.parametrize(
    "told_by",
    [
        {"args": ["-m", "gpus:counters"]},
        {"args": ["--configmap-data=gpus:counters"]},
        {"env": [{"name": "DCGM_EXPORTER_CONFIGMAP_DATA", "value": "gpus:counters"}]},
    ],
    ids=["option", "long option", "variable"],
)
def test_a_map_that_the_exporter_reads_itself_needs_the_key(pack: PolicyPack, told_by: Any):
    (message,) = told(pack, config_map(counters=RIGHT), exporter(**told_by))
    assert "has no key metrics" in message
    assert "rename counters to metrics" in message
    (message,) = told(pack, config_map(metrics="# later\n"), exporter(**told_by))
    assert "holds no counter" in message
    assert told(pack, config_map(counters=RIGHT), exporter(args=["-f", "/counters"])) == []


def test_values_of_charts_are_read(pack: PolicyPack):
    wrong = "DCGM_FI_DEV_FB_FREE, guage, Free\n"
    (message,) = told(pack, release("dcgm-exporter", customMetrics=wrong))
    assert "values.customMetrics: guage" in message
    (message,) = told(pack, release("gpu-operator", dcgmExporter={"config": {"data": wrong}}))
    assert "values.dcgmExporter.config.data: guage" in message
    assert told(pack, release("other", customMetrics=wrong)) == []


@pytest.mark.parametrize("text", ["a, b, c\n", "DCGM_FI_DEV_GPU_TEMP > 90\n", "expr: max(DCGM_FI_DEV_GPU_TEMP)\n"])
def test_other_files_are_left_alone(pack: PolicyPack, text: str):
    assert told(pack, config_map(metrics=text)) == []


def test_what_is_secret_stays_so(pack: PolicyPack):
    (message,) = told(pack, config_map(a=secret("DCGM_FI_DEV_HIDDEN, gauge, Hidden")))
    assert "[secret]: line 1: " in message
    assert "HIDDEN" not in message


def test_what_is_unknown_is_listed(pack: PolicyPack):
    verdicts = pack.analyze_stack([config_map(a=UNKNOWN)])
    (message,) = (verdict.message for verdict in verdicts if "data.a is not known yet" in verdict.message)
    assert "counter-files" in message
