"""A control plane of the tests' own, with real programs."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import volcano_objects
from cluster_helpers import eventually, offer
from lightkube import Client, codecs

from twin import tools
from twin.cluster import Twin

TOOLS = ("etcd", "kubernetes", "kwok", "volcano", "kueue", "jobset")


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


@pytest.fixture(scope="session")
def volcano(twin: Twin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A client of that twin, with Volcano in it as its chart installs it."""
    chart = tools.materialise("volcano-chart", tmp_path_factory.mktemp("sources"))
    with twin.client() as client:
        for made in volcano_objects.objects(chart):
            client.apply(codecs.from_dict(made), field_manager="tests")
        eventually(
            lambda: len(loans := twin.status().loans) == 3 and all(loan.ready for loan in loans), 60, "Volcano is ready"
        )
        yield client
