"""The twin as the command line uses it: tools, control plane, nodes and the engine's own house, made ready in order."""

from pathlib import Path

from model.environment import Environment
from model.nodes import node_offers
from twin import host, tools
from twin.cluster import Twin
from twin.paths import CONTEXT

from . import recovery
from .engine import Engine
from .environments import ROOT
from .output import console

STATE = ROOT / ".twin"
SOURCES = ("volcano-chart", "kuberay-operator", "node-feature-discovery")
"""Upstream charts and manifests that the environment `twin` names as `.twin/sources/<name>`."""


def lives_in_twin(environment: Environment) -> bool:
    """Whether an environment's cluster is the twin of this checkout."""
    return environment.cluster.context == CONTEXT


def programs() -> dict[str, Path]:
    """Give every program that the twin runs; what is missing is fetched or built, with progress.

    Raises:
        ToolError: A tool cannot be had; the text says which way failed and what to do.
    """
    with tools.shown_on(console) as progress:
        found = tools.ensure(progress=progress)
        for name in SOURCES:
            tools.materialise(name, STATE / "sources", progress)
        return found | {folder.name: folder / host.NAME for folder in host.folders_for_path(found["pulumi"], progress)}


def twin() -> Twin:
    """Give the twin of this checkout as it is, running or not."""
    here = {}
    for tool in tools.load_tools().values():
        here |= tools.status(tool).programs
    return Twin(STATE, here)


def ready(stack: str, environment: Environment) -> Engine:
    """Start the twin with the nodes of a document, and give the engine that works on it.

    A lock or a half-made release that a killed run of this checkout left behind is cleared.
    """
    local = start(environment)
    engine = Engine.of_twin(local.environment())
    recovery.recover(engine, stack, local.client())
    return engine


def start(environment: Environment) -> Twin:
    """Start the twin, unless it runs, and give it the nodes of a document."""
    local = Twin(STATE, programs())
    started = local.start(lambda line: console.print(f"[dim]twin: {line}[/]"))
    for note in started.notes:
        console.print(f"twin: {note}")
    changes = local.apply_nodes(node_offers(environment))
    state = "runs already" if started.already else f"started in {started.seconds:.1f} s"
    console.print(f"twin: {state}; nodes: {changes}")
    return local
