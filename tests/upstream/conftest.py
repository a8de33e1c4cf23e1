"""The parsers of the programs that configurations are for."""

from collections.abc import Iterator

import pytest

from tests.upstream.parsers import Upstream
from twin import tools


@pytest.fixture(scope="session")
def upstream() -> Iterator[Upstream]:
    parsers = Upstream(tools.ensure(["upstream-parsers"])["upstream-parsers"])
    yield parsers
    parsers.close()
