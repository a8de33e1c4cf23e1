"""A client for what a hook must ask the cluster during an `up`."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from model.environment import Environment

if TYPE_CHECKING:
    from lightkube import Client


@contextmanager
def connected(environment: Environment) -> "Iterator[Client]":
    """Give a client of the cluster that the document names, wherever the kubeconfig happens to point."""
    # Only a real run needs it, and a rehearsal should not pay for its import.
    from lightkube import Client, KubeConfig

    with Client(config=KubeConfig.from_env().get(environment.cluster.context)) as client:
        yield client
