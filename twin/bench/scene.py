"""What every measurement has at hand, and how it leaves the cluster empty for the next."""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from statistics import median, quantiles
from typing import Any

from lightkube import Client
from lightkube.core.exceptions import ApiError
from lightkube.types import CascadeType

from twin.bench import ground, jobs
from twin.bench.jobs import Gang
from twin.bench.watching import Watch
from twin.errors import TwinError

_EMPTY_LIMIT = 180.0
_CALM = 1.0
_CLIENTS = 4


@dataclass(frozen=True)
class Scene:
    """The cluster under measurement.

    Attributes:
        client: A client with the rights of an administrator.
        watch: What happens to pods.
        nodes: GPU nodes of the cluster.
        say: Told what is being measured, a line at a time.
    """

    client: Client
    watch: Watch
    nodes: int
    say: Callable[[str], None]

    def bound_whole(self, gang: Gang) -> bool:
        """Say whether all pods of a gang are on nodes."""
        return len(self.watch.bound(gang.name)) == gang.nodes

    def runs_whole(self, gang: Gang) -> bool:
        """Say whether all pods of a gang run."""
        return self.bound_whole(gang) and all(seen.running is not None for seen in self.watch.bound(gang.name))

    def submit(self, gangs: Iterable[Gang]) -> None:
        """Create gangs, several at once."""
        with ThreadPoolExecutor(_CLIENTS) as threads:
            for done in [threads.submit(jobs.submit, self.client, gang) for gang in gangs]:
                done.result()

    def fill(self, gangs: list[Gang], limit: float = 180) -> None:
        """Create gangs and wait until all run: what is measured next must not wait for nodes that still start pods.

        Raises:
            TwinError: They were not in time.
        """
        self.submit(gangs)
        if not self.watch.until(lambda: all(self.runs_whole(gang) for gang in gangs), limit):
            waiting = [gang.name for gang in gangs if not self.runs_whole(gang)]
            raise TwinError(f"{len(waiting)} of {len(gangs)} gangs did not run within {limit:g} s: {waiting[0]} …")

    def clear(self) -> None:
        """Delete all gangs, and wait until their pods are gone and the schedulers have seen it.

        Raises:
            TwinError: Pods stay.
        """
        namespace = ground.NAMESPACE
        # One by one: a single request for hundreds of jobs takes longer than a client waits for an answer.
        with ThreadPoolExecutor(_CLIENTS) as threads:
            done = [
                threads.submit(self._delete, kind, found.metadata.name)
                for kind in (jobs.VolcanoJob, jobs.PlainJob)
                for found in self.client.list(kind, namespace=namespace)
                if found.metadata and found.metadata.name
            ]
        for each in done:
            each.result()
        empty = self.watch.until(lambda: all(seen.gone for seen in self.watch.everything()), _EMPTY_LIMIT)
        if not empty:
            raise TwinError(f"pods of namespace {namespace} are still there after {_EMPTY_LIMIT:g} s")
        self.watch.forget()
        time.sleep(_CALM)

    def _delete(self, kind: type[Any], name: str) -> None:
        try:
            self.client.delete(kind, name, namespace=ground.NAMESPACE, cascade=CascadeType.BACKGROUND)
        except ApiError as error:
            if error.status.code != HTTPStatus.NOT_FOUND:  # a finished job may go by itself meanwhile
                raise


def percentiles(seconds: list[float]) -> dict[str, float]:
    """Give median, 99th percentile and maximum of some times, in seconds."""
    cut = quantiles(seconds, n=100, method="inclusive")[98] if len(seconds) > 1 else seconds[0]
    return {"p50": round(median(seconds), 3), "p99": round(cut, 3), "max": round(max(seconds), 3)}


def delete(client: Client, gang: Gang) -> None:
    """Delete a gang, if it is still there."""
    with suppress(ApiError):
        jobs.remove(client, gang)
