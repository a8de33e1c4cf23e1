"""The pins themselves, programs on PATH, what `doctor` says, and what a person sees while tools are got."""

import io
import re
import subprocess
import sys
from pathlib import Path

import pytest
import semver
from pydantic import ValidationError
from rich.console import Console

from twin.tools import ensure, load_sources, load_tools, report, shown_on, status
from twin.tools.pins import PINS, Closed, Probe, Tool
from twin.tools.progress import Forecast, Lines, Live, duration

TOOLS = load_tools()


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_each_tool_is_pinned_whole(tool: Tool) -> None:
    requirements = (tool.module_folder / "go.mod").read_text()
    assert (tool.module_folder / "go.sum").exists()
    for package in tool.programs.values():
        if package != ".":
            assert re.search(rf"(?m)^\s*(tool )?{re.escape(package)}$", requirements), package
            modules = re.findall(r"(?m)^\s*(?:require )?(\S+) (v\S+)", requirements)
            (version,) = {v for m, v in modules if package == m or package.startswith(f"{m}/")}
            assert version == (tool.module_version or f"v{tool.version}")
    for item in tool.prepare:
        pinned = f"{item.module} {item.version} {item.sum}" in (tool.module_folder / "go.sum").read_text()
        assert pinned or item.module not in requirements.split("replace")[0] or "=> ./" in requirements
    if not isinstance(tool.download, Closed):
        assert "https://" in tool.download.published
        assert set(tool.download.checksums) == {"linux-amd64", "linux-arm64"}
    if not isinstance(tool.path, Closed):
        assert tool.path.accepts(tool.version)
        assert not tool.path.accepts(str(semver.Version.parse(tool.version).bump_major()))


def test_the_engine_is_not_older_than_its_sdk() -> None:
    floor = re.search(r'"pulumi>=([\d.]+),', (PINS.parent.parent / "pyproject.toml").read_text())
    assert floor
    probe = TOOLS["pulumi"].path
    assert isinstance(probe, Probe)
    assert probe.accepts(f"{floor[1]}.0"[: len("3.272.0")])
    assert not probe.accepts("3.271.9")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"path": {"args": [], "pattern": "no group", "fits": [">=1.0.0"]}}, "needs one group"),
        ({"download": {"url": "u", "published": "p", "checksums": {"linux-amd64": "sha256:beef"}}}, "not a checksum"),
        ({"download": {"url": "u", "published": "p", "checksums": {}, "members": {"other": "m"}}}, "members names"),
        ({"programs": {"toy": ".", "toy2": "."}, "download": {"url": "u", "published": "p", "checksums": {}}}, "one"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_wrong_pins_are_refused(toy, change: dict, complaint: str) -> None:
    toy.save(**change)
    with pytest.raises(ValidationError, match=complaint):
        load_tools(toy.file)


def put_on_path(folder: Path, script: str) -> Path:
    folder.mkdir(exist_ok=True)
    program = folder / "toy"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


PROBE = {"args": ["version"], "pattern": r"v(\S+)", "fits": [">=1.2.0", "<2.0.0"]}


@pytest.mark.parametrize("script", ["echo toy v1.9.0", "echo built of v-next; echo v1.2.0", "echo v1.4 >&2"])
def test_a_fitting_program_on_path_is_taken(toy, tmp_path: Path, monkeypatch, script: str) -> None:
    fits = PROBE | {"pattern": r"v(\d+\.\d+(?:\.\d+)?)(?:\s|$)"}
    toy.save(path=fits)
    program = put_on_path(tmp_path / "bin", script)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    assert ensure(["toy"], pins=toy.file) == {"toy": program}
    assert status(load_tools(toy.file)["toy"]).where == "path"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo v2.0.0", "is 2.0.0, wanted >=1.2.0 <2.0.0"),
        ("echo v1.1.9", "is 1.1.9, wanted"),
        ("echo vDEV", "is DEV, wanted"),
        ("exit 1", "does not say its version"),
        ("kill -9 $$", "does not say its version"),
    ],
)
def test_any_other_program_on_path_is_passed_by(toy, tmp_path: Path, monkeypatch, script: str, reason: str) -> None:
    toy.save(path=PROBE)
    program = put_on_path(tmp_path / "bin", script)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    state = status(load_tools(toy.file)["toy"])
    assert state.where == "missing"
    assert state.ways[0].off.startswith(f"{program} {reason}")


def test_a_program_that_hangs_or_cannot_run_is_passed_by(toy, tmp_path: Path, monkeypatch) -> None:
    toy.save(path=PROBE)
    program = put_on_path(tmp_path / "bin", "")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setattr("twin.tools.path._PATIENCE", 0.3)
    program.write_text("#!/bin/sh\nsleep 600 & wait\n")
    assert "within 0.3 s" in status(load_tools(toy.file)["toy"]).ways[0].off
    program.write_text("#!/nonexistent/interpreter\n")
    assert "cannot be run" in status(load_tools(toy.file)["toy"]).ways[0].off


PLUGIN = """#!{python}
import sys
from concurrent.futures import ThreadPoolExecutor
import grpc
from pulumi.runtime.proto import plugin_pb2, provider_pb2_grpc

class Provider(provider_pb2_grpc.ResourceProviderServicer):
    def GetPluginInfo(self, request, context):
        return plugin_pb2.PluginInfo(version="{version}")

server = grpc.server(ThreadPoolExecutor(1))
provider_pb2_grpc.add_ResourceProviderServicer_to_server(Provider(), server)
port = server.add_insecure_port("127.0.0.1:0")
server.start()
print(port, flush=True)
server.wait_for_termination()
"""


def test_a_plugin_that_the_engine_installed_is_asked_over_its_wire(toy, tmp_path: Path, monkeypatch) -> None:
    toy.save(path={"plugin": "toy", "fits": [">=1.2.0", "<2.0.0"]})
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PULUMI_HOME", raising=False)
    tool = load_tools(toy.file)["toy"]
    assert status(tool).ways[0].off == "no toy on PATH, and none that the engine installed"
    for version, taken in (("v2.0.0", False), ("v1.2.9", True)):
        place = tmp_path / "home" / ".pulumi" / "plugins" / f"resource-toy-{version}"
        place.mkdir(parents=True)
        (place / "toy").write_text(PLUGIN.format(python=sys.executable, version=version))
        (place / "toy").chmod(0o755)
        state = status(tool)
        assert (state.programs == {"toy": place / "toy"}) is taken
        assert ("is 2.0.0, wanted >=1.2.0 <2.0.0" in state.ways[0].off) is not taken


def test_a_plugin_that_does_not_answer_is_passed_by(toy, tmp_path: Path, monkeypatch) -> None:
    toy.save(path={"plugin": "toy", "fits": [">=1.2.0"]})
    program = put_on_path(tmp_path / "bin", "echo hello; sleep 600")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert status(load_tools(toy.file)["toy"]).ways[0].off == f"{program} does not say its version"


def test_our_own_cache_on_path_is_no_program_on_path(toy, cache: Path, monkeypatch) -> None:
    toy.save(path=PROBE)
    folder = cache / "tools" / "toy-1.2.3" / "bin"
    folder.mkdir(parents=True)
    put_on_path(folder, "echo v1.2.3")
    monkeypatch.setenv("PATH", str(folder))
    assert status(load_tools(toy.file)["toy"]).ways[0].off == "no toy on PATH"


def test_doctor_has_a_row_for_everything_and_a_reason_for_each_closed_way() -> None:
    rows = report()
    assert [row.name for row in rows] == [*TOOLS, *load_sources()]
    for row in rows:
        assert row.where in ("path", "missing")  # the cache of this test is empty
        if row.kind == "tool":
            assert [way.name for way in row.ways] == ["path", "cache", "download", "build"]
            assert row.seconds == (TOOLS[row.name].build_seconds if row.where == "missing" else 0)
    (provider,) = (row for row in rows if row.name == "pulumi-resource-kubernetes")
    assert any("release 4.25" in note for note in provider.notes)


def test_spans_are_said_as_people_say_them() -> None:
    spans = {0: "5 s", 12: "10 s", 44: "45 s", 55: "1 min", 89: "1 min", 150: "2 min", 1800: "30 min"}
    assert {span: duration(span) for span in spans} == spans


def test_the_forecast_learns_from_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("twin.tools.progress.time.monotonic", lambda: clock[0])
    forecast = Forecast({"a": 120, "b": 600})
    assert forecast.left() == 720
    forecast.begin("a")
    clock[0] = 60
    assert (forecast.left(), forecast.share("a")) == (660, 0.5)
    assert forecast.words() == "about 11 min left in all"
    clock[0] = 360  # three times as long as measured: the rest will be slow, too
    assert forecast.left() == 1200
    assert forecast.words() == "longer than usual; 20 min or more left in all"
    forecast.finish("a")
    assert forecast.pace == 2
    assert forecast.left() == 1200
    forecast.begin("b")
    clock[0] = 3600
    assert forecast.words() == "longer than usual"
    forecast.finish("b")
    assert forecast.left() == 0


def test_a_log_gets_plain_lines_and_a_sign_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("twin.tools.progress.time.monotonic", lambda: clock[0])
    out = io.StringIO()
    display = shown_on(Console(file=out, width=60))
    assert isinstance(display, Lines)
    with display:
        display.plan({"etcd": 40, "kwok": 120})
        display.begin("etcd", "building")
        for second in range(75):
            clock[0] = float(second)
            display.update("etcd", f"{second} packages compiled")
        display.finish("etcd", "built")
        display.finish("kwok", "got by another run")
    assert out.getvalue().splitlines() == [
        "missing: etcd, kwok; to build them takes about 3 min on two cores",
        "etcd: building",
        "etcd: 30 packages compiled, 30 s so far; about 2 min left in all",
        "etcd: 60 packages compiled, 1 min so far; longer than usual; 2 min or more left in all",
        "etcd: built in 74 s",
        "kwok: got by another run",
    ]


def test_a_terminal_gets_bars() -> None:
    out = io.StringIO()
    display = shown_on(Console(file=out, force_terminal=True, width=120))
    assert isinstance(display, Live)
    with display:
        display.plan({"etcd": 40, "kwok": 120})
        display.begin("etcd", "building")
        display.update("etcd", "9 packages compiled")
        display.note("[bracketed] words stay")
        display.update("etcd", "", 5, 10)
        display.finish("etcd", "built")
    said = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", out.getvalue())
    assert "[bracketed] words stay" in said
    assert "in total" in said
    assert "about 2 min left" in said.splitlines()[-1]


def test_the_launchers_python_can_do_without_a_terminal(toy, cache: Path) -> None:
    run = toy.start()
    said = run.communicate()[0]
    assert run.returncode == 0, said
    assert said.splitlines()[0].startswith("missing: toy;")
    assert said.splitlines()[-1] == str(cache / "tools" / "toy-1.2.3" / "bin" / "toy")
    assert subprocess.run([said.splitlines()[-1]], check=True, capture_output=True).stderr == b"toy 1.2.3\n"
