"""Simulated nodes: the Node objects that follow from what the model says pools offer.

Only nodes with the annotation `kwok.x-k8s.io/node=fake` are ever touched.
"""

import datetime
import ipaddress
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lightkube import Client
from lightkube.core.exceptions import ApiError
from lightkube.models.core_v1 import NodeAddress, NodeCondition, NodeSpec, NodeStatus, NodeSystemInfo
from lightkube.models.core_v1 import Taint as NodeTaint
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Node
from lightkube.types import PatchType

from model.quantities import Quantity
from twin.errors import TwinError
from twin.stages import NODE_SELECTOR

if TYPE_CHECKING:
    from model.offers import NodeOffer

THREADS = 16  # 1,024 nodes in 4.5 s on two cores; more threads gain nothing
OFFER = "gangline.dev/offer"  # annotation: what was last offered, to know what is ours to take away
ADDRESSES = ipaddress.ip_network("172.16.0.0/12")
VERSION = "gangline-twin"  # of everything on a node that does not exist
SETTLING_TAINT = "node.kubernetes.io/not-ready"


@dataclass(frozen=True)
class NodeChanges:
    """What reconciling nodes did.

    Attributes:
        created: Names of new nodes.
        updated: Names of nodes whose labels, taints or resources changed.
        deleted: Names of nodes that are no longer offered.
        unchanged: How many nodes were as they should be.
    """

    created: tuple[str, ...]
    updated: tuple[str, ...]
    deleted: tuple[str, ...]
    unchanged: int


def reconcile(client: Client, offers: Iterable["NodeOffer"], settle: float = 60) -> NodeChanges:
    """Make the simulated nodes of the cluster those that are offered.

    Args:
        client: A client with the rights of an administrator.
        offers: All nodes that there shall be.
        settle: Seconds that new nodes have to become schedulable; 0 does not wait.

    Raises:
        TwinError: Two offers have one name, a node of that name exists and is not simulated, the API server refused a
            node, or new nodes did not become schedulable in time.
    """
    wanted: dict[str, NodeOffer] = {}
    for offer in offers:
        if offer.name in wanted:
            raise TwinError(f"two nodes are named {offer.name}")
        wanted[offer.name] = offer
    present = {node.metadata.name: node for node in client.list(Node) if node.metadata and node.metadata.name}
    simulated = {name: node for name, node in present.items() if is_simulated(node)}
    if foreign := sorted(set(wanted) & (set(present) - set(simulated))):
        raise TwinError(f"node {foreign[0]} exists and is not simulated: it is left alone")

    missing = [name for name in wanted if name not in simulated]
    addresses = dict(zip(missing, _free_addresses(simulated.values()), strict=False))
    extra = [name for name in simulated if name not in wanted]
    patches = {name: changes(simulated[name], offer) for name, offer in wanted.items() if name in simulated}
    differing = [name for name, (metadata, status) in patches.items() if metadata or status]

    def update(name: str) -> None:
        metadata, status = patches[name]
        if metadata:
            client.patch(Node, name, metadata, patch_type=PatchType.MERGE)
        if status:
            client.patch(Node.Status, name, status, patch_type=PatchType.MERGE)

    _each(lambda name: client.create(_node(wanted[name], addresses[name])), missing)
    _each(update, differing)
    _each(lambda name: _delete(client, name), extra)
    if missing and settle:
        _await_schedulable(client, set(missing), settle)
    return NodeChanges(tuple(missing), tuple(differing), tuple(extra), len(patches) - len(differing))


def is_simulated(node: Node) -> bool:
    """Say whether a node is one of the twin's."""
    key, _, value = NODE_SELECTOR.partition("=")
    annotations = (node.metadata.annotations if node.metadata else None) or {}
    return annotations.get(key) == value


def is_ready(node: Node) -> bool:
    """Say whether a node reports to be ready."""
    conditions = (node.status.conditions if node.status else None) or []
    return any(condition.type == "Ready" and condition.status == "True" for condition in conditions)


def changes(node: Node, offer: "NodeOffer") -> tuple[dict[str, Any], dict[str, Any]]:
    """Compare a node with an offer.

    Labels and taints that somebody else put on the node stay; those that an earlier offer put there and this one does
    not go.

    Returns:
        Merge patches for the object and for its status; empty where nothing differs.
    """
    if node.metadata is None or node.spec is None or node.status is None:
        raise TwinError("the API server sent a node without metadata, spec or status")
    before = _last_offer(node)
    patch: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    if labels := _difference(node.metadata.labels or {}, offer.labels, before.get("labels", {})):
        metadata["labels"] = labels
    if (record := _record(offer)) != (node.metadata.annotations or {}).get(OFFER):
        metadata["annotations"] = {OFFER: record}
    if metadata:
        patch["metadata"] = metadata
    live = [{"key": t.key, "value": t.value or "", "effect": t.effect} for t in node.spec.taints or []]
    offered = _taints(offer)
    foreign = [taint for taint in live if taint not in offered and taint not in before.get("taints", [])]
    if any(taint not in live for taint in offered) or len(live) != len(offered) + len(foreign):
        patch["spec"] = {"taints": offered + foreign}
    status = {
        kind: difference
        for kind, now, then in (
            ("capacity", node.status.capacity or {}, offer.capacity),
            ("allocatable", node.status.allocatable or {}, offer.allocatable),
        )
        if (difference := _difference(now, {**then, **_same(now, then)}, now))
    }
    return patch, ({"status": status} if status else {})


def _difference(live: Mapping[str, str], wanted: Mapping[str, str], ours: Iterable[str]) -> dict[str, str | None]:
    changed: dict[str, str | None] = {key: value for key, value in wanted.items() if live.get(key) != value}
    return changed | {key: None for key in ours if key in live and key not in wanted}


def _same(live: Mapping[str, str], wanted: Mapping[str, str]) -> dict[str, str]:
    """Give the live quantities that are equal to the wanted ones: the API server writes 2048Gi as 2Ti."""
    return {
        name: quantity
        for name, quantity in live.items()
        if name in wanted and Quantity.parse(quantity) == Quantity.parse(wanted[name])
    }


def _taints(offer: "NodeOffer") -> list[dict[str, str]]:
    return [{"key": taint.key, "value": taint.value or "", "effect": taint.effect} for taint in offer.taints]


def _record(offer: "NodeOffer") -> str:
    return json.dumps({"labels": dict(offer.labels), "taints": _taints(offer)}, sort_keys=True)


def _last_offer(node: Node) -> dict[str, Any]:
    annotations = (node.metadata.annotations if node.metadata else None) or {}
    try:
        return json.loads(annotations.get(OFFER, "{}"))
    except ValueError:
        return {}


def _node(offer: "NodeOffer", address: str) -> Node:
    key, _, value = NODE_SELECTOR.partition("=")
    now = datetime.datetime.now(datetime.UTC)
    # Ready from the start: the stage that sets it took half a minute for a thousand nodes under load.
    ready = NodeCondition(
        type="Ready",
        status="True",
        reason="KubeletReady",
        message="simulated node",
        lastHeartbeatTime=now,
        lastTransitionTime=now,
    )
    return Node(
        metadata=ObjectMeta(
            name=offer.name, labels=dict(offer.labels), annotations={key: value, OFFER: _record(offer)}
        ),
        spec=NodeSpec(
            taints=[
                NodeTaint(key=taint["key"], value=taint["value"], effect=taint["effect"]) for taint in _taints(offer)
            ]
        ),
        status=NodeStatus(
            capacity=dict(offer.capacity),
            allocatable=dict(offer.allocatable),
            addresses=[NodeAddress(address, "InternalIP"), NodeAddress(offer.name, "Hostname")],
            conditions=[ready],
            nodeInfo=NodeSystemInfo(
                architecture=offer.labels.get("kubernetes.io/arch", "amd64"),
                operatingSystem=offer.labels.get("kubernetes.io/os", "linux"),
                bootID="",
                containerRuntimeVersion=VERSION,
                kernelVersion=VERSION,
                kubeProxyVersion="",
                kubeletVersion=VERSION,
                machineID="",
                osImage=VERSION,
                systemUUID="",
            ),
        ),
    )


def _free_addresses(nodes: Iterable[Node]) -> Iterator[str]:
    used = {
        address.address
        for node in nodes
        for address in ((node.status.addresses if node.status else None) or [])
        if address.type == "InternalIP"
    }
    return (text for host in ADDRESSES.hosts() if (text := str(host)) not in used)


def _delete(client: Client, name: str) -> None:
    try:
        client.delete(Node, name, grace_period=0)
    except ApiError as error:
        if error.status.code != 404:
            raise


def _each(work: Callable[[str], Any], names: list[str]) -> None:
    if not names:
        return
    with ThreadPoolExecutor(min(THREADS, len(names))) as threads:
        for name, future in [(name, threads.submit(work, name)) for name in names]:
            try:
                future.result()
            except ApiError as error:
                raise TwinError(f"node {name}: {error.status.message}") from error


def _await_schedulable(client: Client, names: set[str], limit: float) -> None:
    deadline = time.monotonic() + limit
    while True:
        waiting = [
            node.metadata.name
            for node in client.list(Node)
            if node.metadata
            and node.metadata.name in names
            and any(taint.key == SETTLING_TAINT for taint in ((node.spec.taints if node.spec else None) or []))
        ]
        if not waiting:
            return
        if time.monotonic() > deadline:
            raise TwinError(
                f"{len(waiting)} of {len(names)} new nodes still have the taint {SETTLING_TAINT} after {limit:g} s,"
                f" for example {waiting[0]}: see the log of kube-controller-manager"
            )
        time.sleep(0.2)
