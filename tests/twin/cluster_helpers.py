"""Small helpers of the tests that run a control plane: nodes to offer, waiting, looking."""

import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import psutil
from lightkube import Client

from model.offers import NodeOffer
from model.pools import Taint
from twin.cluster import Twin
from twin.keeper import ROOT_VARIABLE

T = TypeVar("T")


def offer(name: str, **resources: str) -> NodeOffer:
    """A node with some room, and more when asked for."""
    amounts = {"cpu": "16", "memory": "64Gi", "pods": "110"} | resources
    return NodeOffer(
        name=name,
        pool=name.rpartition("-")[0],
        labels={"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"},
        taints=(),
        capacity=amounts,
        allocatable=amounts,
    )


def tainted(name: str, key: str) -> NodeOffer:
    """A node with a taint."""
    plain = offer(name)
    taint = Taint(key=key, value="true", effect="NoSchedule")
    return NodeOffer(plain.name, plain.pool, plain.labels, (taint,), plain.capacity, plain.allocatable)


def eventually(look: Callable[[], T], limit: float = 20, what: str = "") -> T:
    """Look until there is something to see, and give that."""
    deadline = time.monotonic() + limit
    while not (seen := look()):
        assert time.monotonic() < deadline, f"not within {limit} s: {what or look}"
        time.sleep(0.1)
    return seen


def look_up(client: Client, kind: Any, name: str, namespace: str | None = None) -> dict[str, Any]:
    """An object as the API server sends it."""
    found = client.get(kind, name, namespace=namespace) if namespace else client.get(kind, name)
    return found.to_dict()


def is_ready(pod: Mapping[str, Any]) -> bool:
    """Whether a pod says that it is ready."""
    conditions = pod["status"].get("conditions", [])
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def processes_of(twin: Twin) -> list[psutil.Process]:
    """All living processes that carry the twin's mark, found without the twin's help."""
    found = []
    for process in psutil.process_iter():
        try:
            mine = process.environ().get(ROOT_VARIABLE) == str(twin.paths.root)
            if mine and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found
