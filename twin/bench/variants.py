"""Schedulers to compare: what `up` made of the document, and stock Volcano: its chart with no value of ours.

A variant is put in place of the other in the running cluster: the scheduler's configuration, and the arguments of the
scheduler and the controllers. Queues, nodes and everything else stay the same.
"""

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import yaml
from lightkube import Client
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import ConfigMap
from lightkube.types import PatchType

from model.namespaces import VOLCANO
from twin.errors import TwinError
from twin.loans import with_flag, without_flag

_FILE = "volcano-scheduler.conf"
_CONFIGMAP = "volcano-scheduler-configmap"
_SCHEDULER, _CONTROLLERS = "volcano-scheduler", "volcano-controllers"
_MARK = "bench.gangline.dev/variant"
_LIMIT = 60.0
_TEMPLATES = {_SCHEDULER: "scheduler.yaml", _CONTROLLERS: "controllers.yaml"}
"""Where the chart writes the arguments of each."""
_WRITTEN = re.compile(r"^\s*- (--?[\w-]+)=\{\{-?\s*\.Values\.custom\.(\w+)\s*-?\}\}\s*$", re.MULTILINE)
"""A line of such a template in which a value of the chart becomes the value of a flag."""


@dataclass(frozen=True)
class Variant:
    """A way to run Volcano.

    Attributes:
        name: Its name.
        configuration: The scheduler's configuration file.
        arguments: Arguments by Deployment.
    """

    name: str
    configuration: str
    arguments: Mapping[str, tuple[str, ...]]

    def changed(self, name: str, flags: Mapping[str, str]) -> "Variant":
        """Give the same with other flags of the scheduler.

        Args:
            name: The name of the new one.
            flags: Values by flag.
        """
        arguments = self.arguments[_SCHEDULER]
        for flag, value in flags.items():
            arguments = tuple(with_flag(arguments, flag, value))
        return replace(self, name=name, arguments={**self.arguments, _SCHEDULER: arguments})


def deployed(client: Client) -> Variant:
    """Give what `up` has deployed."""
    configuration = (client.get(ConfigMap, _CONFIGMAP, namespace=VOLCANO).data or {})[_FILE]
    return Variant("ours", configuration, {name: _arguments(client, name) for name in _TEMPLATES})


def stock(ours: Variant, chart: Path) -> Variant:
    """Give stock Volcano.

    Args:
        ours: What is deployed: flags that follow from no value of the chart are the same in both.
        chart: The chart's folder.

    Raises:
        TwinError: The chart does not say how its values become flags.
    """
    arguments: dict[str, tuple[str, ...]] = {}
    for deployment, made in ours.arguments.items():
        for flag, value in _defaults(chart, deployment):
            made = tuple(without_flag(made, flag) if value is None else with_flag(made, flag, value))
        arguments[deployment] = made
    return Variant("stock", (chart / "config" / _FILE).read_text(), arguments)


def _defaults(chart: Path, deployment: str) -> Iterator[tuple[str, str | None]]:
    """Give each flag that follows from a value of the chart, with its default; None where the chart leaves it out."""
    template = chart / "templates" / _TEMPLATES[deployment]
    written = _WRITTEN.findall(template.read_text())
    if not written:
        raise TwinError(f"{template} has no flags that follow from the chart's values")
    defaults = yaml.safe_load((chart / "values.yaml").read_text())["custom"]
    for flag, key in written:
        match defaults.get(key):
            case None | "":
                yield flag, None
            case bool(value):
                yield flag, str(value).lower()
            case value:
                yield flag, str(value)


def usual(stock: Variant) -> Variant:
    """Give what is usually done to have shares taken back: the older actions, and queues by what they deserve."""
    configuration = yaml.safe_load(stock.configuration)
    configuration["actions"] += ", reclaim, preempt"
    for tier in configuration["tiers"]:
        # Both would decide about queues, and overcommit keeps claims out of a full cluster.
        tier["plugins"] = [
            {"name": "capacity", "enableHierarchy": True} if plugin["name"] == "proportion" else plugin
            for plugin in tier["plugins"]
            if plugin["name"] != "overcommit"
        ]
    for tier in configuration["tiers"]:
        for plugin in tier["plugins"]:
            if plugin["name"] == "gang":
                plugin |= {"enablePreemptable": False, "enableReclaimable": False}
    return replace(stock, name="usual", configuration=yaml.safe_dump(configuration, sort_keys=False))


def put(client: Client, variant: Variant) -> None:
    """Have a variant run, anew even where nothing differs, and wait until it does.

    Raises:
        TwinError: It does not come up.
    """
    data = {"data": {_FILE: variant.configuration}}
    client.patch(ConfigMap, _CONFIGMAP, data, namespace=VOLCANO, patch_type=PatchType.MERGE)
    for deployment, arguments in variant.arguments.items():
        template = "/spec/template"
        patch = [
            {"op": "replace", "path": f"{template}/spec/containers/0/args", "value": list(arguments)},
            {
                "op": "add",
                "path": f"{template}/metadata/annotations",
                "value": {_MARK: f"{variant.name} {time.time()}"},
            },
        ]
        client.patch(Deployment, deployment, patch, namespace=VOLCANO, patch_type=PatchType.JSON)
    deadline = time.monotonic() + _LIMIT
    while not all(_settled(client, deployment) for deployment in variant.arguments):
        if time.monotonic() > deadline:
            raise TwinError(f"variant {variant.name} of Volcano does not come up: see `./gangline twin status`")
        time.sleep(0.3)


def _arguments(client: Client, deployment: str) -> tuple[str, ...]:
    found = client.get(Deployment, deployment, namespace=VOLCANO).spec
    if found is None or found.template.spec is None:
        raise TwinError(f"Deployment {deployment} has no pods")
    arguments = found.template.spec.containers[0].args or []
    # The chart ends them with `2>&1`, which flags must not follow.
    return tuple(argument for argument in arguments if argument != "2>&1")


def _settled(client: Client, deployment: str) -> bool:
    found = client.get(Deployment, deployment, namespace=VOLCANO)
    if found.metadata is None or found.status is None:
        return False
    status = found.status
    counts = (status.replicas, status.updatedReplicas, status.availableReplicas)
    return status.observedGeneration == found.metadata.generation and counts == (1, 1, 1)
