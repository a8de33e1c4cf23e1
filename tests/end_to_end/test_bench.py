"""The short benchmark, as a person runs it: what does not depend on how busy this machine is must hold."""

import json

import pytest

from .conftest import Checkout


@pytest.mark.timeout(900)
def test_the_short_benchmark_measures_everything_and_gangs_are_whole(checkout: Checkout) -> None:
    shown = checkout.run("twin", "bench", "--short").stdout
    folder = checkout.root / ".twin" / "bench"
    report = json.loads((folder / "report.json").read_text())
    figures = report["figures"]
    assert figures["gangs"] == [], shown
    for variant in ("ours", "stock"):
        assert len(figures["latency"][variant]["8"]["seconds"]) == 3
        run = figures["utilisation"][variant]
        assert 0.5 < run["useful"] <= run["busy"] <= 1
        assert run["makespan"] > run["ideal"]
    for who in ("one gang of a share", "a higher priority"):
        claimed = figures["claims"]["ours"][who]
        assert claimed["seconds"] is not None, shown
        assert 0 < claimed["broken"] <= claimed["fewest"], shown
        assert claimed["restarted"], shown
    assert figures["claims"]["ours"]["one gang of a share"]["least"] >= 16
    assert len(figures["recovery"]["seconds"]) == 2
    assert figures["ray clusters per minute"] > 0
    assert {"etcd", "kube-apiserver"} <= set(figures["usage"]["gangs"])
    assert "gangs are whole or not there" in shown
    assert (folder / "report.html").read_text().startswith("<!doctype html>")
