"""The kinds of the Prometheus Operator have one owner: ours are never put over another's, and another's are awaited."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.crds.definitions import MANAGER
from components.crds.source import definitions
from components.kubernetes.client import Reach
from components.monitoring import definitions as module
from components.sources import SourceError, Sources
from model.environment import Environment
from model.releases import Upstream, upstream
from twin.rehearsal import Rehearsal

NAMES = ["prometheusrules.monitoring.coreos.com", "servicemonitors.monitoring.coreos.com"]
OURS = {"pulumi.com/patchFieldManager": MANAGER}
THEIRS = {"operator.prometheus.io/version": "0.93.1"}
SPEC = {"group": "monitoring.coreos.com", "names": {"kind": "", "plural": ""}, "scope": "Namespaced", "versions": []}
Changed = Callable[[Any], Environment]


@pytest.fixture
def cluster(serving: Callable[[Any], None]) -> dict[str, dict[str, str]]:
    """The definitions of the cluster that the environment `twin` names, by name with their annotations."""
    found: dict[str, dict[str, str]] = {}

    def answers(_: str, path: str) -> tuple[int, Any]:
        name = path.rpartition("/")[2]
        if name in found:
            return 200, {"metadata": {"name": name, "annotations": found[name]}, "spec": SPEC}
        return 404, {"kind": "Status", "code": 404, "message": "not found", "reason": "NotFound"}

    serving(answers)
    return found


def test_what_is_not_there_and_what_is_ours_may_be_made(cluster: dict[str, dict[str, str]], changed: Changed) -> None:
    module.refuse_claimed(Reach(changed(lambda _: None).cluster))
    cluster[NAMES[0]] = OURS
    module.refuse_claimed(Reach(changed(lambda _: None).cluster))


def test_what_somebody_else_made_is_left_alone(cluster: dict[str, dict[str, str]], changed: Changed) -> None:
    cluster.update({NAMES[0]: OURS, NAMES[1]: THEIRS})
    with pytest.raises(RuntimeError) as refused:
        module.refuse_claimed(Reach(changed(lambda _: None).cluster))
    assert NAMES[1] in str(refused.value)
    assert "Prometheus Operator 0.93.1" in str(refused.value)
    assert str(refused.value).endswith("fix: environment.monitoring.prometheus.definitions: existing")


def test_what_is_expected_must_be_there(cluster: dict[str, dict[str, str]], changed: Changed) -> None:
    cluster[NAMES[0]] = THEIRS
    with pytest.raises(RuntimeError) as refused:
        module.require(Reach(changed(lambda _: None).cluster))
    assert f"does not have {NAMES[1]}" in str(refused.value)
    assert "environment.monitoring.prometheus.definitions: install" in str(refused.value)
    cluster[NAMES[1]] = THEIRS
    module.require(Reach(changed(lambda _: None).cluster))


def prometheus(value: Any) -> Callable[[Any], None]:
    return lambda document: document.update(monitoring={"prometheus": value})


def kinds(rehearsal: Rehearsal) -> list[str]:
    return sorted(resource.type.rpartition(":")[2] for resource in rehearsal.resources if "monitor" in resource.name)


def test_a_cluster_with_an_operator_gets_monitors_and_no_definitions(
    rehearsed: Callable[[Any], Rehearsal],
) -> None:
    found = rehearsed(prometheus({"definitions": "existing", "labels": {"release": "metrics"}}))
    assert "CustomResourceDefinitions" not in kinds(found)
    (monitor,) = found.of_kind("ServiceMonitor")
    assert monitor.inputs["metadata"]["labels"] == {"release": "metrics"}


def test_a_cluster_without_prometheus_gets_the_exporter_alone(rehearsed: Callable[[Any], Rehearsal]) -> None:
    found = rehearsed(prometheus("none"))
    assert kinds(found) == []
    assert found.named("platform-dcgm-exporter-whole")


def chart(folder: Path) -> None:
    """Write definitions as the chart prometheus-operator-crds holds them, with one that nobody here wants."""
    templates = folder / "charts/crds/templates"
    templates.mkdir(parents=True)
    (folder / "Chart.yaml").write_text('name: prometheus-operator-crds\nversion: "31.0.1"\n')
    for name in (*NAMES, "prometheuses.monitoring.coreos.com"):
        plural, _, group = name.partition(".")
        (templates / f"crd-{plural}.yaml").write_text(
            f"{{{{- if .Values.{plural}.enabled -}}}}\n"
            "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  annotations:\n"
            "{{- with .Values.annotations }}\n{{- toYaml . | nindent 4 }}\n{{- end }}\n"
            "    operator.prometheus.io/version: 0.93.1\n"
            f"  name: {name}\nspec:\n  group: {group}\n"
            "{{- end -}}\n"
        )


def of_chart(changed: Changed) -> Upstream:
    environment = changed(lambda value: value["releases"].update({module.PRODUCT: {"source": "chart"}}))
    return upstream(environment, module.PRODUCT)


def test_the_charts_templates_are_read_as_it_renders_them_by_default(tmp_path: Path, changed: Changed) -> None:
    chart(tmp_path / "chart")
    found = definitions(of_chart(changed), Sources(tmp_path))
    assert [each.name for each in found] == NAMES
    for each in found:
        assert each.body is not None
        assert each.body["metadata"]["annotations"] == THEIRS


def test_a_chart_that_lacks_one_is_refused(tmp_path: Path, changed: Changed) -> None:
    chart(tmp_path / "chart")
    (tmp_path / "chart/charts/crds/templates/crd-servicemonitors.yaml").unlink()
    with pytest.raises(SourceError, match=f"missing: {NAMES[1]}; unknown: none"):
        definitions(of_chart(changed), Sources(tmp_path))
