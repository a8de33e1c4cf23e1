"""A cache of its own for each test, a release server on loopback, and a small Go program with pins of its own."""

import functools
import hashlib
import http.server
import json
import os
import shutil
import subprocess
import sys
import textwrap
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from twin.tools.pins import PINS, platform_name

CHECKOUT = PINS.parent.parent


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("GANGLINE_DOWNLOADS", raising=False)
    monkeypatch.setenv("GANGLINE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


class Releases:
    """A release server. `body` is the file; the other attributes make it misbehave."""

    def __init__(self) -> None:
        self.body = os.urandom(1 << 20)
        self.status = 200
        self.breaks: list[int] = []  # after how many bytes each of the next answers breaks off
        self.ranges = True
        self.asked: list[str] = []  # the Range header of each request
        self.gate = threading.Event()  # answers wait for it
        self.gate.set()
        handler = functools.partial(_Handler, self)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/toy-{{version}}-{{platform}}"


class _Handler(http.server.BaseHTTPRequestHandler):
    def __init__(self, releases: Releases, *arguments) -> None:
        self.releases = releases
        super().__init__(*arguments)

    def do_GET(self) -> None:
        releases = self.releases
        asked = self.headers.get("Range", "")
        releases.asked.append(asked)
        releases.gate.wait(20)
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked and releases.ranges else 0
        if releases.status != 200:
            self.send_error(releases.status)
            return
        if start >= len(releases.body):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(releases.body) - 1}/{len(releases.body)}")
        self.send_header("Content-Length", str(len(releases.body) - start))
        self.end_headers()
        end = start + releases.breaks.pop(0) if releases.breaks else len(releases.body)
        self.wfile.write(releases.body[start:end])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture
def releases() -> Iterator[Releases]:
    releases = Releases()
    yield releases
    releases.server.shutdown()
    releases.server.server_close()


class Toy:
    """Pins of a tool called `toy`, whose wrapper module needs the standard library alone."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "tools.yaml"
        self.module = folder / "module"
        self.module.mkdir()
        (self.module / "go.mod").write_text("module example.test/toy\n\ngo 1.21\n")
        self.write('var Version = "none"\n\nfunc main() { println("toy", Version) }\n')
        self.pin: dict = {
            "version": "1.2.3",
            "purpose": "a test",
            "programs": {"toy": "."},
            "module": str(self.module),
            "ldflags": "-X main.Version={version}",
            "path": {"closed": "not asked"},
            "download": {"closed": "no checksum"},
            "buildSeconds": 5,
        }
        self.save()

    def write(self, code: str) -> None:
        (self.module / "main.go").write_text(f"package main\n\n{code}")

    def save(self, **changes: object) -> None:
        """Write the pins, changed."""
        self.pin |= changes
        self.file = self.file.with_name(f"tools-{len(list(self.file.parent.glob('tools-*.yaml')))}.yaml")
        self.file.write_text(yaml.safe_dump({"tools": {"toy": self.pin}, "sources": {}}))

    def downloaded_from(self, releases: Releases, algorithm: str = "sha256", **more: object) -> None:
        """Open the way of the official download."""
        checksum = f"{algorithm}:{hashlib.new(algorithm, releases.body).hexdigest()}"
        where = {
            "url": releases.url,
            "published": "https://example.test/sums",
            "checksums": {platform_name(): checksum},
        }
        self.save(download=where | more)

    def start(self, before: str = "", **environment: str) -> subprocess.Popen[str]:
        """Get the tool in a process of its own; `before` is Python that it runs first."""
        program = textwrap.dedent(before) + textwrap.dedent(f"""
            import sys
            from pathlib import Path
            from rich.console import Console
            from twin.tools import ToolError, ensure, shown_on
            try:
                with shown_on(Console(width=500)) as progress:
                    print(ensure(["toy"], progress, pins=Path({str(self.file)!r}))["toy"])
            except ToolError as error:
                sys.exit(f"ToolError: {{error}}")
        """)
        return subprocess.Popen(
            [sys.executable, "-c", program],
            cwd=CHECKOUT,
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return Toy(tmp_path)


class Shim:
    """A `go` that is found before the real one: it counts builds, and can hang in the middle of one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "shim"
        self.folder.mkdir()
        self.builds = folder / "builds"
        self.hanging = folder / "hanging"
        real = shutil.which("go")
        assert real, "the tests of builds need Go on PATH"
        self.hangs = False
        (self.folder / "go").write_text(
            textwrap.dedent(f"""\
            #!/bin/sh
            if [ "$1" = build ]; then
                echo build >> {self.builds}
                if [ -n "$HANG" ]; then
                    while [ "$1" != -o ]; do shift; done
                    echo half > "$2"
                    sleep 600 &
                    echo $! > {self.hanging}.new
                    mv {self.hanging}.new {self.hanging}
                    wait
                fi
            fi
            exec {real} "$@"
            """)
        )
        (self.folder / "go").chmod(0o755)

    @property
    def path(self) -> str:
        return f"{self.folder}{os.pathsep}{os.environ['PATH']}"

    @property
    def count(self) -> int:
        return len(self.builds.read_text().splitlines()) if self.builds.exists() else 0


@pytest.fixture
def shim(tmp_path: Path) -> Shim:
    return Shim(tmp_path)


@pytest.fixture
def served_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module `example.test/extra` on a module server of files, and a module cache of its own; gives its sum."""
    monkeypatch.setenv("GOPROXY", f"file://{tmp_path}/proxy")
    monkeypatch.setenv("GONOSUMDB", "example.test/*")
    monkeypatch.setenv("GOMODCACHE", str(tmp_path / "modcache"))
    monkeypatch.setenv("GOFLAGS", "-modcacherw")
    place = tmp_path / "proxy" / "example.test" / "extra" / "@v"
    place.mkdir(parents=True)
    (place / "v1.0.0.info").write_text('{"Version": "v1.0.0"}')
    (place / "v1.0.0.mod").write_text("module example.test/extra\n")
    with zipfile.ZipFile(place / "v1.0.0.zip", "w") as archive:
        for name, text in {
            "go.mod": "module example.test/extra\n",
            "data.json": '{"version": "none", "kept": 1}',
            "extra/extra.go": 'package extra\n\nconst Name = "extra"\n',
            "chart/Chart.yaml": "name: extra\n",
            "chart/crd/one.yaml": "one\n",
            "chart/crd/two.yaml": "two\n",
        }.items():
            archive.writestr(f"example.test/extra@v1.0.0/{name}", text)
    asked = subprocess.run(
        ["go", "mod", "download", "-json", "example.test/extra@v1.0.0"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(asked.stdout)["Sum"]
