"""What is wrong with a configuration file of the NVIDIA device plugin.

The plugin ignores keys that it does not know, those of another level included, ends where a value cannot be, and offers
unshared GPUs where a resource is misspelt. GPU feature discovery and the MPS control daemon read the same file. Facts:
https://github.com/NVIDIA/k8s-device-plugin v0.18.0, api/config/v1, internal/plugin/mps.go and
cmd/nvidia-device-plugin/main.go; README of v0.20.0. Pure, so that policies judge other people's files with it.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from catalog import reader as catalog

from . import mig
from .base import Declared, Listed
from .nodes import GPU
from .problems import ABSENT, Path, Problem, answered, known, lost, nearest
from .shapes import Reading
from .sharing_rules import MPS_CLIENTS

_DURATION = re.compile(r"0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+")
_SHARED = "belongs under sharing.timeSlicing or sharing.mps; here the plugin ignores it"
_PLUGIN = "belongs under flags.plugin; here the plugin ignores it"
_DISCOVERY = "belongs under flags.gfd; here GPU feature discovery ignores it"
_FLAGS = "belongs under flags; here the plugin ignores it"
_NAMING = "the plugin does not support naming resources and ignores it; renameByDefault appends .shared"

Strategy = Annotated[
    Listed[Literal["envvar", "volume-mounts", "cdi-annotations", "cdi-cri"]],
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
]


def _keys(shape: type[Declared]) -> list[str]:
    return [field.alias or name for name, field in shape.model_fields.items()]


class PluginFlags(Declared):
    """`flags.plugin`: how containers get their GPUs."""

    pass_device_specs: bool | None = None
    device_list_strategy: Strategy | None = None
    device_id_strategy: Literal["uuid", "index"] | None = Field(default=None, alias="deviceIDStrategy")
    cdi_annotation_prefix: str | None = None
    nvidia_ctk_path: str | None = Field(default=None, alias="nvidiaCTKPath")
    container_driver_root: str | None = None
    shared_devices_allocation_policy: Literal["distributed", "packed"] | None = None


class DiscoveryFlags(Declared):
    """`flags.gfd`: what GPU feature discovery does."""

    oneshot: bool | None = None
    no_timestamp: bool | None = None
    sleep_interval: str | None = None
    output_file: str | None = None
    machine_type_file: str | None = None


class Flags(Declared):
    """`flags`: what could be said on the command line, too."""

    misplaced: ClassVar = {
        **dict.fromkeys(("renameByDefault", "failRequestsGreaterThanOne"), _SHARED),
        **dict.fromkeys(_keys(PluginFlags), _PLUGIN),
        **dict.fromkeys(_keys(DiscoveryFlags), _DISCOVERY),
    }

    mig_strategy: Literal["none", "single", "mixed"] | None = None
    fail_on_init_error: bool | None = None
    mps_root: str | None = None
    nvidia_driver_root: str | None = None
    nvidia_dev_root: str | None = None
    gdrcopy_enabled: bool | None = None
    gds_enabled: bool | None = None
    mofed_enabled: bool | None = None
    use_node_feature_api: bool | None = Field(default=None, alias="useNodeFeatureAPI")
    device_discovery_strategy: Literal["auto", "nvml", "tegra"] | None = None
    plugin: PluginFlags | None = None
    gfd: DiscoveryFlags | None = None


class Replicated(Declared):
    """A resource of which each device is offered several times."""

    misplaced: ClassVar = {
        "rename": _NAMING,
        "devices": "the plugin does not support choosing devices and shares them all",
        **dict.fromkeys(("renameByDefault", "failRequestsGreaterThanOne"), "belongs beside resources; here it is lost"),
    }

    name: str
    replicas: int


class Shared(Declared):
    """`sharing.timeSlicing` and `sharing.mps`."""

    misplaced: ClassVar = dict.fromkeys(("name", "replicas"), "belongs to an entry of resources; here it is lost")

    rename_by_default: bool = False
    fail_requests_greater_than_one: bool = False
    resources: Listed[Replicated]


class Sharing(Declared):
    """`sharing`: one of both."""

    misplaced: ClassVar = dict.fromkeys(
        ("renameByDefault", "failRequestsGreaterThanOne", "resources", "replicas"),
        "belongs under timeSlicing or mps; here the plugin ignores it",
    )

    time_slicing: Shared | None = None
    mps: Shared | None = None


class Imex(Declared):
    """`imex`: channels between the nodes of an NVLink domain."""

    channel_ids: Listed[int] = Field(default=(), alias="channelIDs")
    required: bool = False


class Configuration(Declared):
    """The whole file."""

    misplaced: ClassVar = {
        "resources": _NAMING,
        **dict.fromkeys(("timeSlicing", "mps"), "belongs under sharing; here the plugin ignores it"),
        **dict.fromkeys(("renameByDefault", "failRequestsGreaterThanOne"), _SHARED),
        **dict.fromkeys(_keys(PluginFlags), _PLUGIN),
        **dict.fromkeys(_keys(DiscoveryFlags), _DISCOVERY),
        **dict.fromkeys(_keys(Flags), _FLAGS),
    }

    version: Literal["v1"] = "v1"
    flags: Flags = Flags()
    sharing: Sharing = Sharing()
    imex: Imex = Imex()


def recognised(value: Mapping[str, Any]) -> bool:
    """Whether a value is meant to be such a file: it has the version, and a key that may be or is often put there."""
    return value.get("version") == "v1" and any(
        key in value for key in (*_keys(Configuration)[1:], *Configuration.misplaced)
    )


def problems(configuration: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with a configuration of the device plugin; paths begin at its root.

    Warnings say where GPUs are shared in a way that surprises: under the name of whole GPUs, or several slices at once.
    """
    understood = Reading(Configuration, configuration)
    yield from map(understood.as_written, understood.problems)
    # Meant, though said in the wrong place: what it is to be is not known.
    understood.forget(("flags", key) for key in ("migStrategy", "mpsRoot") if key in configuration)
    for rule in (_combination, _roots, _resources, _surprises, _numbers):
        yield from map(understood.as_written, answered(rule, understood.found))


def _kinds(it: Configuration) -> Iterator[tuple[Path, Shared]]:
    for key, shared in (("timeSlicing", it.sharing.time_slicing), ("mps", it.sharing.mps)):
        if not lost(shared) and shared is not None:
            yield ("sharing", key), shared


def _combination(it: Configuration) -> Iterator[Problem]:
    for key in ("time_slicing", "mps"):
        if key in it.sharing.model_fields_set and getattr(it.sharing, key) is None:
            at = ("sharing", "timeSlicing" if key == "time_slicing" else key)
            yield Problem(at, None, "is empty, and the plugin ends", "{renameByDefault, resources, …}", "leave it out")
    if it.sharing.time_slicing is not None and it.sharing.mps is not None:
        message = "timeSlicing and mps are both set: MPS wins, and timeSlicing is ignored"
        yield Problem(("sharing",), "timeSlicing, mps", message, "one of both", "leave out timeSlicing")
    if it.sharing.mps is not None and it.flags.mig_strategy in ("single", "mixed"):
        message = "MPS shares whole GPUs: with this strategy the plugin ends, or fails on the first MIG device"
        at = ("flags", "migStrategy")
        yield Problem(at, it.flags.mig_strategy, message, "none", "migStrategy: none, or timeSlicing in place of mps")


def _roots(it: Configuration) -> Iterator[Problem]:
    if it.sharing.mps is not None and not it.flags.mps_root:
        message = "MPS needs the folder that its daemon shares with containers, else the plugin ends"
        value = ABSENT if it.flags.mps_root is None else it.flags.mps_root
        yield Problem(("flags", "mpsRoot"), value, message, "a path", "mpsRoot: /run/nvidia/mps")


def _resources(it: Configuration) -> Iterator[Problem]:
    for at, shared in _kinds(it):
        inside = (*at, "resources")
        if not shared.resources:
            yield Problem(inside, [], "names no resource, and the plugin ends", f"at least {GPU}")
        seen: set[str] = set()
        for index, entry in enumerate(shared.resources):
            yield from answered(_named, it, (*inside, index, "name"), entry, seen)
            yield from answered(_replicas, (*inside, index, "replicas"), entry, at[-1])


def _named(it: Configuration, at: Path, entry: Replicated, seen: set[str]) -> Iterator[Problem]:
    # The plugin adds its prefix where it is missing.
    name = entry.name if entry.name.startswith("nvidia.com/") else f"nvidia.com/{entry.name}"
    if name in seen:
        yield Problem(at, entry.name, "is there twice", "each resource once")
    elif name not in (makes := [GPU, *_instances()]):
        message = "the plugin makes no such resource: nothing would be shared"
        allowed = f"{GPU}; with MIG strategy mixed also {mig.resource('<profile>')}"
        yield Problem(at, entry.name, message, allowed, nearest(name, makes))
    elif name != GPU and (it.sharing.mps is not None or it.flags.mig_strategy != "mixed"):
        message = "only time slicing under the MIG strategy mixed shares instances: nothing would be shared"
        yield Problem(at, entry.name, message, GPU)
    seen.add(name)


def _instances() -> set[str]:
    """The resources that MIG instances of known GPUs become."""
    return {mig.resource(profile) for gpu in catalog.gpus().values() for profile in gpu.mig}


def _replicas(at: Path, entry: Replicated, kind: str) -> Iterator[Problem]:
    if entry.replicas < 2:
        message = "the plugin ends with fewer than 2; not to share, leave out sharing"
        yield Problem(at, entry.replicas, message, "2 or more")
    elif kind == "mps" and entry.replicas > MPS_CLIENTS:
        message = f"MPS takes at most {MPS_CLIENTS} clients per GPU, and its daemon does not start"
        yield Problem(at, entry.replicas, message, f"2 to {MPS_CLIENTS}")


def _surprises(it: Configuration) -> Iterator[Problem]:
    for at, shared in _kinds(it):
        if not shared.rename_by_default:
            message = "a share is offered under the name of a whole GPU, and who asks for one gets the other"
            yield Problem((*at, "renameByDefault"), False, message, "true", severity="warning")
        if at[-1] == "timeSlicing" and not shared.fail_requests_greater_than_one:
            message = "a container may ask for several slices, which can be of one GPU and are no faster"
            yield Problem((*at, "failRequestsGreaterThanOne"), False, message, "true", severity="warning")


def _numbers(it: Configuration) -> Iterator[Problem]:
    channels = it.imex.channel_ids
    if channels not in ((), (0,)):
        yield Problem(("imex", "channelIDs"), list(channels), "the plugin knows channel 0 alone", "[], [0]")
    discovery = it.flags.gfd
    if discovery is not None and discovery.sleep_interval is not None:
        at, text = ("flags", "gfd", "sleepInterval"), discovery.sleep_interval
        if not _DURATION.fullmatch(known(text)):
            yield Problem(at, text, "is no length of time to Go", "a number with ns, us, ms, s, m or h: 60s, 1m30s")
