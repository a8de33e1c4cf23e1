"""Configuration files of Volcano's scheduler."""

from typing import Any

import yaml

from tests.policies.objects import UNKNOWN, Breaks, Passes, Resource, Unknowns, document, platform, secret

TWIN = platform(document("twin"))
"""Queues with parts and amounts, pools with taints, and a Ray cluster within a rack."""
WHOLE = ("priority", "gang", "conformance", {"name": "capacity", "enableHierarchy": True}, "predicates")
TOPOLOGY = {"name": "network-topology-aware", "arguments": {"weight": 10}}


def text(*plugins: Any, actions: str = "enqueue, allocate, backfill", **more: Any) -> str:
    named = [{"name": plugin} if isinstance(plugin, str) else plugin for plugin in plugins]
    return yaml.safe_dump({"actions": actions, "tiers": [{"plugins": named}], **more})


def file(content: Any) -> Resource:
    return Resource("kubernetes:core/v1:ConfigMap", {"data": {"volcano-scheduler.conf": content}})


def chart(content: Any) -> Resource:
    values = {"custom": {"scheduler_config_override": content}}
    return Resource("kubernetes:helm.sh/v3:Release", {"chart": "volcano", "values": values})


RIGHT = text(*WHOLE, TOPOLOGY)
WEIGHTS = {"name": "binpack", "arguments": {"binpack.weight": "10"}}
SHARING = {
    "name": "deviceshare",
    "arguments": {"deviceshare.GPUSharingEnable": True, "deviceshare.VGPUEnable": True},
}

BREAKS: Breaks = {
    "scheduler-file": [
        (file(text("gang", "bin-pack")), 'data["volcano-scheduler.conf"]: tiers[0].plugins[1].name: bin-pack: is no'),
        (file(text("gang", actions="alocate")), "actions: alocate: is no action"),
        (file(text("gang", tier=[])), "tier: tier: there is no such key"),
        (file(text(WEIGHTS)), "must be a whole number"),
        (file(text("capacity", "proportion")), "capacity and proportion both divide"),
        (file(text("gang", actions="allocate, reclaim, gangreclaim")), "must not run together"),
        (
            file(text("gang", "conformance", actions="allocate, gangreclaim")),
            "without capacity gangreclaim takes gangs",
        ),
        (file(text("conformance", "capacity", actions="reclaim")), "so reclaim never evicts any"),
        (file(text(SHARING)), "tiers[0].plugins[0].arguments: deviceshare.GPUSharingEnable, deviceshare.VGPUEnable"),
        (file("just text"), 'data["volcano-scheduler.conf"]: is no YAML map'),
        (file("a: [1"), "is no YAML map"),
        (
            Resource("kubernetes:helm.sh/v4:Chart", chart(text("gang", "bin-pack")).inputs),
            "values.custom.scheduler_config_override: tiers[0].plugins[1].name",
        ),
        (chart(text("gang", "bin-pack")), "values.custom.scheduler_config_override: tiers[0].plugins[1].name"),
        (file(secret(text("gang", "bin-pack"))), "[secret]: is no plugin"),
        ([TWIN, file(text(*WHOLE, TOPOLOGY, actions="enqueue"))], "actions: enqueue: without allocate nothing"),
        ([TWIN, file(text(*WHOLE))], "without network-topology-aware no bound holds"),
        (
            [TWIN, chart(text("gang", "priority", {"name": "capacity"}, "predicates", TOPOLOGY))],
            "without enableHierarchy",
        ),
    ],
}

PASSES: Passes = {
    "scheduler-file": [
        file(text("gang")),
        [TWIN, file(RIGHT)],
        [TWIN, chart(RIGHT)],
        chart(None),
        Resource("kubernetes:core/v1:ConfigMap", {"data": {"other.conf": "actions: nothing"}}),
        Resource("kubernetes:helm.sh/v3:Release", {"chart": "other", "values": chart("x").inputs["values"]}),
    ],
}

UNKNOWNS: Unknowns = {
    "scheduler-file": [
        (file(UNKNOWN), 'data["volcano-scheduler.conf"]'),
        (chart(UNKNOWN), "values.custom.scheduler_config_override"),
        ([platform(UNKNOWN), file(RIGHT)], "environment"),
    ],
}
