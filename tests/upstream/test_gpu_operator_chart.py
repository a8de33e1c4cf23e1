"""The GPU Operator's own chart takes the values that follow from the pools, and says with them what was meant."""

import copy
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from components.crds.source import chart_without_definitions, definitions
from components.sources import Sources, documents
from model import document, namespaces
from model.environment import Environment
from model.monitoring import counters
from model.releases import Upstream as Product
from tests.schemas import closed
from tests.upstream import helm
from tests.upstream.parsers import Request, Upstream
from twin import tools
from twin.rehearsal import Rehearsal, rehearse

ROOT = Path(__file__).resolve().parents[2]
CHART = "gpu-operator-chart"

NEWER = {("dcgmExporter", "hostPID"): "v25.10.0"}
"""Values that the chart in the module mirror does not have yet, and the release that brought them."""

COMMENTED = {("dcgmExporter", "config", "name")}
"""Values that its file only has in comments; what becomes of them is looked at below."""


def changed(*pools: tuple[str, str, Any]) -> Environment:
    value = copy.deepcopy(document.read(ROOT / "docs" / "examples" / "02-operators.yaml").value)
    for pool, key, new in pools:
        value["pools"][pool][key] = new
    return document.load(value)


@pytest.fixture(scope="module")
def rehearsal() -> Rehearsal:
    return rehearse(changed(), stack="lab")


@pytest.fixture(scope="module")
def chart() -> Path:
    return tools.ensure_sources([CHART])[CHART]


def values_of(rehearsal: Rehearsal) -> dict[str, Any]:
    return rehearsal.named("platform-gpu-operator-release").inputs["values"]


def rendered(chart: Path, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    return helm.render(chart, values, release="gpu-operator", namespace=namespaces.GPU_OPERATOR)


def policy(objects: list[dict[str, Any]]) -> dict[str, Any]:
    (found,) = [each for each in objects if each["kind"] == "ClusterPolicy"]
    return found


def leaves(values: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of the values that are set; what stands below free mappings (affinity, resources) is one value."""
    if isinstance(values, Mapping) and values and path not in _FREE:
        for key, value in values.items():
            yield from leaves(value, (*path, key))
    else:
        yield path


_FREE = {("operator", "affinity"), ("operator", "resources"), ("dcgmExporter", "resources")}


def test_chart_has_every_value_that_is_set(rehearsal: Rehearsal, chart: Path) -> None:
    """Helm takes any key, and nobody would notice that one does nothing."""
    (known,) = documents(chart / "values.yaml")
    for path in leaves(values_of(rehearsal)):
        if path in NEWER or path in COMMENTED:
            continue
        holder: Any = known
        for key in path:
            assert key in holder, ".".join(path)
            holder = holder[key]


def test_values_that_are_newer_are_not_in_this_chart(chart: Path) -> None:
    """Else they would be no longer newer, and the list would hide a mistake one day."""
    (known,) = documents(chart / "values.yaml")
    for path in NEWER:
        holder: Any = known
        for key in path[:-1]:
            holder = holder.get(key, {})
        assert path[-1] not in holder


def test_policy_keeps_to_its_definition(rehearsal: Rehearsal, chart: Path) -> None:
    """The API server would silently drop a field that is not in it."""
    (definition,) = documents(chart / "crds" / "nvidia.com_clusterpolicies.yaml")
    schema = closed(definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
    found = policy(rendered(chart, values_of(rehearsal)))
    jsonschema.Draft202012Validator(schema).validate({**found, "metadata": {}})


@pytest.mark.parametrize(
    ("pools", "driver", "toolkit"),
    [
        ((), True, True),
        ((("serve", "image", "prepared"), ("notebooks", "image", "prepared")), False, False),
        ((("serve", "image", "al2023-nvidia"), ("notebooks", "image", "rhel")), True, True),
    ],
)
def test_driver_and_toolkit_have_one_owner(
    chart: Path, pools: tuple[tuple[str, str, Any], ...], driver: bool, toolkit: bool
) -> None:
    spec = policy(rendered(chart, values_of(rehearse(changed(*pools), stack="lab"))))["spec"]
    assert spec["driver"]["enabled"] is driver
    assert spec["toolkit"]["enabled"] is toolkit
    assert spec["driver"]["upgradePolicy"]["autoUpgrade"] is False
    assert spec["cdi"]["enabled"] is True


def test_agents_tolerate_the_pools_taints_and_no_more(rehearsal: Rehearsal, chart: Path) -> None:
    spec = policy(rendered(chart, values_of(rehearsal)))["spec"]
    assert spec["daemonsets"]["tolerations"] == [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "serving.example.com/only", "operator": "Exists", "effect": "NoExecute"},
    ]


def test_agents_read_the_files_of_this_environment(rehearsal: Rehearsal, chart: Path) -> None:
    spec = policy(rendered(chart, values_of(rehearsal)))["spec"]
    files = {each.inputs["metadata"]["name"]: each.inputs["data"] for each in rehearsal.of_kind("ConfigMap")}
    configured = spec["devicePlugin"]["config"]
    assert set(files[configured["name"]]) == {"whole", "time-slicing-4", "mig-7x1g-10gb"}
    assert configured["default"] == "whole"
    layouts = yaml.safe_load(files[spec["migManager"]["config"]["name"]]["config.yaml"])["mig-configs"]
    assert set(layouts) == {"all-disabled", "7x1g.10gb"}
    assert spec["migManager"]["config"]["default"] in layouts
    # A strategy here would become a variable of the plugin and beat the files.
    assert "strategy" not in (spec.get("mig") or {})


def test_exporter_counts_what_the_document_says(rehearsal: Rehearsal, chart: Path) -> None:
    told = policy(rendered(chart, values_of(rehearsal)))["spec"]["dcgmExporter"]
    files = {each.inputs["metadata"]["name"]: each.inputs["data"] for each in rehearsal.of_kind("ConfigMap")}
    assert files[told["config"]["name"]] == {"dcgm-metrics.csv": counters.counters_file(changed())}
    variables = {each["name"]: each["value"] for each in told["env"]}
    assert variables["KUBERNETES_VIRTUAL_GPUS"] == "true"
    assert variables["NVIDIA_RESOURCE_NAMES"] == "nvidia.com/gpu.shared"
    # This project's own monitor gives series the same labels in both modes.
    assert told["serviceMonitor"]["enabled"] is False


def test_nothing_comes_twice(rehearsal: Rehearsal, chart: Path) -> None:
    """Neither a second node feature discovery nor hooks that would write this project's definitions and labels."""
    found = rendered(chart, values_of(rehearsal))
    workloads = {(each["kind"], each["metadata"]["name"]) for each in found if each["kind"] in _WORKLOADS}
    assert workloads == {("Deployment", "gpu-operator")}
    assert policy(found)["spec"]["psa"]["enabled"] is False


_WORKLOADS = ("DaemonSet", "Deployment", "StatefulSet", "Job")


def test_operator_stays_off_the_gpus(rehearsal: Rehearsal, chart: Path) -> None:
    (deployment,) = [each for each in rendered(chart, values_of(rehearsal)) if each["kind"] == "Deployment"]
    required = deployment["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    (term,) = required["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"][0]["operator"] == "NotIn"


def test_copy_without_definitions_renders_the_same(rehearsal: Rehearsal, chart: Path, tmp_path: Path) -> None:
    """What the release installs is the chart, less its definitions."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "chart").symlink_to(chart)
    product = Product(
        product="gpu-operator",
        version="1.0.0-devel",
        chart="gpu-operator",
        source="chart",
        images={},
        crds=("clusterpolicies.nvidia.com", "nvidiadrivers.nvidia.com"),
        sha256=None,
        without=("node-feature-discovery",),
    )
    sources = Sources(project)
    assert [each.name for each in definitions(product, sources)] == list(product.crds)
    values = values_of(rehearsal)
    whole = [each for each in rendered(chart, values) if each["kind"] != "CustomResourceDefinition"]
    assert rendered(project / chart_without_definitions(product, sources), values) == whole


def test_mistake_in_a_value_is_found(rehearsal: Rehearsal, chart: Path) -> None:
    """The checks above can fail: a renamed key is not in the chart, and a wrong value is refused by Helm."""
    values = copy.deepcopy(values_of(rehearsal))
    values["daemonSets"] = values.pop("daemonsets")
    (known,) = documents(chart / "values.yaml")
    assert [path for path in leaves(values) if path[0] not in known] == [
        ("daemonSets", "tolerations"),
        ("daemonSets", "rollingUpdate", "maxUnavailable"),
    ]
    values["driver"] = "none"
    with pytest.raises(ValueError, match="driver"):
        rendered(chart, values)


def test_agents_own_parsers_read_the_files(upstream: Upstream, rehearsal: Rehearsal) -> None:
    """Those of the GPU Operator and that of the network operator; none of them says anything against them."""
    (files,) = [
        it.inputs["data"] for it in rehearsal.of_kind("ConfigMap") if it.name.endswith("operator-device-plugin")
    ]
    (policy,) = rehearsal.of_kind("NicClusterPolicy")
    texts = [("device-plugin", text) for text in files.values()]
    texts.append(("rdma-shared", policy.inputs["spec"]["rdmaSharedDevicePlugin"]["config"]))
    assert len(texts) == 4
    for parser, text in texts:
        answer = upstream.read(Request(parser, text))
        assert answer.silent, answer
