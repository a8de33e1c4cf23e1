"""Environments to make components of, and upstream's own charts and manifests."""

import copy
import http.server
import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.sources import Sources
from model import document
from model.environment import Environment
from tests.rehearsals import rehearsal_of
from twin import tools
from twin.rehearsal import Rehearsal

ROOT = Path(__file__).resolve().parents[2]
os.environ.setdefault("PULUMI_ERROR_OUTPUT_STRING", "1")

Change = Callable[[dict[str, Any]], Any]
Answers = Callable[[str, str], tuple[int, Any]]
"""What a cluster answers to a method and a path without its question: a status and a value."""


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
def rehearsed(twin_value: dict[str, Any]) -> Callable[[Change], Rehearsal]:
    """The rehearsal of the environment `twin` after a change of its document."""

    def run(change: Change) -> Rehearsal:
        value = copy.deepcopy(twin_value)
        change(value)
        return rehearsal_of(value, "twin")

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


@pytest.fixture
def serving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Answers], None]]:
    """Serve a cluster at the context of the environment `twin`."""
    servers: list[http.server.ThreadingHTTPServer] = []

    def serve(answers: Answers) -> None:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                code, value = answers(self.command, self.path.partition("?")[0])
                body = json.dumps(value).encode()
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_DELETE(self) -> None:
                self.do_GET()

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the name in the base class
                """Stay silent."""

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        name = "gangline-twin"
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
            "users": [{"name": name, "user": {}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            # A hook must go where the document says, not where the kubeconfig happens to point.
            "current-context": "another",
        }
        file = tmp_path / "kubeconfig"
        file.write_text(yaml.safe_dump(config))
        monkeypatch.setenv("KUBECONFIG", str(file))

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()
