"""Environments to make components of, and upstream's own charts and manifests."""

import copy
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.sources import Sources
from model import document
from model.environment import Environment
from twin import tools
from twin.rehearsal import Rehearsal, rehearse

ROOT = Path(__file__).resolve().parents[2]
os.environ.setdefault("PULUMI_ERROR_OUTPUT_STRING", "1")

Change = Callable[[dict[str, Any]], Any]


@pytest.fixture(scope="session")
def twin_value() -> dict[str, Any]:
    return document.read(ROOT / "stacks" / "Pulumi.twin.yaml").value


@pytest.fixture
def changed(twin_value: dict[str, Any]) -> Callable[[Change], Environment]:
    """The environment `twin` after a change of its document."""

    def make(change: Change) -> Environment:
        value = copy.deepcopy(twin_value)
        change(value)
        return document.load(value)

    return make


@pytest.fixture
def rehearsed(changed: Callable[[Change], Environment]) -> Callable[[Change], Rehearsal]:
    """The rehearsal of the environment `twin` after a change of its document."""

    def run(change: Change) -> Rehearsal:
        return rehearse(changed(change), stack="twin")

    return run


@pytest.fixture(scope="session")
def upstream_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project folder with the sources that the environment `twin` names, as a twin lends them."""
    project = tmp_path_factory.mktemp("project")
    for name in ("volcano-chart", "kuberay-operator", "node-feature-discovery", "prometheus-operator"):
        tools.materialise(name, project / ".twin" / "sources")
    return project


@pytest.fixture(scope="session")
def upstream_sources(upstream_project: Path) -> Sources:
    return Sources(project=upstream_project)
