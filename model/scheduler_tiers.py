"""Which plugins of Volcano's scheduler contradict each other, or stand in tiers where they are not asked.

Facts: https://github.com/volcano-sh/volcano v1.15.1, pkg/scheduler/{framework/session_plugins.go, actions, plugins}.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .problems import Path, Problem

GANG_ACTIONS = ("gangpreempt", "gangreclaim")
POD_ACTIONS = ("preempt", "reclaim")

Placed = Sequence[tuple[int, str, Mapping[str, Any]]]
"""Plugins in order: tier, name, entry."""

_AT: Path = ("tiers",)
_STARVING = ("priority", "gang", "tdm")
"""Plugins that say which jobs want more than they have (AddJobStarvingFns)."""

_KEEPS_OUT = {
    "overcommit": "on a full cluster overcommit keeps jobs out of their queues",
    "capacity": "in a queue at its capability, or below a whole at its own, capacity keeps jobs out",
    "proportion": "in a queue at its capability proportion keeps jobs out",
}
"""Plugins that enqueue asks (AddJobEnqueueableFn), and when they say no."""


@dataclass(frozen=True)
class _Eviction:
    """How an action finds its victims.

    Tier by tier it takes what all plugins of the tier agree on, and the first tier that finds any decides alone. So a
    plugin that allows nearly everything overrules one in another tier: standing before, always; standing behind,
    whenever that one allows none.

    Attributes:
        judge: The plugin that protects others.
        generous: Plugins that allow nearly everything.
        lost: What does not hold when one of those decides.
        switch: The switch of a plugin that leaves it out; empty where none is read (UnifiedEvictable).
    """

    judge: str
    generous: tuple[str, ...]
    lost: str
    switch: str = ""


_SHARES = "so what queues deserve is not protected"
_EVICTIONS: Mapping[str, _Eviction] = {
    # Of the candidates for gangpreempt the action itself leaves out those of equal priority.
    "gangreclaim": _Eviction("capacity", ("priority", "gang", "conformance"), _SHARES),
    "reclaim": _Eviction("capacity", ("conformance", "pdb", "cdp"), _SHARES, "enableReclaimable"),
    "preempt": _Eviction(
        "priority",
        ("conformance", "pdb", "cdp"),
        "so jobs evict others of the same and of higher priority",
        "enablePreemptable",
    ),
}


def problems(placed: Placed, actions: Sequence[str]) -> Iterator[Problem]:
    """What is wrong with plugins side by side, each of which is right by itself.

    Args:
        placed: The plugins.
        actions: Names of the actions, in order.
    """
    tiers = {name: tier for tier, name, _ in reversed(placed)}
    options = {name: plugin for _, name, plugin in reversed(placed)}
    for index, (_, name, _) in enumerate(placed):
        if name in (earlier for _, earlier, _ in placed[:index]):
            yield Problem(_AT, name, "the plugin is there twice", "each plugin once")
    if "proportion" in tiers and "capacity" in tiers:
        message = "capacity and proportion both divide the cluster among queues, each in its own way"
        yield Problem(_AT, "capacity, proportion", message, "capacity or proportion", "leave out proportion")
    if "proportion" in tiers and options.get("drf", {}).get("enableHierarchy") is True:
        message = "drf with enableHierarchy and proportion both divide the cluster among queues"
        yield Problem(_AT, "drf, proportion", message, "one of both", "leave out proportion")
    if evicting(actions):
        for name in gates(placed, actions):
            message = f"{_KEEPS_OUT[name]}, so that nothing is ever evicted for them"
            yield Problem(_AT, name, message, fix=f"{{name: {name}, enableJobEnqueued: false}}", severity="warning")
    for action in evicting(actions):
        if action in _EVICTIONS:
            yield from _apart(action, _EVICTIONS[action], tiers, options)
            yield from _whole_gangs(action, _EVICTIONS[action], tiers, options)


def gates(placed: Placed, actions: Sequence[str]) -> list[str]:
    """The plugins that keep jobs out of their queues while there is no room; such jobs have no pods.

    Args:
        placed: The plugins.
        actions: Names of the actions, in order.
    """
    options = {name: plugin for _, name, plugin in placed}
    return [name for name in _KEEPS_OUT if "enqueue" in actions and on(options, name, "enableJobEnqueued")]


def missing(placed: Placed, actions: Sequence[str]) -> Iterator[Problem]:
    """Plugins that are not there, without which an action that evicts does nothing, or too much.

    Args:
        placed: The plugins.
        actions: Names of the actions, in order.
    """
    options = {name: plugin for _, name, plugin in placed}
    those, written = evicting(actions), ", ".join(options) or "none"
    # Session.JobStarving: nothing is evicted for a job of which no plugin says so.
    if those and not any(on(options, name, "enableJobStarving") for name in _STARVING):
        message = f"without gang or priority no job counts as short of pods, so {', '.join(those)} never evicts any"
        yield Problem(_AT, written, message, fix="{name: gang}")
    if "gangreclaim" in those and "capacity" not in options:
        message = "without capacity gangreclaim takes gangs of any queue, also those that have less than they deserve"
        yield Problem(_AT, written, message, fix="{name: capacity, enableHierarchy: true}")


def evicting(actions: Sequence[str]) -> list[str]:
    """The actions that evict; none where both kinds are there, which is refused, and nobody knows which is meant."""
    gang, pods = ([name for name in actions if name in kind] for kind in (GANG_ACTIONS, POD_ACTIONS))
    return [] if gang and pods else [*gang, *pods]


def _apart(
    action: str, eviction: _Eviction, tiers: Mapping[str, int], options: Mapping[str, Mapping[str, Any]]
) -> Iterator[Problem]:
    judge, switch = eviction.judge, eviction.switch
    if not on(options, judge, switch):
        return
    apart = [name for name in eviction.generous if on(options, name, switch) and tiers[name] != tiers[judge]]
    if apart:
        message = (
            f"{', '.join(apart)} in another tier than {judge}: the first tier that finds victims for {action} decides "
            f"alone, {eviction.lost}"
        )
        there = [name for name in (*eviction.generous, judge) if on(options, name, switch)]
        yield Problem(_AT, ", ".join(apart), message, "one tier for " + ", ".join(there))


def _whole_gangs(
    action: str, eviction: _Eviction, tiers: Mapping[str, int], options: Mapping[str, Mapping[str, Any]]
) -> Iterator[Problem]:
    """To the older actions gang allows only pods beyond `minAvailable`: right only for jobs that shrink."""
    judge, switch = eviction.judge, eviction.switch
    if action not in POD_ACTIONS or not on(options, judge, switch) or not on(options, "gang", switch):
        return
    if tiers["gang"] == tiers[judge]:
        message = f"beside {judge} gang allows {action} only pods beyond minAvailable: no whole gang ever gives way"
    else:
        message = f"in another tier than {judge} gang gives {action} pods beyond minAvailable, whatever {judge} says"
    yield Problem(_AT, "gang", message, fix=f"{switch}: false, or action gang{action}", severity="warning")


def on(options: Mapping[str, Mapping[str, Any]], name: str, switch: str) -> bool:
    """Whether a plugin is there, and not switched off.

    Args:
        options: The plugins by name.
        name: The plugin.
        switch: What is asked of it; a switch that is not written is on.
    """
    return name in options and options[name].get(switch) is not False
