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
from model.engine_names import DOCUMENT_KEY
from model.problems import DocumentError
from twin.aws import names
from twin.cluster import Twin
from twin.rehearsal import rehearse


def test_the_twin_may_take_down_what_it_borrowed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(local, "STATE", tmp_path)
    file = local.borrowed_config("aws-training")
    config = yaml.safe_load(file.read_text())["config"]
    value = config[DOCUMENT_KEY]
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
    kind = "aws:eks/cluster:Cluster"
    return {"urn": f"urn:pulumi:lab::gangline::gangline:index:Platform${kind}::{name}", "type": kind, **more}


def test_what_is_protected_is_listed_before_anything_is_taken_down() -> None:
    state = exported(
        resource("platform-cluster", id="atlas", protect=True),
        resource("platform-network", id="vpc-1"),
        resource("platform-archive", id="archive-1", protect=True, type="aws:x/y:Z"),
    )
    with pytest.raises(RefusedError) as refused:
        destroying.refuse_protected(state, Path("stacks/Pulumi.lab.yaml"))
    assert str(refused.value) == (
        "destroy: 2 resources are protected, since stacks/Pulumi.lab.yaml says data: keep, or does not say otherwise\n"
        "  platform-cluster  atlas  (the cluster, with all work in it)\n"
        "  platform-archive  archive-1\n"
        "  Nothing is taken down: the network and the keys that they need stay with them.\n"
        "  fix: data: delete, and an up that lifts the protection; then destroy again"
    )


def test_all_that_holds_data_says_what_it_holds() -> None:
    """Whatever a stack protects on AWS is told with its reason."""
    loaded = document.read(Path(local.ROOT / "stacks" / "Pulumi.aws-training.yaml")).load()
    protected = [each for each in rehearse(loaded, stack="aws-training").resources if each.protect]
    assert {each.name for each in protected} >= {"platform-archive-bucket", "platform-lustre-files"}
    state = exported(
        *({"urn": f"urn::{each.name}", "type": each.type, "id": "x", "protect": True} for each in protected)
    )
    with pytest.raises(RefusedError) as refused:
        destroying.refuse_protected(state, Path("stacks/Pulumi.lab.yaml"))
    for each in protected:
        assert f"  {each.name}  x  (" in str(refused.value)


def test_what_was_there_before_stays_and_is_told() -> None:
    onprem = document.read(Path(local.ROOT / "stacks" / "Pulumi.onprem-infiniband.yaml")).load()
    [sentence] = destroying.left(onprem)
    assert sentence.startswith("Data stays: the files of the shared file system (")
    training = document.read(Path(local.ROOT / "stacks" / "Pulumi.aws-training.yaml")).load()
    assert destroying.left(training) == []


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
