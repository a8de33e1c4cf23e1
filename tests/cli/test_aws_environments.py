"""Environments of AWS: what of them is the twin's, and what must not be taken down."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from cli import destroying, local, rendering, twinning
from cli.engine import Engine
from cli.refusals import RefusedError
from model import document
from model.problems import DocumentError
from twin.aws import names
from twin.cluster import Twin


def test_the_twin_may_take_down_what_it_borrowed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(local, "STATE", tmp_path)
    file = local.borrowed_config("aws-training")
    config = yaml.safe_load(file.read_text())["config"]
    value = config[document.KEY]
    assert config["pulumi:disable-default-providers"] == ["aws", "kubernetes"]
    assert value["data"] == "delete"
    assert "context" not in value["cluster"]
    assert value["releases"]["volcano"] == {"source": ".twin/sources/volcano-chart"}
    own = document.read(Path(local.ROOT / "stacks" / "Pulumi.aws-training.yaml"))
    assert {**own.value, "data": "delete", "releases": value["releases"], "monitoring": value["monitoring"]} == value
    assert document.read(file).judge().errors == ()


def exported(*resources: dict[str, object]) -> str:
    return json.dumps({"version": 3, "deployment": {"resources": list(resources)}})


def resource(name: str, **more: object) -> dict[str, object]:
    return {"urn": f"urn:pulumi:lab::gangline::gangline:index:Platform$aws:eks/cluster:Cluster::{name}", **more}


def test_what_is_protected_is_listed_before_anything_is_taken_down() -> None:
    state = exported(
        resource("platform-cluster", id="atlas", protect=True),
        resource("platform-network", id="vpc-1"),
        resource("platform-archive", id="archive-1", protect=True),
    )
    with pytest.raises(RefusedError) as refused:
        destroying.refuse_protected(state, Path("stacks/Pulumi.lab.yaml"))
    assert str(refused.value) == (
        "destroy: 2 resources are protected, since stacks/Pulumi.lab.yaml says data: keep, or does not say otherwise\n"
        "  platform-cluster  atlas\n"
        "  platform-archive  archive-1\n"
        "  fix: data: delete, and an up that lifts the protection; then destroy again"
    )


def test_nothing_protected_and_nothing_made_is_no_hindrance() -> None:
    for state in (exported(resource("platform-cluster")), '{"version": 3, "deployment": null}'):
        destroying.refuse_protected(state, Path("stacks/Pulumi.lab.yaml"))


def test_settings_of_aws_stay_out_of_the_twin(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pulumi").touch(mode=0o755)
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.setenv("AWS_ENDPOINT_URL_EKS", "https://eks.example.org")
    given = {"PATH": str(tmp_path), "AWS_ENDPOINT_URL": "http://127.0.0.1:5600"}
    settings = Engine.of_twin(given).settings
    assert {name: value for name, value in settings.items() if name.startswith("AWS_")} == {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:5600"
    }


@pytest.mark.parametrize("cloud", [True, False])
def test_a_shell_on_the_twins_cloud_forgets_what_leads_to_aws(
    cloud: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"KUBECONFIG": "/twin/kubeconfig"} | ({"AWS_ENDPOINT_URL": "http://127.0.0.1:5600"} if cloud else {})
    monkeypatch.setattr(Twin, "environment", lambda _: given)
    monkeypatch.setattr(Twin, "cloud", "http://127.0.0.1:5600" if cloud else None)
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "https://example.org")
    twinning.environment_variables()
    lines = capsys.readouterr().out.splitlines()
    assert ("unset AWS_PROFILE" in lines) == cloud
    assert "unset AWS_ENDPOINT_URL" not in lines
    assert lines[-1] == (
        "export AWS_ENDPOINT_URL=http://127.0.0.1:5600" if cloud else "export KUBECONFIG=/twin/kubeconfig"
    )
    assert names.VARIABLE not in given


def test_a_block_that_is_over_stops_an_up_and_never_a_destroy() -> None:
    after = lambda: datetime(2037, 1, 1, tzinfo=UTC)  # noqa: E731
    with pytest.raises(DocumentError, match="the block is over"):
        rendering.load("aws-training", after)
    assert rendering.load("aws-training", None).cluster.name == "training"
    assert rendering.load("aws-training", lambda: datetime(2036, 5, 1, tzinfo=UTC)).cluster.name == "training"


def test_a_block_that_ends_soon_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    rendering.load("aws-training", lambda: datetime(2036, 5, 28, 1, tzinfo=UTC))
    assert "the block ends soon" in capsys.readouterr().err
