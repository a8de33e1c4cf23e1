"""Configuration of the device plugins for RDMA.

Sources of the formats: https://github.com/Mellanox/k8s-rdma-shared-dev-plugin, pkg/types and
pkg/resources/resources_manager.go; https://github.com/k8snetworkplumbingwg/sriov-network-device-plugin, pkg/types.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from . import fabric, images, names
from .derived import derived
from .pools import Pool
from .problems import Unanswerable

if TYPE_CHECKING:
    from .environment import Environment

Plugin = Literal["rdma-shared", "sriov", "efa"]

_NAME = 32
_PERIOD = 60
"""Seconds after which the shared plugin looks for new NICs again; its own default, said so that nobody wonders."""


@dataclass(frozen=True)
class Plan:
    """What advertises the RDMA devices of some pools.

    Attributes:
        name: A DNS label of at most 32 characters, unique among plans of one plugin.
        plugin: Which device plugin it is.
        pools: The pools whose nodes it runs on.
        configuration: Its configuration file; empty for the EFA plugin, which has none.
    """

    name: str
    plugin: Plugin
    pools: tuple[str, ...]
    configuration: Mapping[str, Any]


def plugin(pool: Pool) -> Plugin | None:
    """The device plugin that the nodes of a pool need for their fabric; None with plain TCP."""
    kind = fabric.of(pool)
    if kind.kind == "tcp":
        return None
    if kind.kind == "efa":
        return "efa"
    return "sriov" if fabric.mode(kind) == "sriov" else "rdma-shared"


def entry(pool: Pool) -> dict[str, Any]:
    """What the plugin of a pool is told to advertise: a member of `configList` or of `resourceList`.

    NICs are found by vendor, model, driver and link type, so that the same entry fits all nodes of a model, and by
    interface only where the document names interfaces. The link type is that of the NIC's network interface: on
    InfiniBand the nodes must have IP over InfiniBand loaded (`ib_ipoib`), or the shared plugin finds nothing.

    Raises:
        Unanswerable: Its NICs are not known, or it has no RDMA.
    """
    kind, ports = fabric.of(pool), fabric.nics(pool)
    if ports is None or kind.kind in ("tcp", "efa"):
        raise Unanswerable
    link = ["infiniband" if kind.kind == "infiniband" else "ether"]
    names = {"resourceName": fabric.rdma_name(kind), "resourcePrefix": fabric.PREFIX}
    common = {"vendors": [ports.model.vendor], "drivers": [ports.model.driver], "linkTypes": link}
    interfaces = sorted(kind.interfaces)
    if plugin(pool) == "sriov":
        if ports.model.virtual is None:
            raise Unanswerable
        selectors = {**common, "devices": [ports.model.virtual], "isRdma": True}
        return {**names, "selectors": {**selectors, **({"pfNames": interfaces} if interfaces else {})}}
    selectors = {**common, "deviceIDs": list(ports.model.devices)}
    selectors |= {"ifNames": interfaces} if interfaces else {}
    return {**names, "rdmaHcaMax": fabric.slots(kind), "selectors": selectors}


def configuration(plugin: Plugin, entries: list[dict[str, Any]]) -> dict[str, Any]:
    """The configuration file of a plugin that advertises some entries."""
    if plugin == "efa":
        return {}
    return (
        {"resourceList": entries} if plugin == "sriov" else {"periodicUpdateInterval": _PERIOD, "configList": entries}
    )


def text(configuration: Mapping[str, Any]) -> str:
    """A configuration as it stands in its file."""
    return json.dumps(configuration, indent=2, sort_keys=True) + "\n"


@derived
def plans(env: "Environment") -> tuple[Plan, ...]:
    """The device plugins for RDMA that this project runs itself.

    One per pool where there is something to configure: a changed option then rolls the plugin of one pool, and never
    are two of them at work on one node, as they would be for a while if plans were named by what they contain. The
    network operator brings the plugins of ConnectX NICs where it is installed; EFA's is none of its business.
    """
    found: list[Plan] = []
    efa: list[str] = []
    for name, pool in env.pools.items():
        kind = plugin(pool)
        if kind is None or _brought(env, name, kind):
            continue
        if kind == "efa":
            efa.append(name)
        else:
            found.append(Plan(names.fit(name, _NAME), kind, (name,), configuration(kind, [entry(pool)])))
    return (*found, *([Plan("efa", "efa", tuple(efa), {})] if efa else []))


def _brought(env: "Environment", pool: str, kind: Plugin) -> bool:
    if kind == "efa":
        return images.brings(env, pool, "efa-plugin")
    return env.devices.install == "operator"


@derived
def operator_entries(env: "Environment") -> Mapping[Plugin, list[dict[str, Any]]]:
    """What the network operator's one policy tells each plugin, for the pools of the whole cluster.

    Its configuration is the same on all nodes (https://github.com/Mellanox/network-operator, NicClusterPolicy), so
    pools with one resource share one entry, whose selectors fit the NICs of any of them.
    """
    merged: dict[Plugin, dict[str, dict[str, Any]]] = {}
    for pool in env.pools.values():
        kind = plugin(pool)
        if kind is None or kind == "efa":
            continue
        new = entry(pool)
        entries = merged.setdefault(kind, {})
        entries[new["resourceName"]] = _union(entries.get(new["resourceName"], new), new)
    return {kind: [entries[name] for name in sorted(entries)] for kind, entries in sorted(merged.items())}


def _union(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    both = {**one["selectors"], **other["selectors"]}
    selectors = {
        key: sorted({*one["selectors"].get(key, ()), *other["selectors"].get(key, ())})
        if isinstance(value, list)
        else value
        for key, value in both.items()
    }
    return {**one, "selectors": selectors}
