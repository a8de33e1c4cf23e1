"""The language host stand-in, alone: over its wire, without an engine."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import psutil
import pytest
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import language_pb2 as pb
from pulumi.runtime.proto.language_pb2_grpc import LanguageRuntimeStub

from twin.host import BIN, NAME, folders_for_path, official

# Stands for the SDK's starter: shows what it was given, then does as the program says.
STARTER = """
import json, os, sys, time
print(json.dumps({"argv": sys.argv[1:], "config": os.environ["PULUMI_CONFIG"],
                  "secret": os.environ["PULUMI_CONFIG_SECRET_KEYS"], "venv": os.environ["VIRTUAL_ENV"]}))
program = sys.argv[sys.argv.index("main.py")]
exec(open(program).read())
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / ".venv").symlink_to(sys.prefix)
    return folder


class Wire:
    """A host as a child process, and a client of it."""

    def __init__(self, starter_folder: Path, parent: list[str] | None = None) -> None:
        (starter_folder / "pulumi-language-python-exec").write_text(STARTER)
        environment = os.environ | {"PATH": f"{os.environ['PATH']}{os.pathsep}{starter_folder}"}
        self.output = starter_folder / "output"
        with self.output.open("w") as sink:
            self.process = subprocess.Popen(
                [*(parent or []), BIN / NAME, "127.0.0.1:1"], env=environment, stdout=sink, stderr=sink
            )
        self.channel = grpc.insecure_channel(f"127.0.0.1:{self._port()}")
        self.stub = LanguageRuntimeStub(self.channel)

    def _port(self) -> int:
        return int(wait_for(lambda: self.output.read_text().partition("\n")[0]))

    def stop(self) -> None:
        self.channel.close()
        self.process.kill()
        self.process.wait()


def wait_for(ask, seconds: float = 15):
    deadline = time.monotonic() + seconds
    while not (answer := ask()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
    return answer


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """One host for all tests that leave it as it was."""
    wire = Wire(tmp_path_factory.mktemp("shared"))
    yield wire
    wire.stop()


@pytest.fixture
def own_wire(tmp_path: Path) -> Iterator[Wire]:
    wire = Wire(tmp_path)
    yield wire
    wire.stop()


def info(folder: Path, **options: str) -> pb.ProgramInfo:
    fields = struct_pb2.Struct()
    fields.update(options)
    return pb.ProgramInfo(
        root_directory=str(folder), program_directory=str(folder), entry_point="main.py", options=fields
    )


def run_request(folder: Path, program: str) -> pb.RunRequest:
    (folder / "main.py").write_text(program)
    return pb.RunRequest(
        project="p", stack="s", pwd=str(folder), monitor_address="127.0.0.1:2", dryRun=True, parallel=4,
        organization="organization", config={"p:a": "1"}, configSecretKeys=["p:b"], info=info(folder),
    )  # fmt: skip


def test_a_program_gets_the_engines_words(wire: Wire, project: Path) -> None:
    answer = wire.stub.Run(run_request(project, "pass"))
    assert (answer.error, answer.bail) == ("", False)
    said = wire.output.read_text()
    for word in (
        '"--monitor", "127.0.0.1:2", "--engine", "127.0.0.1:1", "--project", "p"',
        '"--dry_run", "true", "--parallel", "4", "--organization", "organization", "main.py"',
        '{\\"p:a\\": \\"1\\"}',
        '[\\"p:b\\"]',
        str(project / ".venv"),
    ):
        assert word in said


@pytest.mark.parametrize(
    ("program", "error", "bail"),
    [
        ("sys.exit(32)", "", True),
        ("sys.exit(3)", "Program exited with non-zero exit code: 3", False),
        ("os.kill(os.getpid(), 9)", "Program was ended by signal 9", False),
    ],
)
def test_how_a_program_ends_is_told(wire: Wire, project: Path, program: str, error: str, bail: bool) -> None:
    answer = wire.stub.Run(run_request(project, program))
    assert (answer.error, answer.bail) == (error, bail)


def test_handshake_tells_the_engines_address(own_wire: Wire, project: Path) -> None:
    own_wire.stub.Handshake(pb.LanguageHandshakeRequest(engine_address="127.0.0.1:3"))
    own_wire.stub.Run(run_request(project, "pass"))
    assert '"--engine", "127.0.0.1:3"' in own_wire.output.read_text()


def test_a_missing_environment_is_named(wire: Wire, project: Path) -> None:
    request = run_request(project, "pass")
    request.info.CopyFrom(info(project, virtualenv="nowhere"))
    answer = wire.stub.Run(request)
    assert answer.error.startswith(f"{project}/nowhere holds no Python environment")


def test_small_questions(wire: Wire, project: Path) -> None:
    assert wire.stub.GetPluginInfo(empty_pb2.Empty()).version.startswith("3.")
    assert not wire.stub.GetRequiredPackages(pb.GetRequiredPackagesRequest(info=info(project))).packages
    assert not wire.stub.GetRequiredPlugins(pb.GetRequiredPluginsRequest(info=info(project))).plugins
    assert not wire.stub.RuntimeOptionsPrompts(pb.RuntimeOptionsRequest(info=info(project))).prompts
    assert "stand-in" in wire.stub.About(pb.AboutRequest(info=info(project))).metadata["host"]
    listed = wire.stub.GetProgramDependencies(pb.GetProgramDependenciesRequest(info=info(project)))
    assert "pulumi" in {package.name for package in listed.dependencies}
    (said,) = wire.stub.InstallDependencies(pb.InstallDependenciesRequest(info=info(project)))
    assert b"nothing to do" in said.stdout


def running(wire: Wire, project: Path) -> psutil.Process:
    """Start a program that stays, with a child of its own; returns that child."""
    program = """
import subprocess
child = subprocess.Popen(["sleep", "600"])
open("pid.new", "w").write(str(child.pid)); os.rename("pid.new", "pid")
child.wait()
"""
    request = run_request(project, program)
    request.pwd = str(project)
    wire.pending = wire.stub.Run.future(request)  # pyright: ignore
    wait_for((project / "pid").exists)
    return psutil.Process(int((project / "pid").read_text()))


def gone(process: psutil.Process) -> bool:
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_leaves_quietly_and_takes_its_programs_with_it(own_wire: Wire, project: Path, number: int) -> None:
    child = running(own_wire, project)
    own_wire.process.send_signal(number)
    assert own_wire.process.wait(10) == 0
    assert wait_for(lambda: gone(child))
    assert "Traceback" not in own_wire.output.read_text()


def test_cancel_ends_the_program_and_not_the_host(wire: Wire, project: Path) -> None:
    child = running(wire, project)
    wire.stub.Cancel(empty_pb2.Empty())
    assert wait_for(lambda: gone(child))
    assert wire.pending.result(10).error == "Program was ended by signal 15"  # pyright: ignore
    assert wire.process.poll() is None


def test_ends_when_its_parent_is_killed(tmp_path: Path, project: Path) -> None:
    # The shell stands for the engine; `wait` keeps it the parent.
    wire = Wire(tmp_path, ["/bin/sh", "-c", '"$@" & wait', "sh"])
    try:
        (host,) = psutil.Process(wire.process.pid).children()
        child = running(wire, project)
        wire.process.kill()
        wire.process.wait()
        assert wait_for(lambda: gone(host) and gone(child))
    finally:
        wire.stop()


def policy_request(project: Path, kind: str = "analyzer") -> pb.RunPluginRequest:
    environment = [f"{key}={value}" for key, value in os.environ.items()]
    return pb.RunPluginRequest(pwd=str(project), kind=kind, args=["127.0.0.1:1"], env=environment, info=info(project))


def test_a_policy_pack_talks_through_the_host(wire: Wire, project: Path) -> None:
    (project / "__main__.py").write_text("import sys; print('port'); print('note', file=sys.stderr); sys.exit(4)")
    answers = list(wire.stub.RunPlugin(policy_request(project)))
    assert b"".join(answer.stdout for answer in answers) == b"port\n"
    assert b"".join(answer.stderr for answer in answers) == b"note\n"
    assert answers[-1].exitcode == 4


def test_a_policy_pack_ends_with_its_call(wire: Wire, project: Path) -> None:
    (project / "__main__.py").write_text("import os, time; print(os.getpid(), flush=True); time.sleep(600)")
    call = wire.stub.RunPlugin(policy_request(project))
    pack = psutil.Process(int(next(call).stdout))
    call.cancel()
    assert wait_for(lambda: gone(pack))


def test_other_plugins_are_refused(wire: Wire, project: Path) -> None:
    with pytest.raises(grpc.RpcError) as refusal:
        list(wire.stub.RunPlugin(policy_request(project, "resource")))
    assert refusal.value.code() == grpc.StatusCode.UNIMPLEMENTED  # pyright: ignore


def test_an_official_host_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, elsewhere = tmp_path / "engine" / "pulumi", tmp_path / "elsewhere"
    for folder in (engine.parent, elsewhere):
        folder.mkdir()
    monkeypatch.setenv("PATH", os.pathsep.join([str(elsewhere), str(BIN)]))
    assert official(engine) is None
    for folder in (engine.parent, elsewhere):
        host = folder / NAME
        host.write_text("#!/bin/sh\n")
        host.chmod(0o755)
        assert official(engine) == host
        assert folders_for_path(engine) == []
        host.unlink()
