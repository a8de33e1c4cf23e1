"""What a change of document does to what runs, beyond what the engine shows of it."""

import json
from typing import Any

from model import document, document_changes, problems, queue_changes
from model.engine_names import ROOT_TYPE
from model.environment import Environment
from model.problems import DocumentError

from . import environments
from .output import console, errors


def show(exported: str, environment: Environment) -> None:
    """Print which nodes must be emptied and which pods end, compared with what was brought up last.

    Args:
        exported: The state of the stack as the engine exports it.
        environment: The document that is brought up now.
    """
    before = document_of(exported)
    if before is None:
        return
    for disruption in document_changes.disruptions(before, environment):
        console.print(f"[bold yellow]{'drains nodes' if disruption.drains else 'interrupts'}[/]  {disruption}")


def look_ahead(name: str, exported: str, environment: Environment, *, refuse: bool) -> None:
    """Find what the cluster would refuse half-way although the document is right.

    Args:
        name: Name of the environment.
        exported: The state of the stack as the engine exports it.
        environment: The document that is brought up now.
        refuse: Whether errors end the run; they are shown in any case.

    Raises:
        DocumentError: With each amount that changes too early, and the step to take first.
    """
    before = document_of(exported)
    found = list(queue_changes.problems(before, environment)) if before else []
    if not found:
        return
    read = document.read(environments.file(name))
    if refuse and any(each.severity == "error" for each in found):
        raise DocumentError(found, read.file, read.positions)
    errors.print(problems.render(found, read.file, read.positions), markup=False, soft_wrap=True)


def document_of(exported: str) -> Environment | None:
    """Give the document that an exported state was made from: it is the input of the stack's root.

    None for a state that has none, or one that this version reads otherwise.
    """
    try:
        state: dict[str, Any] = json.loads(exported)
        for resource in (state.get("deployment") or {}).get("resources") or ():
            if resource.get("type") == ROOT_TYPE:
                return document.load((resource.get("inputs") or {}).get("environment"))
    except (DocumentError, ValueError):
        return None
    return None
