"""Files of the device plugin that somebody wrote by hand, in ConfigMaps and among the values of charts."""

from typing import Any

import pytest
import yaml

from tests.model.plugin_files import FILES, MISTAKES, Mistake
from tests.policies.objects import UNKNOWN, Resource, secret
from twin.policy_pack import PolicyPack


def told(pack: PolicyPack, *resources: Resource) -> list[str]:
    return [verdict.message for verdict in pack.analyze_stack(list(resources)) if verdict.policy == "plugin-files"]


def config_map(**files: Any) -> Resource:
    return Resource("kubernetes:core/v1:ConfigMap", {"data": files})


def release(chart: str, **values: Any) -> Resource:
    return Resource("kubernetes:helm.sh/v3:Release", {"chart": chart, "values": values})


RIGHT = {name: yaml.safe_dump(file) for name, file in FILES.items()}


def test_files_that_are_right_pass(pack: PolicyPack):
    assert (
        told(pack, config_map(**RIGHT), release("nvidia-device-plugin", config={"map": RIGHT, "default": "mps"})) == []
    )


@pytest.mark.parametrize("mistake", [it for it in MISTAKES if it.name != "another version"], ids=lambda it: it.name)
def test_each_mistake_is_told_at_its_place(pack: PolicyPack, mistake: Mistake):
    (message,) = told(pack, config_map(**{"any.yaml": yaml.safe_dump(mistake.value)}))
    assert f'data["any.yaml"]: {mistake.at}: ' in message
    assert mistake.said in message


def test_values_of_charts_are_read(pack: PolicyPack):
    wrong = RIGHT["slices"].replace("failRequestsGreaterThanOne", "failRequests")
    (message,) = told(
        pack, release("oci://registry.example.com/charts/nvidia-device-plugin", config={"map": {"a": wrong}})
    )
    assert "values.config.map.a: sharing.timeSlicing.failRequests: " in message
    (message,) = told(pack, release("gpu-operator", devicePlugin={"config": {"data": {"a": wrong}}}))
    assert "values.devicePlugin.config.data.a: " in message
    assert told(pack, release("other", config={"map": {"a": wrong}})) == []


def test_several_files_need_a_default_that_is_one_of_them(pack: PolicyPack):
    (message,) = told(pack, release("nvidia-device-plugin", config={"map": RIGHT}))
    assert "values.config.default: says not which of the files is meant: instances, mps, slices, whole" in message
    (message,) = told(pack, release("nvidia-device-plugin", config={"map": RIGHT, "default": "wohle"}))
    assert "wohle is none of the files" in message
    assert told(pack, release("nvidia-device-plugin", config={"map": {"only": RIGHT["whole"]}})) == []


@pytest.mark.parametrize(
    "text",
    [
        "version: v1\nmig-configs: {all-disabled: [{devices: all, mig-enabled: false}]}\n",
        "kind: Pod\nspec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}\n",
        "timeSlicing: [",
        "nvidia.com/gpu",
        "version: v1\nmodel: {mps: true}\n",
    ],
)
def test_other_files_are_left_alone(pack: PolicyPack, text: str):
    assert told(pack, config_map(file=text)) == []


def test_what_is_secret_stays_so(pack: PolicyPack):
    wrong = RIGHT["slices"].replace("nvidia.com/gpu", "nvidia.com/hidden")
    assert "nvidia.com/hidden: the plugin makes no such resource" in told(pack, config_map(a=wrong))[0]
    assert "[secret]: the plugin makes no such resource" in (message := told(pack, config_map(a=secret(wrong)))[0])
    assert "hidden" not in message


def test_what_is_unknown_is_listed(pack: PolicyPack):
    verdicts = pack.analyze_stack([config_map(a=UNKNOWN)])
    (message,) = (verdict.message for verdict in verdicts if "data.a is not known yet" in verdict.message)
    assert "plugin-files" in message
