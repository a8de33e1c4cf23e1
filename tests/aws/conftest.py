"""A cloud of the tests' own, and the provider on it, spoken to as the engine speaks."""

import logging
import os
from collections.abc import Iterator

# moto reads it when it is imported.
os.environ.setdefault("MOTO_IAM_LOAD_MANAGED_POLICIES", "true")

import pytest
from moto.server import ThreadedMotoServer
from place import Place
from provider_client import REGION, Engine

from twin.aws import moto_gaps
from twin.aws.cloud import Cloud
from twin.aws.names import VARIABLE
from twin.aws.plugin import serve
from twin.aws.provider import Provider


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    moto_gaps.install()
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(scope="session")
def cloud(address: str) -> Cloud:
    return Cloud(address, REGION)


@pytest.fixture(scope="session")
def place(cloud: Cloud) -> Place:
    """What the resources of the examples stand in."""
    return Place.make(cloud)


@pytest.fixture(scope="session")
def engine(address: str) -> Iterator[Engine]:
    """The provider behind its own wire, configured."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, address)
        server, port = serve(Provider(""))
        made = Engine(port)
        made.configure({"region": REGION})
    yield made
    server.stop(None)


@pytest.fixture(scope="session", autouse=True)
def _quiet() -> None:
    """moto would write a line for each request."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
