"""`doctor ENV` and what `up` looks at first, as a person sees it."""

import io
import re
from pathlib import Path

import pytest
from moto.servicequotas.models import servicequotas_backends
from rich.console import Console

from cli import environments, rendering
from cli.aws import preflight, questions
from cli.aws.account import Account
from model.environment import Environment
from model.problems import DocumentError
from twin.aws.moto_gaps.quotas import granted

GUIDE = (environments.ROOT / "docs" / "guides" / "aws-account.md").read_text()
TEXT = """config:
  gangline:environment:
    cluster: {name: lab, provider: aws, kubernetes: "1.35", zones: [us-east-2a, us-east-2b]}
    pools:
      system: {instance: m7i.2xlarge, size: 3}
      train:
        instance: p5en.48xlarge
        zone: us-east-2a
        size: 16
"""


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    (tmp_path / "Pulumi.twin.yaml").write_text((environments.STACKS / "Pulumi.twin.yaml").read_text())
    (tmp_path / "Pulumi.lab.yaml").write_text(TEXT)
    monkeypatch.setattr(environments, "STACKS", tmp_path)
    return rendering.load("lab")


@pytest.fixture
def small(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    """A quota of one machine."""
    quotas = granted(servicequotas_backends[account.identity][account.region])
    monkeypatch.setitem(quotas, "L-417A185B", 192)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What a person would see."""
    text = io.StringIO()
    screen = Console(file=text, width=300, highlight=False)
    monkeypatch.setattr(preflight, "console", screen)
    monkeypatch.setattr(preflight, "errors", screen)
    return text


def test_doctor_shows_what_was_asked_and_found(lab: Environment, address: str, said: io.StringIO) -> None:
    preflight.examine("lab", lab, {"AWS_ENDPOINT_URL": address})
    lines = [" ".join(line.split()) for line in said.getvalue().splitlines()]
    assert "zone us-east-2a use2-az1" in lines
    assert "Kubernetes 1.35 STANDARD_SUPPORT" in lines
    assert "quota Running On-Demand P instances 100000 vCPUs" in lines
    assert "add-on vpc-cni v1.22.4-eksbuild.3 is offered" in lines
    assert lines[-1] == "account 123456789012 in us-east-2: it has all that the document wants"


@pytest.mark.usefixtures("small")
def test_what_an_account_lacks_is_told_at_the_line_of_the_document(lab: Environment, address: str) -> None:
    with pytest.raises(DocumentError) as caught:
        preflight.look_ahead("lab", lab, {"AWS_ENDPOINT_URL": address}, refuse=True)
    text = str(caught.value)
    assert "Pulumi.lab.yaml:9  environment.pools.train.size\n  3072: the pools want 3072 vCPUs" in text
    shown = re.search(r"environment\.pools\.train\.size\n.*?(?=\n```)", GUIDE, re.DOTALL)
    assert shown
    assert shown[0] in text


@pytest.mark.usefixtures("small")
def test_a_preview_is_only_told(lab: Environment, address: str, said: io.StringIO) -> None:
    preflight.look_ahead("lab", lab, {"AWS_ENDPOINT_URL": address}, refuse=False)
    assert "the pools want 3072 vCPUs" in said.getvalue()
    assert said.getvalue().endswith("in us-east-2: see above\n")


def test_the_guide_names_each_action_that_the_questions_take() -> None:
    taken = set(re.findall(r'"([a-z0-9]+:[A-Z]\w+)"', Path(questions.__file__).read_text()))
    assert set(re.findall(r"[a-z0-9]+:[A-Z]\w+", GUIDE.rpartition("needs these actions")[2])) == taken


def test_an_existing_cluster_has_no_account_to_ask() -> None:
    preflight.look_ahead("twin", rendering.load("twin"), None, refuse=True)
