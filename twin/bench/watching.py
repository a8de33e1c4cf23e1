"""When pods came to be, were bound, ran and ended, by the API server's watch events as they arrive."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
from lightkube import Client
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_namespaced_resource

from twin.bench import ground
from twin.errors import TwinError

RawPod = create_namespaced_resource("", "v1", "Pod", "pods")
"""Pods as plain mappings: thousands of events are not worth typed objects."""
JOB = "bench.gangline.dev/job"
"""Label of a pod: the gang it belongs to, whatever kind of object made it."""


@dataclass
class Seen:
    """What was seen of a pod: seconds of the monotonic clock; None for what has not happened.

    Attributes:
        job: Name of its gang.
        created: When it was there.
        bound: When it had a node.
        node: That node.
        running: When it ran.
        ended: When it had completed or failed, was to be deleted, or was gone.
        completed: Whether its work was done.
        gone: Whether it was deleted.
    """

    job: str
    created: float
    bound: float | None = None
    node: str = ""
    running: float | None = None
    ended: float | None = None
    completed: bool = False
    gone: bool = False


class Watch:
    """Follows the pods of the benchmark's namespace, in a thread."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._changed = threading.Condition()
        self._stopping = False
        self._failure: Exception | None = None
        self._pods: dict[str, Seen] = {}  # by UID: a pod that was made again is another one
        self._gangs: defaultdict[str, list[Seen]] = defaultdict(list)

    def follow(self) -> None:
        """Follow until the API server ends it."""
        try:
            for event, found in self._client.watch(RawPod, namespace=ground.NAMESPACE):
                if self._stopping:
                    return
                self._see(event, found, time.monotonic())
        except (ApiError, httpx2.HTTPError) as error:
            with self._changed:
                if not self._stopping:
                    self._failure = error
                self._changed.notify_all()

    def _see(self, event: str, pod: Mapping[str, Any], now: float) -> None:
        metadata, status = pod["metadata"], pod.get("status", {})
        job = metadata.get("labels", {}).get(JOB)
        if job is None:
            return
        with self._changed:
            if (seen := self._pods.get(metadata["uid"])) is None:
                seen = self._pods[metadata["uid"]] = Seen(job, now)
                self._gangs[job].append(seen)
            if (node := pod["spec"].get("nodeName")) and seen.bound is None:
                seen.bound, seen.node = now, node
            phase = status.get("phase")
            if phase == "Running" and seen.running is None:
                seen.running = now
            over = phase in ("Succeeded", "Failed")
            if seen.ended is None and (over or event == "DELETED" or "deletionTimestamp" in metadata):
                seen.ended, seen.completed = now, phase == "Succeeded"
            seen.gone = seen.gone or event == "DELETED"
            self._changed.notify_all()

    def until(self, holds: Callable[[], bool], limit: float) -> bool:
        """Wait until something holds, looked at after each event.

        Args:
            holds: What shall hold.
            limit: Seconds to wait at most.

        Returns:
            Whether it did in time.

        Raises:
            TwinError: The watch broke.
        """
        with self._changed:
            held = self._changed.wait_for(lambda: self._failure is not None or holds(), limit)
            if self._failure is not None:
                raise TwinError(f"the watch of pods broke: {self._failure}")
            return held

    def of(self, job: str) -> list[Seen]:
        """Give the pods of a gang, those that are gone too."""
        return list(self._gangs.get(job, ()))

    def bound(self, job: str) -> list[Seen]:
        """Give the pods of a gang that are on a node and have not ended."""
        return [seen for seen in self._gangs.get(job, ()) if seen.bound is not None and seen.ended is None]

    def everything(self) -> list[Seen]:
        """Give all pods, those that are gone too."""
        with self._changed:
            return list(self._pods.values())

    def forget(self) -> None:
        """Forget the pods that are gone."""
        with self._changed:
            self._pods = {uid: seen for uid, seen in self._pods.items() if not seen.gone}
            self._gangs.clear()
            for seen in self._pods.values():
                self._gangs[seen.job].append(seen)

    def stop(self) -> None:
        """Take no more notice."""
        self._stopping = True


@contextmanager
def watched(client: Client) -> Iterator[Watch]:
    """Follow pods for a while."""
    watch = Watch(client)
    thread = threading.Thread(target=watch.follow, daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        watch.stop()
