"""The real engine on what `init aws` makes: states and locks in the bucket, secrets sealed by the key."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from moto.server import ThreadedMotoServer

from cli.aws import bootstrap
from cli.aws.account import Account
from cli.aws.bootstrap import Names
from twin import tools
from twin.aws import moto_gaps

NAMES = Names("engine", "123456789012", "us-east-2", "aws", None, "main")
LOCK = ".pulumi/locks/organization/gangline/dev/other.json"


@pytest.fixture(scope="module")
def account() -> Iterator[Account]:
    moto_gaps.install()
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    made = Account("us-east-2", f"http://{host}:{port}")
    for _, changes in bootstrap.parts(made, NAMES):
        for change in changes():
            change.do()
    yield made
    server.stop()


def test_states_secrets_and_locks(account: Account, tmp_path: Path) -> None:
    program = tools.ensure(["pulumi"])["pulumi"]
    (tmp_path / "Pulumi.yaml").write_text("name: gangline\nruntime: python\n")
    settings = {
        **os.environ,
        "AWS_ENDPOINT_URL": str(account.endpoint),
        "AWS_ACCESS_KEY_ID": "twin",
        "AWS_SECRET_ACCESS_KEY": "twin",
        "PULUMI_HOME": str(tmp_path / "home"),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }

    def pulumi(*arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [program, *arguments, "--non-interactive"],
            env=settings,
            cwd=tmp_path,
            check=False,
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout + done.stderr

    s3 = account.client("s3")
    for command in (
        ("login", NAMES.login),
        ("stack", "init", "dev", "--secrets-provider", NAMES.secrets_provider),
        ("config", "set", "--secret", "word", "hello", "--stack", "dev"),
    ):
        code, said = pulumi(*command)
        assert code == 0, said
    assert pulumi("config", "get", "word", "--stack", "dev") == (0, "hello\n")
    assert "hello" not in (tmp_path / "Pulumi.dev.yaml").read_text()
    keys = [each["Key"] for each in s3.list_objects_v2(Bucket=NAMES.bucket)["Contents"]]
    assert ".pulumi/stacks/gangline/dev.json" in keys

    owner = {"pid": 1, "username": "somebody", "hostname": "elsewhere", "timestamp": "2026-11-30T00:00:00Z"}
    s3.put_object(Bucket=NAMES.bucket, Key=LOCK, Body=json.dumps(owner).encode())
    code, said = pulumi("stack", "rm", "dev", "--yes", "--force")
    assert code != 0
    assert "somebody@elsewhere" in said
    assert pulumi("cancel", "--stack", "dev", "--yes")[0] == 0
    assert pulumi("stack", "rm", "dev", "--yes", "--force")[0] == 0
