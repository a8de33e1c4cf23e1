"""Dashboards, read by Grafana's own schema."""

import copy
import json
from typing import Any

import pytest

from model import document
from model.monitoring import dashboards
from tests.upstream.parsers import Request, Upstream
from tests.upstream.test_shipped import FILES


@pytest.mark.parametrize("name", FILES)
def test_grafana_knows_all_that_dashboards_say(upstream: Upstream, name: str):
    env = document.read(FILES[name]).load()
    boards = dashboards.dashboards(env)
    assert boards
    for board in boards:
        answer = upstream.read(Request("grafana-dashboard", json.dumps(dashboards.render(board))))
        assert answer.silent, answer
        assert [panel["title"] for panel in answer.config["panels"]] == [panel.title for panel in board.panels]


def test_what_grafana_does_not_know_is_noticed(upstream: Upstream):
    env = document.read(FILES["Pulumi.twin.yaml"]).load()
    whole = dashboards.render(dashboards.dashboards(env)[0])

    def read(change: Any) -> str:
        changed = copy.deepcopy(whole)
        change(changed)
        return upstream.read(Request("grafana-dashboard", json.dumps(changed))).error

    assert "unexpected field 'pannels'" in read(lambda board: board.update(pannels=board.pop("panels")))
    assert "unexpected field 'query'" in read(lambda board: board["panels"][0]["targets"][0].update(query="up"))
    assert "unexpected field 'colourMode'" in read(
        lambda board: board["panels"][0]["options"].update(colourMode="value")
    )
