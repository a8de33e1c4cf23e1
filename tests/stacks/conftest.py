"""Every shipped environment, and what follows from a change of the environment `twin`."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from model import document
from model.environment import Environment
from tests.rehearsals import rehearsal_of
from twin.rehearsal import Rehearsal, rehearse

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = sorted(
    file.name.removeprefix("Pulumi.").removesuffix(".yaml") for file in (ROOT / "stacks").glob("Pulumi.*.yaml")
)


@pytest.fixture(scope="session", params=SHIPPED)
def shipped(request: pytest.FixtureRequest) -> tuple[str, Environment]:
    return request.param, document.read(ROOT / "stacks" / f"Pulumi.{request.param}.yaml").load()


@pytest.fixture(scope="session")
def rehearsal(shipped: tuple[str, Environment]) -> Rehearsal:
    """Frozen, so that one is enough for all that look at it."""
    name, environment = shipped
    return rehearse(environment, stack=name)


@pytest.fixture(scope="session")
def twin_value() -> dict[str, Any]:
    return document.read(ROOT / "stacks" / "Pulumi.twin.yaml").value


@pytest.fixture
def rehearsed(twin_value: dict[str, Any]) -> Callable[[Callable[[dict[str, Any]], Any]], Rehearsal]:
    """The rehearsal of the environment `twin` after a change of its document."""

    def run(change: Callable[[dict[str, Any]], Any]) -> Rehearsal:
        changed = copy.deepcopy(twin_value)
        change(changed)
        return rehearsal_of(changed, "twin")

    return run
