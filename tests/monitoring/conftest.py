"""promtool, with the rules of an environment that brings about all of them."""

import pytest

from model.monitoring.rules import groups
from twin import tools

from .documents import environment
from .promtool import Promtool


@pytest.fixture(scope="session")
def promtool(tmp_path_factory: pytest.TempPathFactory) -> Promtool:
    program = tools.ensure(["promtool"])["promtool"]
    return Promtool(program, tmp_path_factory.mktemp("rules"), {"groups": groups(environment())})
