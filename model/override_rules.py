"""What a scheduler configuration of one's own must have for what the rest of the document says to hold."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from . import queues, scheduler_tiers, topology, workloads
from .problems import Problem, known, lost

if TYPE_CHECKING:
    from .environment import Environment

_AT = ("scheduler", "override")
_TIERS = (*_AT, "tiers")


def limits(env: "Environment") -> Iterator[Problem]:
    """Parts of the document that an override leaves without effect, each without a word of Volcano."""
    override = known(env.scheduler.override)
    if not override or known(env.scheduler.kind) != "volcano":
        return
    plugins = _plugins(override)
    yield from _actions(override)
    yield from _growing(env, override)
    yield from _queues(env, plugins)
    yield from _placing(env, plugins)


def _plugins(override: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The plugins by name: an override that has no right form is lost by now."""
    return {entry["name"]: entry for tier in override["tiers"] for entry in tier["plugins"]}


def _actions(override: Mapping[str, Any]) -> Iterator[Problem]:
    written = override["actions"]
    if "allocate" not in [name.strip() for name in written.split(",")]:
        yield Problem((*_AT, "actions"), written, "without allocate nothing is ever placed", fix=f"{written}, allocate")


def _growing(env: "Environment", override: Mapping[str, Any]) -> Iterator[Problem]:
    """Nodes are brought for pods, and what is kept out of its queue has none."""
    actions = [name.strip() for name in override["actions"].split(",")]
    growing = [name for name, pool in env.pools.items() if not lost(pool) and pool.most > pool.fewest]
    placed = [(tier, entry["name"], entry) for tier, each in enumerate(override["tiers"]) for entry in each["plugins"]]
    told = scheduler_tiers.evicting(actions)  # where anything is evicted the same is told for that
    for name in [] if told or not growing else scheduler_tiers.gates(placed, actions):
        message = (
            f"{name} keeps jobs that have no room out of their queues, without pods, so nothing makes "
            f"{', '.join(growing)} grow for them"
        )
        yield Problem(_TIERS, name, message, fix=f"{{name: {name}, enableJobEnqueued: false}}", severity="warning")


def _queues(env: "Environment", plugins: Mapping[str, Mapping[str, Any]]) -> Iterator[Problem]:
    """What queues have, who reads it."""
    nodes = [node for node in queues.flatten(env) if not lost(node.queue)]
    limited = any(node.queue.guarantee or node.queue.deserved or node.queue.capability for node in nodes)
    nested = any(node.parent != queues.ROOT for node in nodes)
    named = ", ".join(plugins)
    if "capacity" not in plugins and "proportion" not in plugins:
        if limited:
            message = "no plugin divides the cluster among queues, so that no amount of a queue has any effect"
            yield Problem(_TIERS, named, message, "capacity", "{name: capacity, enableHierarchy: true}")
    elif "capacity" not in plugins and nested:
        message = "proportion knows no parts of queues, and the document has some"
        yield Problem(_TIERS, named, message, "capacity", "{name: capacity, enableHierarchy: true}")
    elif nested and plugins["capacity"].get("enableHierarchy") is not True:
        message = "without enableHierarchy capacity knows no parts of queues, and the document has some"
        yield Problem(_TIERS, named, message, fix="{name: capacity, enableHierarchy: true}")
    if any(node.queue.guarantee or node.queue.capability for node in nodes):
        message = "queues use more than their capability, and what is guaranteed to others"
        for name in ("capacity", "proportion"):
            if name in plugins:  # that neither is there is told above
                yield from _needed(plugins, name, "enabledAllocatable", message)


def _placing(env: "Environment", plugins: Mapping[str, Mapping[str, Any]]) -> Iterator[Problem]:
    """What workloads and pools want, who sees to it."""
    every = workloads.every(env)
    if every:
        message = "pods start one by one, and workloads that need all of theirs hold GPUs and wait"
        yield from _needed(plugins, "gang", "enableJobReady", message)
    if any(not lost(pool) and pool.taints for pool in env.pools.values()):
        message = "nobody looks at taints and labels of nodes, and the document has some"
        yield from _needed(plugins, "predicates", "enablePredicate", message)
        yield from _tolerations(plugins.get("predicates", {}).get("arguments", {}))
    bounded = [each.name for each in every if not lost(each.value.within) and each.value.within]
    if bounded and topology.levels(env):
        message = f"no bound holds, not even a hard one: {', '.join(bounded)}"
        yield from _needed(plugins, "network-topology-aware", "enabledHyperNodeGradient", message)
    if every or env.queues:
        yield from _groups(plugins)


def _needed(plugins: Mapping[str, Mapping[str, Any]], name: str, switch: str, message: str) -> Iterator[Problem]:
    """What is missed without a plugin is missed as well where it is switched off."""
    if scheduler_tiers.on(plugins, name, switch):
        return
    if name in plugins:
        yield Problem(
            _TIERS, f"{name}.{switch}: false", f"without {switch} of {name} {message}", fix=f"leave out {switch}"
        )
    else:
        yield Problem(_TIERS, ", ".join(plugins), f"without {name} {message}", fix=f"{{name: {name}}}")


def _tolerations(arguments: Mapping[str, Any]) -> Iterator[Problem]:
    name = "predicate.TaintTolerationEnable"
    if arguments.get(name) in (False, "false"):
        message = "pods are placed on nodes whose taints they do not tolerate, and the document has taints"
        yield Problem(_TIERS, f"{name}: {arguments[name]}", message, fix=f"leave out {name}")


def _groups(plugins: Mapping[str, Mapping[str, Any]]) -> Iterator[Problem]:
    """No queue of a document has affinity, and nodegroup, strict by default, keeps work of such from every node.

    Fact: pkg/scheduler/plugins/nodegroup/nodegroup.go, predicateFn.
    """
    strict = plugins.get("nodegroup", {}).get("arguments", {}).get("strict", True)
    if scheduler_tiers.on(plugins, "nodegroup", "enablePredicate") and strict not in (False, "false"):
        message = "nodegroup places nothing of queues without affinity to groups of nodes, and these have none"
        yield Problem(_TIERS, "nodegroup", message, fix="{name: nodegroup, arguments: {strict: false}}")
