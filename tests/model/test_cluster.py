"""The cluster itself, and which releases run on it."""

import pytest

from catalog import reader as catalog
from model import releases
from tests.model.documents import drop, environment, errors, only, put, warnings


@pytest.mark.parametrize(
    ("version", "fix"),
    [
        ("1.35.4", '"1.35"'),
        ("v1.35", '"1.35"'),
        ("35", None),
        ("latest", None),
        ("1.035", None),
        ("", None),
        ("1." + "9" * 5000, None),
    ],
)
def test_kubernetes_is_a_minor_version(version: str, fix: str | None):
    path, problem = only(errors(put("cluster.kubernetes", version)))
    assert path == "cluster.kubernetes"
    assert problem.fix == fix


def test_a_kubernetes_that_is_too_new_for_a_product_is_a_warning():
    path, problem = only(warnings(put("cluster.kubernetes", "1.36")))
    assert (path, problem.allowed) == ("cluster.kubernetes", "at most 1.35")
    assert not warnings(put("cluster.kubernetes", "1.36"), put("releases.volcano.version", "1.16.0"))


def test_a_kubernetes_that_is_too_new_for_an_operator_is_told_where_that_runs():
    newer = [put("cluster.kubernetes", "1.37"), put("releases.volcano.version", "1.16.0")]
    assert not warnings(*newer)
    _, problem = only(warnings(*newer, put("devices.install", "operator")))
    assert (
        problem.message
        == f"gpu-operator {catalog.releases()['gpu-operator'].version} is made for Kubernetes up to 1.36"
    )


@pytest.mark.parametrize("name", ["Atlas", "a" * 64, "a.b", "", "-a"])
def test_the_name_is_a_label(name: str):
    assert list(errors(put("cluster.name", name))) == ["cluster.name"]


def test_the_context_is_written_down():
    assert list(errors(put("cluster.context", " "))) == ["cluster.context"]
    assert list(errors(drop("cluster.context"))) == ["cluster.context"]


def test_other_providers_are_not_there():
    path, problem = only(errors(put("cluster.provider", "gcp")))
    assert (path, problem.allowed) == ("cluster.provider", "existing, aws")


def test_the_scheduler_is_one_of_three():
    path, problem = only(errors(put("scheduler.kind", "volcan")))
    assert (path, problem.allowed, problem.fix) == ("scheduler.kind", "volcano, kueue, kai", "volcano")


@pytest.mark.parametrize("version", ["v1.15.1", "1.15", "latest", "^1.15.0", "1.15.x", "", "1.15.1 "])
def test_releases_are_exact(version: str):
    assert list(errors(put("releases.volcano.version", version))) == ["releases.volcano.version"]


@pytest.mark.parametrize("version", ["1.15.1", "1.16.0-alpha.1"])
def test_exact_releases(version: str):
    env = environment(put("releases.volcano.version", version))
    assert releases.version(env, "volcano") == version


@pytest.mark.parametrize(
    "source",
    ["http://charts.example.com", "file:///srv", "/srv/charts", "~/charts", "", " charts", "ftp://x", "https://"],
)
def test_sources_that_are_none(source: str):
    assert list(errors(put("releases.volcano.source", source))) == ["releases.volcano.source"]


@pytest.mark.parametrize(
    "source",
    [
        "https://charts.example.com/x",
        "oci://registry.example.com/charts",
        "charts/volcano.tgz",
        "../charts/volcano",
        ".twin/x",
    ],
)
def test_sources_that_are(source: str):
    assert releases.source(environment(put("releases.volcano.source", source)), "volcano") == source


def test_what_is_not_overridden_comes_from_the_catalogue():
    env = environment(drop("releases.volcano"))
    assert releases.version(env, "kuberay") == catalog.releases()["kuberay"].version
    assert releases.source(env, "kuberay") == catalog.releases()["kuberay"].repository


def test_products_are_known():
    path, problem = only(errors(put("releases.kube-ray", {"version": "1.6.2"})))
    assert (path, problem.fix) == ("releases.kube-ray", "kuberay")


def test_what_is_installed_without_a_chart_has_no_source():
    document = put("releases.nvidia-mig-manager.source", "https://charts.example.com")
    ((path, problem),) = errors(document).items()
    assert (path, problem.allowed) == ("releases.nvidia-mig-manager.source", "nothing: leave it out")


@pytest.mark.parametrize(
    ("product", "version", "oldest"),
    [
        ("volcano", "1.9.0", "1.15.0"),
        ("volcano", "1.14.99", "1.15.0"),
        ("volcano", "1.15.0-alpha.1", "1.15.0"),
        ("kuberay", "1.3.0", "1.6.0"),
        ("kuberay", "0.99.0", "1.6.0"),
    ],
)
def test_a_release_without_what_is_needed_is_refused(product: str, version: str, oldest: str):
    path, problem = only(errors(put(f"releases.{product}.version", version)))
    assert (path, problem.allowed) == (f"releases.{product}.version", f"{oldest} or newer")
    assert "https://" in problem.message
    assert problem.fix == f'"{catalog.releases()[product].version}"'


@pytest.mark.parametrize(
    ("product", "version"),
    [("volcano", "1.15.0"), ("volcano", "1.100.0-rc.1"), ("kuberay", "1.6.0"), ("nvidia-device-plugin", "0.0.1")],
)
def test_a_release_with_what_is_needed_will_do(product: str, version: str):
    assert releases.version(environment(put(f"releases.{product}.version", version)), product) == version


def test_a_version_of_thousands_of_digits_is_none():
    assert list(errors(put("releases.volcano.version", f"{'9' * 5000}.0.0"))) == ["releases.volcano.version"]
