"""The twin as the command line uses it: tools, control plane, nodes and the engine's own house, made ready in order."""

from collections.abc import Mapping
from pathlib import Path

from model.nodes import node_offers
from rich.table import Table

from model.environment import Environment
from twin import CONTEXT, Twin, tools

from . import recovery
from .engine import Engine
from .environments import ROOT
from .output import console

STATE = ROOT / ".twin"


def lives_in_twin(environment: Environment) -> bool:
    """Whether an environment's cluster is the twin of this checkout."""
    return environment.cluster.context == CONTEXT


def programs() -> Mapping[str, Path]:
    """Give every program that the twin runs; what is missing is fetched or built, with progress.

    Raises:
        ToolError: A tool cannot be had; the text says which way failed and what to do.
    """
    return tools.ensure(tools.load_tools(), console=console)


def twin() -> Twin:
    """Give the twin of this checkout, running or not."""
    return Twin(STATE, tools.installed())


def ready(stack: str, environment: Environment) -> Engine:
    """Start the twin with the nodes of a document, and give the engine that works on it.

    A lock or a half-made release that a killed run of this checkout left behind is cleared.
    """
    local = Twin(STATE, programs())
    local.start(console=console)
    local.apply_nodes(node_offers(environment))
    engine = Engine.of_twin(local.environment())
    recovery.recover(engine, stack, local.client())
    return engine


def show_status(local: Twin) -> None:
    """Print processes, memory, nodes and differences."""
    status = local.status()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("process", "pid", "memory", "ports", "health"):
        table.add_column(title)
    for process in status.processes:
        table.add_row(
            process.name,
            str(process.pid or "-"),
            f"{process.pss // 2**20} MiB",
            ", ".join(map(str, process.ports)),
            process.health,
        )
    console.print(table)
