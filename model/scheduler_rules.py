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

from . import scheduler_tiers
from .problems import Path, Problem, nearest
from .wording import explained

Kinds = Mapping[str, "type | tuple[type, ...] | list[Any] | Kinds"]
"""Types of arguments by name; a name that ends with `*` stands for all that begin so. A mapping of kinds stands for a
mapping, and a list of one kind for a list of such."""

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
        "extender.managedResources": [str],
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
        "volumebinding.shape": [{"utilization": int, "score": int}],
        "dynamicresources.filterTimeoutSeconds": int,
    },
    "priority": {},
    "proportion": {},
    "rescheduling": {"*": (str, int, float, bool, list, dict)},
    "resource-strategy-fit": {
        "resourceStrategyFitWeight": int,
        "resources": {"*": {"type": str, "weight": int}},
        "sra": {"enable": bool, "resources": str, "weight": int, "resourceWeight": {"*": int}},
        "proportional": {"enable": bool, "resources": str, "resourceProportion": {"*": _NUMBER}},
    },
    "resourcequota": {},
    "sla": {"sla-waiting-time": str},
    "task-topology": {"task-topology.weight": int},
    "tdm": {"tdm.revocable-zone.*": str, "tdm.evict.period": str},
    "usage": {"usage.weight": int, "cpu.weight": int, "memory.weight": int, "thresholds": {"cpu": int, "mem": int}},
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

_SHARING = ("deviceshare.GPUSharingEnable", "deviceshare.GPUNumberEnable", "deviceshare.VGPUEnable")
"""Ways to share GPUs of which there can be one (plugins/deviceshare/deviceshare.go, enablePredicate)."""


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
    yield from scheduler_tiers.problems(placed, actions)
    names = {name for _, name, _ in placed}
    if not names - PLUGINS.keys():  # else one of them may be what is missing
        yield from scheduler_tiers.missing(placed, actions)
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
    gang = [name for name in actions if name in scheduler_tiers.GANG_ACTIONS]
    pods = [name for name in actions if name in scheduler_tiers.POD_ACTIONS]
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
    at, arguments = (*at, "arguments"), plugin.get("arguments", {})
    yield from _arguments(at, arguments, PLUGINS[name])
    if name in ("binpack", "network-topology-aware"):
        yield from _packed_resources(at, arguments)
    elif name == "deviceshare":
        yield from _one_sharing(at, arguments)
    elif name == "overcommit":
        yield from _overcommitted(at, arguments)


def _action_arguments(at: Path, entry: Mapping[str, Any]) -> Iterator[Problem]:
    name = entry["name"]
    if name not in ACTIONS:
        yield Problem((*at, "name"), name, "is no action", ", ".join(ACTIONS), nearest(name, ACTIONS))
    else:
        yield from _arguments((*at, "arguments"), entry.get("arguments", {}), ACTIONS[name])


def _arguments(at: Path, arguments: Mapping[Any, Any], known: Kinds, *, inner: bool = False) -> Iterator[Problem]:
    for key, value in arguments.items():
        if not isinstance(key, str):
            yield Problem((*at, str(key)), key, "a key must be text; Volcano ignores or dies of anything else")
            continue
        kind = known.get(key) or next((known[name] for name in known if name[-1] == "*" and _begins(key, name)), None)
        if kind is None:
            message = "there is no such argument; Volcano would ignore it silently"
            yield Problem((*at, key), key, message, ", ".join(known) or "none", nearest(key, known))
        else:
            yield from _argument((*at, key), value, kind, inner=inner)


def _argument(at: Path, value: Any, kind: Any, *, inner: bool) -> Iterator[Problem]:
    """Of what stands within an argument Volcano is stricter than of the argument (framework.Get): it dies of it."""
    kinds = kind if isinstance(kind, tuple) else (_outer(kind),)
    if not _is(value, kinds, inner=inner):
        called = " or ".join(_CALLED[each] for each in kinds)
        yield Problem(at, value, f"must be {called}; Volcano ignores or dies of anything else", called)
    elif isinstance(kind, Mapping):
        yield from _arguments(at, value, kind, inner=True)
    elif isinstance(kind, list):
        for index, each in enumerate(value):
            yield from _argument((*at, index), each, kind[0], inner=True)


def _outer(kind: Any) -> type:
    return dict if isinstance(kind, Mapping) else list if isinstance(kind, list) else kind


def _begins(key: str, pattern: str) -> bool:
    return key.startswith(pattern[:-1]) and key != pattern[:-1]


def _is(value: object, kinds: tuple[type, ...], *, inner: bool) -> bool:
    if bool in kinds and value in ("true", "false") and not inner:
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


def _one_sharing(at: Path, arguments: Mapping[str, Any]) -> Iterator[Problem]:
    """The scheduler ends itself when two ways to share GPUs are switched on."""
    on = [name for name in _SHARING if arguments.get(name) in (True, "true")]
    if len(on) > 1:
        message = "only one of them can be on: the scheduler ends itself, again and again"
        yield Problem(at, ", ".join(on), message, "one of " + ", ".join(_SHARING))


def _overcommitted(at: Path, arguments: Mapping[str, Any]) -> Iterator[Problem]:
    factor = arguments.get("overcommit-factor")
    if isinstance(factor, _NUMBER) and not isinstance(factor, bool) and factor < 1:
        yield Problem((*at, "overcommit-factor"), factor, "a factor below 1 is taken as 1.2", "1 or more")
