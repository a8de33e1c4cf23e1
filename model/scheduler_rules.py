"""What is wrong with a configuration file of Volcano's scheduler.

The scheduler itself ignores unknown keys, ignores arguments of a wrong type (or dies of them) and runs plugins side by
side that its documentation says must not be. Facts: https://github.com/volcano-sh/volcano v1.15.1,
pkg/scheduler/{util.go, conf/scheduler_conf.go, framework/arguments.go, actions, plugins} and
docs/user-guide/how_to_use_capacity_plugin.md. Pure, so that policies judge other people's configurations with it.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NotRequired

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from .problems import Path, Problem, nearest
from .wording import explained

Kinds = Mapping[str, type | tuple[type, ...]]
"""Types of arguments by name; a name that ends with `*` stands for all that begin so."""

_NUMBER = (int, float)
_PREDICATES = [
    "NodeAffinity",
    "NodePorts",
    "TaintToleration",
    "PodAffinity",
    "NodeVolumeLimits",
    "VolumeZone",
    "PodTopologySpread",
    "VolumeBinding",
]
_WEIGHTS = [
    "leastrequested",
    "mostrequested",
    "nodeaffinity",
    "podaffinity",
    "balancedresource",
    "tainttoleration",
    "imagelocality",
    "podtopologyspread",
]

ACTIONS: Mapping[str, Kinds] = {
    "enqueue": {},
    "allocate": {"predicateErrorCacheEnable": bool},
    "backfill": {"predicateErrorCacheEnable": bool},
    "reclaim": {"predicateErrorCacheEnable": bool},
    "preempt": {
        "predicateErrorCacheEnable": bool,
        "enableTopologyAwarePreemption": bool,
        "topologyAwarePreemptWorkerNum": int,
        "minCandidateNodesPercentage": int,
        "minCandidateNodesAbsolute": int,
        "maxCandidateNodesAbsolute": int,
    },
    "gangpreempt": {"maxDomains": int, "allowWholeBundle": bool},
    "gangreclaim": {"maxDomains": int, "allowWholeBundle": bool},
    "shuffle": {},
}
"""Actions with their arguments (under `configurations`)."""

PLUGINS: Mapping[str, Kinds] = {
    "binpack": {
        "binpack.weight": int,
        "binpack.cpu": int,
        "binpack.memory": int,
        "binpack.resources": str,
        "binpack.resources.*": int,
    },
    "capacity": {
        "ancestorReclaimLevel": int,
        "capacity.DynamicResourceAllocationEnable": bool,
        "capacity.DRAConsumableCapacityEnable": bool,
    },
    "cdp": {},
    "conformance": {},
    "deviceshare": {
        "deviceshare.GPUSharingEnable": bool,
        "deviceshare.GPUNumberEnable": bool,
        "deviceshare.NodeLockEnable": bool,
        "deviceshare.VGPUEnable": bool,
        "deviceshare.AscendMindClusterVNPUEnable": bool,
        "deviceshare.AscendHAMiVNPUEnable": bool,
        "deviceshare.SchedulePolicy": str,
        "deviceshare.ScheduleWeight": int,
        "deviceshare.GPUExclusiveRules": (list, str),
        "deviceshare.KnownGeometriesCMName": str,
        "deviceshare.KnownGeometriesCMNamespace": str,
    },
    "drf": {},
    "extender": {
        "extender.managedResources": list,
        "extender.ignorable": bool,
        "extender.*": (str, int, float, bool),
    },
    "gang": {},
    "network-topology-aware": {
        "weight": int,
        "hypernode.binpack.cpu": int,
        "hypernode.binpack.memory": int,
        "hypernode.binpack.resources": str,
        "hypernode.binpack.resources.*": int,
        "hypernode.binpack.normal-pod.enable": bool,
        "hypernode.binpack.normal-pod.fading": _NUMBER,
        "hypernode.gradient.evict.max-hypernodes": int,
    },
    "nodegroup": {"strict": bool, "enablePreferredOrder": bool},
    "nodeorder": {f"{name}.weight": int for name in _WEIGHTS},
    "numa-aware": {"weight": int},
    "overcommit": {"overcommit-factor": _NUMBER},
    "pdb": {},
    "predicates": {
        **{f"predicate.{name}Enable": bool for name in _PREDICATES},
        "predicate.CacheEnable": bool,
        "volumebinding.weight": int,
        "volumebinding.bindTimeoutSeconds": int,
        "volumebinding.shape": list,
        "dynamicresources.filterTimeoutSeconds": int,
    },
    "priority": {},
    "proportion": {},
    "rescheduling": {"*": (str, int, float, bool, list, dict)},
    "resource-strategy-fit": {
        "resourceStrategyFitWeight": int,
        "resources": dict,
        "sra": dict,
        "proportional": dict,
    },
    "resourcequota": {},
    "sla": {"sla-waiting-time": str},
    "task-topology": {"task-topology.weight": int},
    "tdm": {"tdm.revocable-zone.*": str, "tdm.evict.period": str},
    "usage": {"usage.weight": int, "cpu.weight": int, "memory.weight": int, "thresholds": dict},
}
"""Plugins with their arguments. A number in quotes is no number to Volcano: it warns and takes the default."""

_SWITCHES = (
    *(
        f"enable{name}"
        for name in [
            "JobOrder",
            "Hierarchy",
            "JobReady",
            "JobPipelined",
            "TaskOrder",
            "Preemptable",
            "Reclaimable",
            "Preemptive",
            "QueueOrder",
            "Predicate",
            "BestNode",
            "NodeOrder",
            "TargetJob",
            "ReservedNodes",
            "JobEnqueued",
            "JobStarving",
        ]
    ),
    *(
        f"enabled{name}"
        for name in [
            "Victim",
            "Overused",
            "Allocatable",
            "HyperNodeOrder",
            "SubJobReady",
            "SubJobPipelined",
            "SubJobOrder",
            "HyperNodeGradient",
        ]
    ),
    "EnabledClusterOrder",
)
"""Switches of a plugin, spelt as unevenly as in Volcano."""

_OPEN = ConfigDict(extra="allow", strict=True)


@with_config(_OPEN)
class _Named(TypedDict):
    name: str
    arguments: NotRequired[dict[str, Any]]


@with_config(_OPEN)
class _Tier(TypedDict):
    plugins: list[_Named]


@with_config(_OPEN)
class _File(TypedDict):
    actions: str
    tiers: list[_Tier]
    configurations: NotRequired[list[_Named]]
    metrics: NotRequired[dict[str, Any]]


_FILE = TypeAdapter(_File)

_GANG_ACTIONS = ("gangpreempt", "gangreclaim")
_POD_ACTIONS = ("preempt", "reclaim")
_VICTIMS = ("priority", "gang", "conformance", "capacity")
"""Plugins that the gang-aware actions ask for victims: the first tier in which one answers decides alone
(pkg/scheduler/framework/session_plugins.go, UnifiedEvictable)."""


def problems(configuration: Mapping[str, Any], *, deserving: bool = False) -> Iterator[Problem]:
    """What is wrong with a scheduler configuration; paths begin at its root.

    Args:
        configuration: The file as a plain value.
        deserving: Whether some queue has `deserved`, which the proportion plugin knows nothing of.
    """
    try:
        _FILE.validate_python(configuration)
    except ValidationError as error:
        yield from (explained(detail, detail["loc"], None) for detail in error.errors(include_url=False))
        return
    yield from _unknown((), configuration, ("actions", "tiers", "configurations", "metrics"))
    actions = [name.strip() for name in configuration["actions"].split(",")]
    yield from _actions(actions, configuration["actions"])
    placed: list[tuple[int, str, Mapping[str, Any]]] = []
    for tier, at, plugin in _plugins(configuration):
        yield from _plugin(at, plugin)
        placed.append((tier, plugin["name"], plugin))
    yield from _combinations(placed, actions)
    names = {name for _, name, _ in placed}
    if deserving and "proportion" in names and "capacity" not in names:
        message = "proportion shares by weight and knows no deserved, which some queues have"
        yield Problem(("tiers",), "proportion", message, "capacity", severity="warning")
    for index, entry in enumerate(configuration.get("configurations", ())):
        yield from _action_arguments(("configurations", index), entry)


def _plugins(configuration: Mapping[str, Any]) -> Iterator[tuple[int, Path, Mapping[str, Any]]]:
    for tier, entry in enumerate(configuration["tiers"]):
        for index, plugin in enumerate(entry["plugins"]):
            yield tier, ("tiers", tier, "plugins", index), plugin


def _unknown(at: Path, entry: Mapping[str, Any], known: tuple[str, ...]) -> Iterator[Problem]:
    for key in entry:
        if key not in known:
            message = "there is no such key; Volcano would ignore it silently"
            yield Problem((*at, key), key, message, ", ".join(known), nearest(key, known))


def _actions(actions: list[str], written: object) -> Iterator[Problem]:
    at: Path = ("actions",)
    for name in actions:
        if name not in ACTIONS:
            message = "is no action; Volcano refuses the whole configuration"
            yield Problem(at, name, message, ", ".join(ACTIONS), nearest(name, ACTIONS))
    gang, pods = [name for name in actions if name in _GANG_ACTIONS], [name for name in actions if name in _POD_ACTIONS]
    if gang and pods:
        message = f"{', '.join(gang)} must not run together with {', '.join(pods)}: both would evict for the same claim"
        yield Problem(at, written, message, "one kind of both")


def _plugin(at: Path, plugin: Mapping[str, Any]) -> Iterator[Problem]:
    name = plugin["name"]
    if name not in PLUGINS:
        message = "is no plugin; Volcano would only log that"
        yield Problem((*at, "name"), name, message, ", ".join(PLUGINS), nearest(name, PLUGINS))
        return
    yield from _unknown(at, plugin, ("name", "arguments", *_SWITCHES))
    for switch in _SWITCHES:
        if not isinstance(plugin.get(switch, False), bool):
            yield Problem((*at, switch), plugin[switch], "must be true or false", "true, false")
    yield from _arguments((*at, "arguments"), plugin.get("arguments", {}), PLUGINS[name])
    if name in ("binpack", "network-topology-aware"):
        yield from _packed_resources((*at, "arguments"), plugin.get("arguments", {}))


def _action_arguments(at: Path, entry: Mapping[str, Any]) -> Iterator[Problem]:
    name = entry["name"]
    if name not in ACTIONS:
        yield Problem((*at, "name"), name, "is no action", ", ".join(ACTIONS), nearest(name, ACTIONS))
    else:
        yield from _arguments((*at, "arguments"), entry.get("arguments", {}), ACTIONS[name])


def _arguments(at: Path, arguments: Mapping[str, Any], known: Kinds) -> Iterator[Problem]:
    for key, value in arguments.items():
        kind = known.get(key) or next((known[name] for name in known if name[-1] == "*" and _begins(key, name)), None)
        if kind is None:
            message = "there is no such argument; Volcano would ignore it silently"
            yield Problem((*at, key), key, message, ", ".join(known) or "none", nearest(key, known))
        elif not _is(value, kind):
            called = " or ".join(_CALLED[each] for each in (kind if isinstance(kind, tuple) else (kind,)))
            yield Problem((*at, key), value, f"must be {called}; Volcano ignores or dies of anything else", called)


def _begins(key: str, pattern: str) -> bool:
    return key.startswith(pattern[:-1]) and key != pattern[:-1]


def _is(value: object, kind: type | tuple[type, ...]) -> bool:
    kinds = kind if isinstance(kind, tuple) else (kind,)
    if bool in kinds and value in ("true", "false"):
        return True  # the only type that Volcano reads from text
    return type(value) in kinds  # a bool is an int to Python, not to Volcano


_CALLED = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "text",
    list: "a list",
    dict: "a mapping",
}


def _packed_resources(at: Path, arguments: Mapping[str, Any]) -> Iterator[Problem]:
    """A weight counts only when its resource is listed; a negative one is reset to 1."""
    for key, weight in arguments.items():
        prefix, dot, resource = key.partition(".resources.")
        if not dot:
            continue
        listed = [name.strip() for name in str(arguments.get(f"{prefix}.resources", "")).split(",")]
        if resource not in listed:
            message = f"the weight of {resource} has no effect, since {prefix}.resources does not list it"
            yield Problem((*at, key), weight, message, ", ".join(name for name in listed if name) or None)
        elif type(weight) is int and weight < 0:
            yield Problem((*at, key), weight, "a negative weight is taken as 1", "0 or more")


def _combinations(placed: list[tuple[int, str, Mapping[str, Any]]], actions: list[str]) -> Iterator[Problem]:
    """Plugins that contradict each other, in whatever tiers they stand."""
    tiers = {name: tier for tier, name, _ in reversed(placed)}
    options = {name: plugin for _, name, plugin in reversed(placed)}
    for index, (_, name, _) in enumerate(placed):
        if name in (earlier for _, earlier, _ in placed[:index]):
            yield Problem(("tiers",), name, "the plugin is there twice", "each plugin once")
    if "proportion" in tiers and "capacity" in tiers:
        message = "capacity and proportion both divide the cluster among queues, each in its own way"
        yield Problem(("tiers",), "capacity, proportion", message, "capacity or proportion", "leave out proportion")
    if "proportion" in tiers and options.get("drf", {}).get("enableHierarchy") is True:
        message = "drf with enableHierarchy and proportion both divide the cluster among queues"
        yield Problem(("tiers",), "drf, proportion", message, "one of both", "leave out proportion")
    if "overcommit" in tiers and "enqueue" in actions and {*actions} & {*_POD_ACTIONS, *_GANG_ACTIONS}:
        message = "on a full cluster overcommit keeps jobs out of the queue, so that nothing is reclaimed for them"
        yield Problem(("tiers",), "overcommit", message, fix="leave out overcommit", severity="warning")
    if {*actions} & {*_GANG_ACTIONS} and "capacity" in tiers:
        apart = [name for name in _VICTIMS if name in tiers and tiers[name] != tiers["capacity"]]
        if apart:
            message = (
                f"{', '.join(apart)} in another tier than capacity: the gang-aware actions ask the first tier only, "
                "so what queues deserve is not protected"
            )
            yield Problem(("tiers",), ", ".join(apart), message, "one tier for " + ", ".join(_VICTIMS))
