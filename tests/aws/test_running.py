"""The environment of a program on the twin's cloud, and the tokens of its clusters."""

import base64
import json
import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import httpx2
import pytest
from place import Place

from twin.aws import names, running, token
from twin.aws.moto_gaps import clusters


def test_the_stand_ins_come_before_an_official_provider(tmp_path: Path) -> None:
    given = running.variables(5600, tmp_path / "tokens.csv", {"PATH": "/usr/local/bin"})
    assert given["PATH"].split(os.pathsep) == [str(running.STAND_INS), "/usr/local/bin"]
    assert given[names.VARIABLE] == given["AWS_ENDPOINT_URL"] == "http://127.0.0.1:5600"
    assert {path.name for path in running.STAND_INS.iterdir()} == {"aws", "pulumi-resource-aws"}


def test_the_cloud_is_a_process_of_the_keeper(tmp_path: Path) -> None:
    made = running.program(5600, "https://127.0.0.1:6443", tmp_path / "ca.crt")
    assert made.arguments == ("-m", "twin.aws.server", "5600")
    assert made.environment[names.ENDPOINT] == "https://127.0.0.1:6443"


def test_a_cluster_has_the_twins_end_point_and_authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = SimpleNamespace(endpoint="https://moto", certificate_authority={"data": "moto"})
    clusters._connect(cluster)
    assert cluster.endpoint == "https://moto"
    (tmp_path / "ca.crt").write_text("the authority")
    monkeypatch.setenv(names.ENDPOINT, "https://127.0.0.1:6443")
    monkeypatch.setenv(names.AUTHORITY, str(tmp_path / "ca.crt"))
    clusters._connect(cluster)
    assert cluster.endpoint == "https://127.0.0.1:6443"
    assert base64.b64decode(cluster.certificate_authority["data"]) == b"the authority"


def call(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], **variables}
    return subprocess.run(
        [running.STAND_INS / "aws", *words], env=environment, capture_output=True, text=True, check=False
    )


def test_a_token_is_one_that_the_twins_api_server_knows(tmp_path: Path) -> None:
    (tmp_path / "tokens.csv").write_text("the-token,gangline-admin,gangline-admin,system:masters\n")
    words = ("--region", "us-east-2", "eks", "get-token", "--cluster-name", "atlas", "--output", "json")
    answer = call(*words, **{names.TOKENS: str(tmp_path / "tokens.csv")})
    assert answer.returncode == 0, answer.stderr
    told = json.loads(answer.stdout)
    assert told["apiVersion"] == token.LATEST
    assert told["status"] == {"token": "the-token"}


def test_nothing_else_is_answered() -> None:
    assert "knows `eks get-token` only" in call("s3", "ls").stderr
    assert "no twin asked for it" in call("eks", "get-token", "--cluster-name", "atlas").stderr
    assert token.TOKENS == names.TOKENS


def test_a_path_that_has_the_stand_ins_already_is_not_made_longer(tmp_path: Path) -> None:
    once = running.variables(5600, tmp_path / "tokens.csv", {"PATH": "/usr/local/bin:/bin"})
    assert running.variables(5600, tmp_path / "tokens.csv", once)["PATH"] == once["PATH"]


def test_who_follows_is_told_of_a_change_at_once(place: Place) -> None:
    def ask(known: str, seconds: float) -> tuple[str, float]:
        began = time.monotonic()
        parameters = {"known": known, "seconds": seconds}
        answer = httpx2.get(f"{place.cloud.address}{names.CHANGES}", params=parameters, timeout=20, trust_env=False)
        return answer.raise_for_status().json(), time.monotonic() - began

    first, _ = ask("", 10)
    place.client("eks").list_clusters()
    again, seconds = ask(first, 0.2)
    assert again == first, "who reads changes nothing"
    assert seconds >= 0.2
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(ask, first, 10)
        time.sleep(0.1)
        arn = place.client("eks").describe_cluster(name=place.cluster)["cluster"]["arn"]
        place.client("eks").tag_resource(resourceArn=arn, tags={"told": "yes"})
        then, seconds = waiting.result()
    assert then != first
    assert seconds < 5
