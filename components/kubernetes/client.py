"""A client for what a hook must ask the cluster during an `up`."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pulumi
import yaml

from model.cluster import Cluster

if TYPE_CHECKING:
    from lightkube import Client


class Reach:
    """How the cluster of a document is reached, wherever the kubeconfig of the caller happens to point."""

    def __init__(self, cluster: Cluster, kubeconfig: pulumi.Output[str] | None = None) -> None:
        """Args: cluster: as declared; kubeconfig: the way to one that the same run makes; None for its context."""
        self._context = cluster.context
        self._kubeconfig: str | None = None
        if kubeconfig is not None:
            # A hook runs long after the provider of its resource knows the value.
            kubeconfig.apply(self._remember)

    def _remember(self, kubeconfig: str) -> None:
        self._kubeconfig = kubeconfig

    @contextmanager
    def connected(self) -> "Iterator[Client]":
        """Give a client of the cluster."""
        # Only a real run needs it, and a rehearsal should not pay for its import.
        from lightkube import Client, KubeConfig

        if self._kubeconfig is None:
            config = KubeConfig.from_env()
        else:
            config = KubeConfig.from_dict(yaml.safe_load(self._kubeconfig))
        with Client(config=config.get(self._context)) as client:
            yield client
