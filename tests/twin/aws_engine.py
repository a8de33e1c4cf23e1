"""moto in a process of its own, and what a real engine on it plans."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
from botocore.exceptions import EndpointConnectionError
from test_language_host_engine import Engine

from twin import ports
from twin.paths import CHECKOUT

REGION = "us-east-2"


def client(address: str, service: str) -> Any:
    return boto3.client(
        service, region_name=REGION, endpoint_url=address, aws_access_key_id="twin", aws_secret_access_key="twin"
    )


@contextmanager
def serving_moto() -> Iterator[str]:
    """moto, as the twin runs it; gives its address."""
    port = ports.choose(["moto"], {})["moto"]
    process = subprocess.Popen(
        [sys.executable, "-m", "twin.aws.server", str(port)],
        cwd=CHECKOUT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    where = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + 120
    while True:
        try:
            client(where, "sts").get_caller_identity()
            break
        except EndpointConnectionError:
            assert time.monotonic() < deadline
            time.sleep(0.3)
    try:
        yield where
    finally:
        process.terminate()
        process.wait()


def plan(engine: Engine) -> dict[str, str]:
    """What a preview would do, by logical name."""
    said = engine.run("preview", "--json")
    steps = json.loads(said[said.index("\n{") :])["steps"]  # warnings come before
    return {step["urn"].rpartition("::")[2]: step["op"] for step in steps if step["op"] != "same"}
