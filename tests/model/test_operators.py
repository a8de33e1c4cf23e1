"""What the GPU Operator is told follows from the pools, and nothing in it contradicts something else in it."""

from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model import agents, devices, document, images, mig, operators
from model.monitoring import exporter
from tests.model.documents import Change, environment, put
from tests.model.generated_documents import documents

# Documents are large, and the machines that run this are busy.
_relaxed = settings(
    deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)

OPERATOR = put("devices", {"install": "operator"})
CUT = {"mig": {"profiles": {"1g.10gb": 7}}}


def values(*changes: Change) -> dict[str, Any]:
    return operators.gpu_operator_values(environment(OPERATOR, *changes))


@pytest.mark.parametrize(
    ("train", "serve", "driver", "toolkit"),
    [
        (None, None, True, True),
        ("dgx-os", "prepared", False, False),
        ("dgx-os", "al2023-nvidia", False, False),
        ("dgx-os", "ubuntu", True, True),
        ("rhel", "ubuntu", True, True),
        ("dgx-os", "bottlerocket-nvidia", False, False),
    ],
)
def test_driver_and_toolkit_come_from_the_operator_where_no_image_brings_them(
    train: str | None, serve: str | None, driver: bool, toolkit: bool
):
    named = {"train": train, "serve": serve}
    found = values(*(put(f"pools.{pool}.image", image) for pool, image in named.items() if image))
    assert found["driver"]["enabled"] is driver
    assert found["toolkit"]["enabled"] is toolkit


def test_every_taint_is_tolerated_and_no_other():
    found = values()["daemonsets"]["tolerations"]
    assert [(it["key"], it["operator"], it["effect"]) for it in found] == [
        ("nvidia.com/gpu", "Exists", "NoSchedule"),
        ("team", "Exists", "NoExecute"),
    ]
    kept_off = values(put("pools.serve.image", "bottlerocket-nvidia"))["daemonsets"]["tolerations"]
    assert [it["key"] for it in kept_off] == ["nvidia.com/gpu"], "the operator has no business on serve"


def test_each_plan_is_a_configuration_and_its_label_names_it():
    env = environment(OPERATOR)
    file = operators.plugin_file(env)
    for plan in devices.plans(env):
        assert yaml.safe_load(file.data[plan.labels[devices.CONFIG_LABEL]]) == plan.configuration


@pytest.mark.parametrize(
    ("changes", "default"),
    [
        ([], "whole"),
        (
            [put("pools.train.image", "bottlerocket-nvidia"), put("pools.train.server", "hgx-h100")],
            "time-slicing-4",
        ),
    ],
)
def test_nodes_without_a_label_have_the_only_plan_or_whole_gpus(changes: list[Change], default: str):
    env = environment(OPERATOR, *changes)
    file, config = operators.plugin_file(env), operators.gpu_operator_values(env)["devicePlugin"]["config"]
    assert config == {"create": False, "name": file.name, "default": default}
    assert default in file.data


def test_plans_without_whole_gpus_still_have_whole_as_the_default():
    env = environment(OPERATOR, put("pools.train.sharing", CUT), _nobody_wants_whole_gpus)
    file = operators.plugin_file(env)
    assert yaml.safe_load(file.data["whole"]) == {"version": "v1", "flags": {"migStrategy": "none"}}
    assert operators.gpu_operator_values(env)["devicePlugin"]["config"]["default"] == "whole"


def test_layouts_are_the_mig_managers():
    assert values()["migManager"] == {
        "enabled": True,
        "config": {"create": False, "name": "", "default": "all-disabled"},
    }
    env = environment(OPERATOR, put("pools.train.sharing", CUT), _nobody_wants_whole_gpus)
    file = operators.mig_file(env)
    assert file is not None
    assert operators.gpu_operator_values(env)["migManager"]["config"]["name"] == file.name
    layouts = yaml.safe_load(file.data["config.yaml"])["mig-configs"]
    assert {"all-disabled", *(plan.layout for plan in devices.plans(env) if plan.layout)} == set(layouts)
    (cut,) = [plan for plan in devices.plans(env) if plan.layout]
    assert cut.labels[mig.CONFIG_LABEL] in layouts


def test_exporter_is_told_of_every_way_of_sharing():
    env = environment(OPERATOR)
    told, file = operators.gpu_operator_values(env)["dcgmExporter"], operators.counters_file(env)
    assert file is not None
    assert told["config"] == {"name": file.name}
    assert told["hostPID"] is True
    assert {each["name"]: each["value"] for each in told["env"]} == exporter.variables(env, ["train", "serve"])
    whole = values(put("pools.serve.image", "bottlerocket-nvidia"))["dcgmExporter"]
    assert whole["hostPID"] is False
    assert "KUBERNETES_VIRTUAL_GPUS" not in {each["name"] for each in whole["env"]}
    assert values(put("monitoring.dcgm", "none"))["dcgmExporter"] == {"enabled": False}


def test_strategy_is_each_plans_own():
    """In the chart it would be a variable of the plugin, which beats the plan's file."""
    assert values()["mig"] == {"strategy": ""}


@settings(max_examples=20, deadline=None)
@given(first=st.integers(2, 48), second=st.integers(2, 48))
def test_files_are_called_after_their_content(first: int, second: int):
    def name(replicas: int) -> str:
        sharing = {"timeSlicing": {"replicas": replicas}}
        return operators.plugin_file(environment(OPERATOR, put("pools.serve.sharing", sharing))).name

    assert (name(first) == name(second)) == (first == second)


def test_operator_is_told_of_no_pool_that_it_keeps_off():
    env = environment(OPERATOR, put("pools.serve.image", "bottlerocket-nvidia"))
    assert set(operators.plugin_file(env).data) == {"whole"}
    assert set(agents.gpu_pools(env)) - set(images.operator_pools(env)) == {"serve"}


@_relaxed
@given(documents())
def test_each_gpu_node_has_one_owner_of_each_part(value: dict[str, Any]):
    env = document.load(value)
    ours, theirs = set(images.plugin_pools(env)), set(images.operator_pools(env))
    pools = set(agents.gpu_pools(env))
    assert not ours & theirs
    assert pools - ours - theirs == {pool for pool in pools if images.brings(env, pool, "device-plugin")}
    assert set(images.exporter_pools(env)) == pools - theirs
    assert set(images.managed_pools(env)) == ours | theirs
    told = operators.gpu_operator_values(env)
    for pool in theirs:
        labels = images.node_labels(env, pool)
        for part, switch, owner in (
            ("driver", "driver", images.driver_owner),
            ("container-toolkit", "toolkit", images.toolkit_owner),
        ):
            kept_away = labels.get(f"nvidia.com/gpu.deploy.{part}") == "false"
            brought = told[switch]["enabled"] and not kept_away
            assert brought == (owner(env, pool) == "operator")
    for pool in pools - theirs:
        assert not theirs or images.node_labels(env, pool) == {"nvidia.com/gpu.deploy.operands": "false"}


@_relaxed
@given(documents())
def test_operator_is_told_of_every_plan_and_taint_of_its_pools(value: dict[str, Any]):
    env = document.load(value)
    told, file = operators.gpu_operator_values(env), operators.plugin_file(env)
    tolerated = {(it["key"], it["effect"]) for it in told["daemonsets"]["tolerations"]}
    theirs = images.operator_pools(env)
    assert tolerated == {(taint.key, taint.effect) for pool in theirs for taint in env.pools[pool].taints}
    for plan in devices.plans(env):
        assert yaml.safe_load(file.data[plan.labels[devices.CONFIG_LABEL]]) == plan.configuration
    if theirs:
        assert told["devicePlugin"]["config"]["default"] in file.data


def _nobody_wants_whole_gpus(value: dict[str, Any]) -> None:
    value["ray"]["clusters"].pop("tuning")
    for queue in value["queues"].values():
        queue.pop("queues", None)
        for amounts in queue.values():
            if isinstance(amounts, dict):
                amounts.pop("gpu", None)
    value["tenants"]["research"].update(defaultQueue="research", quota={})
