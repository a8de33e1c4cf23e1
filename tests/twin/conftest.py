"""A control plane of the tests' own, with real programs."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from cluster_helpers import offer

from twin import tools
from twin.cluster import Twin

TOOLS = ("etcd", "kubernetes", "kwok", "volcano")


@pytest.fixture(scope="session")
def programs() -> Mapping[str, Path]:
    return tools.ensure(TOOLS)


@pytest.fixture(scope="session")
def twin(programs: Mapping[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    """A running twin that the tests of a session share; each takes names of its own."""
    made = Twin(tmp_path_factory.mktemp("shared") / ".twin", programs)
    made.start()
    made.apply_nodes([offer(f"system-{number}") for number in range(3)])
    yield made
    made.stop()
