"""A gang with a bound waits until the scheduler knows the topology, and knows it once."""

import http.server
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.scheduling import known_topology as module
from model import topology
from model.environment import Environment

HYPERNODES = "/apis/topology.volcano.sh/v1alpha1/hypernodes"
NODES = "/api/v1/nodes"
RACK = "topology.gangline.dev/rack"
SPINE = "topology.gangline.dev/spine"
Changed = Callable[[Any], Environment]


@dataclass
class Cluster:
    """What a cluster answers: HyperNodes as (name, tier, label, value), of which a few appear with each question."""

    hypernodes: list[tuple[str, int, str, str]] = field(default_factory=list)
    later: list[list[tuple[str, int, str, str]]] = field(default_factory=list)
    nodes: list[dict[str, str]] = field(default_factory=list)

    def items(self, path: str) -> list[dict[str, Any]]:
        if path == NODES:
            return [{"metadata": {"name": f"n{i}", "labels": labels}} for i, labels in enumerate(self.nodes)]
        assert path == HYPERNODES
        answer = [
            {"metadata": {"name": name, "labels": {label: value}}, "spec": {"tier": tier}}
            for name, tier, label, value in self.hypernodes
        ]
        if self.later:
            self.hypernodes += self.later.pop(0)
        return answer


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """A cluster at the context of the environment `twin`, with nodes in two racks under one spine."""
    state = Cluster(nodes=[{RACK: "r1", SPINE: "s1"}, {RACK: "r2", SPINE: "s1"}, {}])

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer({"items": state.items(self.path.partition("?")[0]), "metadata": {}})

        def do_DELETE(self) -> None:
            name = self.path.rpartition("/")[2]
            state.hypernodes[:] = [each for each in state.hypernodes if each[0] != name]
            self._answer({})

        def _answer(self, value: Any) -> None:
            body = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the name in the base class
            """Stay silent."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    name = "gangline-twin"
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
        "users": [{"name": name, "user": {}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        # The hook must go where the document says, not where the kubeconfig happens to point.
        "current-context": "another",
    }
    file = tmp_path / "kubeconfig"
    file.write_text(yaml.safe_dump(config))
    monkeypatch.setenv("KUBECONFIG", str(file))
    monkeypatch.setattr(module, "SECONDS", 4)
    yield state
    server.shutdown()
    server.server_close()


WHOLE = [("a", 1, RACK, "r1"), ("b", 1, RACK, "r2"), ("c", 2, SPINE, "s1")]


def gang(environment: Environment) -> None:
    (rack,) = [level for level in topology.levels(environment) if level.name == "rack"]
    module.wait_until_known("platform-ray-tuning", environment, rack)


settle = module.wait_until_settled


@pytest.mark.parametrize("hook", [gang, settle])
def test_a_whole_topology_lets_it_pass(hook: Callable[..., None], cluster: Cluster, changed: Changed) -> None:
    cluster.hypernodes += WHOLE
    hook(changed(lambda _: None))
    assert cluster.hypernodes == WHOLE


@pytest.mark.parametrize("hook", [gang, settle])
def test_what_appears_later_is_waited_for(hook: Callable[..., None], cluster: Cluster, changed: Changed) -> None:
    cluster.later += [WHOLE[:1], WHOLE[1:]]
    hook(changed(lambda _: None))
    assert cluster.hypernodes == WHOLE


@pytest.mark.parametrize("hook", [gang, settle])
def test_a_domain_that_is_there_twice_is_made_one(
    hook: Callable[..., None], cluster: Cluster, changed: Changed
) -> None:
    cluster.hypernodes += [*WHOLE, ("d", 2, SPINE, "s1"), ("e", 1, RACK, "r2")]
    hook(changed(lambda _: None))
    assert cluster.hypernodes == WHOLE


def test_a_cluster_without_labelled_nodes_has_nothing_to_settle(cluster: Cluster, changed: Changed) -> None:
    cluster.nodes[:] = [{}]
    settle(changed(lambda _: None))


def test_a_level_that_never_appears_is_an_error_with_a_fix(cluster: Cluster, changed: Changed) -> None:
    cluster.hypernodes += WHOLE[2:]
    with pytest.raises(RuntimeError) as refused:
        gang(changed(lambda _: None))
    assert "must stay within one rack" in str(refused.value)
    assert f"label the nodes: {RACK}" in str(refused.value)


def test_a_domain_that_never_appears_is_named(cluster: Cluster, changed: Changed) -> None:
    cluster.hypernodes += WHOLE[1:]
    with pytest.raises(RuntimeError, match=f"missing: {RACK}=r1; twice: none"):
        settle(changed(lambda _: None))
