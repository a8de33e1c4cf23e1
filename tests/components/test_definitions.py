"""Definitions are no part of a release: read from its source, left out of its chart, checked against the catalogue."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.crds.source import chart_without_definitions, definitions
from components.sources import CHARTS, SourceError, Sources
from model.environment import Environment
from model.releases import Upstream, upstream

INCLUSION = '{{- tpl ($.Files.Get (printf "crd/%s/FILE" (include "crd_version" .))) . }}'


def definition(name: str) -> str:
    group = name.partition(".")[2]
    body = {"kind": "CustomResourceDefinition", "metadata": {"name": name}, "spec": {"group": group}}
    return yaml.safe_dump({"apiVersion": "apiextensions.k8s.io/v1", **body})


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def templated(**more: str) -> dict[str, str]:
    """A chart that renders its definitions as Volcano's does, with one more in a chart below it."""
    return {
        "Chart.yaml": yaml.safe_dump({"name": "thing", "version": "1.0.0"}),
        "values.yaml": "{}",
        "crd/bases/a.example.org_things.yaml": definition("things.a.example.org"),
        "crd/v1beta1/a.example.org_things.yaml": definition("things.a.example.org"),
        "templates/thing.yaml": INCLUSION.replace("FILE", "a.example.org_things.yaml"),
        "templates/deployment.yaml": "kind: Deployment",
        "charts/below/Chart.yaml": yaml.safe_dump({"name": "below", "version": "1.0.0"}),
        "charts/below/crd/bases/b.example.org_parts.yaml": definition("parts.b.example.org"),
        "charts/below/templates/part.yaml": INCLUSION.replace("FILE", "b.example.org_parts.yaml") + "\n",
        **more,
    }


def thing(*crds: str) -> Upstream:
    names = crds or ("things.a.example.org", "parts.b.example.org")
    return Upstream(product="thing", version="1.0.0", chart="thing", source="thing", sha256=None, images={}, crds=names)


def files(project: Path, chart: str) -> set[str]:
    folder = project / chart
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_templated_definitions_are_read_and_left_out(tmp_path: Path) -> None:
    write(tmp_path / "thing", templated())
    sources = Sources(tmp_path)
    assert [found.name for found in definitions(thing(), sources)] == ["parts.b.example.org", "things.a.example.org"]
    chart = chart_without_definitions(thing(), sources)
    assert chart.startswith(f"./{CHARTS}/thing-1.0.0-")
    assert files(tmp_path, chart) == {
        "Chart.yaml",
        "values.yaml",
        "templates/deployment.yaml",
        "charts/below/Chart.yaml",
    }


def test_definitions_in_helms_own_folder_are_read_and_left_out(tmp_path: Path) -> None:
    chart = {"Chart.yaml": yaml.safe_dump({"name": "thing", "version": "1.0.0"}), "templates/x.yaml": "kind: Service"}
    both = "---\n".join([definition("things.a.example.org"), definition("parts.b.example.org")])
    write(tmp_path / "thing", {**chart, "crds/all.yaml": both})
    assert len(definitions(thing(), Sources(tmp_path))) == 2
    assert files(tmp_path, chart_without_definitions(thing(), Sources(tmp_path))) == set(chart)


def test_chart_that_is_switched_off_is_left_alone(tmp_path: Path) -> None:
    """It stays, for its parent names it among its dependencies; but its definitions are none of the release's."""
    own = {"charts/below/templates/made.yaml": definition("made.b.example.org")}
    write(tmp_path / "thing", templated(**own))
    upstream = replace(thing("things.a.example.org"), without=("below",))
    assert [found.name for found in definitions(upstream, Sources(tmp_path))] == ["things.a.example.org"]
    kept = files(tmp_path, chart_without_definitions(upstream, Sources(tmp_path)))
    assert {name for name in kept if name.startswith("charts/")} == {
        "charts/below/Chart.yaml",
        "charts/below/crd/bases/b.example.org_parts.yaml",
        "charts/below/templates/part.yaml",
        "charts/below/templates/made.yaml",
    }
    with pytest.raises(SourceError, match=r"charts/below/templates/made\.yaml renders a CustomResourceDefinition"):
        chart_without_definitions(thing(), Sources(tmp_path))


def test_copy_is_named_by_its_content(tmp_path: Path) -> None:
    write(tmp_path / "thing", templated())
    first = chart_without_definitions(thing(), Sources(tmp_path))
    assert chart_without_definitions(thing(), Sources(tmp_path)) == first
    # A definition is no part of it, a value is.
    write(tmp_path / "thing", {"crd/bases/a.example.org_things.yaml": definition("things.a.example.org") + "# more"})
    assert chart_without_definitions(thing(), Sources(tmp_path)) == first
    write(tmp_path / "thing", {"values.yaml": "replicas: 2"})
    assert chart_without_definitions(thing(), Sources(tmp_path)) != first


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"templates/extra.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"},
            "templates/extra.yaml renders a CustomResourceDefinition in a way that is not known",
        ),
        (
            {"templates/thing.yaml": '{{ .Files.Get "crd/bases/a.example.org_things.yaml" }}'},
            "does not render its definitions in the known way (a.example.org_things.yaml)",
        ),
        (
            {"crd/bases/a.example.org_more.yaml": definition("more.a.example.org")},
            "does not render its definitions in the known way (a.example.org_more.yaml)",
        ),
    ],
)
def test_unknown_layout_is_refused(tmp_path: Path, change: dict[str, str], message: str) -> None:
    write(tmp_path / "thing", templated(**change))
    with pytest.raises(SourceError) as refused:
        chart_without_definitions(thing(), Sources(tmp_path))
    assert message in str(refused.value)
    assert not (tmp_path / CHARTS).exists()


def test_source_that_disagrees_with_the_catalogue_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "thing", templated())
    with pytest.raises(SourceError) as refused:
        definitions(thing("things.a.example.org", "gone.a.example.org"), Sources(tmp_path))
    assert "missing: gone.a.example.org; unknown: parts.b.example.org" in str(refused.value)


def test_folder_that_is_no_chart_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "thing", {"readme": ""})
    with pytest.raises(SourceError, match=r"it has no Chart\.yaml"):
        chart_without_definitions(thing(), Sources(tmp_path))


@pytest.mark.parametrize("product", ["volcano", "kuberay", "node-feature-discovery", "prometheus-operator-crds"])
def test_catalogue_names_what_upstream_ships(
    product: str, changed: Callable[[Any], Environment], upstream_sources: Sources
) -> None:
    found = definitions(upstream(changed(lambda _: None), product), upstream_sources)
    assert found
    for each in found:
        assert each.body is not None
        assert each.name == f"{each.body['spec']['names']['plural']}.{each.body['spec']['group']}"


def test_volcanos_chart_keeps_all_but_its_definitions(
    changed: Callable[[Any], Environment], upstream_sources: Sources
) -> None:
    volcano = upstream(changed(lambda _: None), "volcano")
    origin = upstream_sources.folder(volcano)
    chart = chart_without_definitions(volcano, upstream_sources)
    assert origin is not None
    kept = files(upstream_sources.project, chart)
    left_out = {path.relative_to(origin).as_posix() for path in origin.rglob("*") if path.is_file()} - kept
    assert len([name for name in left_out if "templates/" in name]) == len(volcano.crds)
    assert all("crd/" in name or "templates/" in name for name in left_out)
    for name in kept:
        assert "CustomResourceDefinition" not in (upstream_sources.project / chart / name).read_text()
