"""A gang with a bound waits until the scheduler knows the level that bounds it."""

import http.server
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.scheduling import known_topology as module
from model import topology
from model.environment import Environment

PATH = "/apis/topology.volcano.sh/v1alpha1/hypernodes"


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[list[int]]]:
    """A cluster at the context of the environment `twin`: what it answers, one list of tiers per question."""
    answers: list[list[int]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            tiers = answers.pop(0) if len(answers) > 1 else answers[0]
            items = [{"metadata": {"name": f"h{tier}"}, "spec": {"tier": tier}} for tier in tiers]
            body = json.dumps({"items": items, "metadata": {}}).encode()
            self.send_response(200 if self.path.partition("?")[0] == PATH else 404)
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
    yield answers
    server.shutdown()
    server.server_close()


def wait(environment: Environment) -> None:
    (rack,) = [level for level in topology.levels(environment) if level.name == "rack"]
    hook = module.known_topology("platform-ray-tuning", environment, rack)
    hook.callback(None)  # type: ignore[arg-type] -- the engine's arguments are not looked at


def test_known_level_lets_it_pass(cluster: list[list[int]], changed: Callable[[Any], Environment]) -> None:
    cluster.append([2, 1])
    wait(changed(lambda _: None))


def test_level_that_appears_later_is_waited_for(
    cluster: list[list[int]], changed: Callable[[Any], Environment]
) -> None:
    cluster.extend([[], [2], [2, 1]])
    wait(changed(lambda _: None))
    assert cluster == [[2, 1]]


def test_level_that_never_appears_is_an_error_with_a_fix(
    cluster: list[list[int]], changed: Callable[[Any], Environment], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SECONDS", 1)
    cluster.append([2])
    with pytest.raises(RuntimeError) as refused:
        wait(changed(lambda _: None))
    assert "must stay within one rack" in str(refused.value)
    assert "label the nodes: topology.gangline.dev/rack" in str(refused.value)
