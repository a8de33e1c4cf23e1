"""A cloud of the tests' own."""

import logging
import os
from collections.abc import Iterator

# moto reads it when it is imported.
os.environ.setdefault("MOTO_IAM_LOAD_MANAGED_POLICIES", "true")

import pytest
from moto.ec2.models import ec2_backends
from moto.server import ThreadedMotoServer
from moto.servicequotas.models import servicequotas_backends

from cli.aws.account import Account
from twin.aws import moto_gaps
from twin.aws.cloud import ACCOUNT

REGION = "us-east-2"


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # moto would write a line for each request
    moto_gaps.install()
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(scope="session")
def account(address: str) -> Account:
    return Account(REGION, address)


@pytest.fixture(autouse=True)
def _nobody_else_in_the_account(monkeypatch: pytest.MonkeyPatch) -> None:
    """What tests of the cloud itself left in the same process counts against no quota here."""
    monkeypatch.setitem(ec2_backends[ACCOUNT][REGION].__dict__, "capacity_reservations", {})
    monkeypatch.delitem(servicequotas_backends[ACCOUNT][REGION].__dict__, "ec2_quotas", raising=False)
