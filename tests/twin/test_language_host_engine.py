"""The language host stand-in under the real engine: a program without a cloud, and a policy pack."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from twin.environment import back_end
from twin.host import folders_for_path
from twin.tools import ensure

PROGRAM = """
import pulumi

class Rack(pulumi.ComponentResource):
    def __init__(self, name, size):
        super().__init__("test:index:Rack", name, {"size": size})
        self.register_outputs({"size": size})

config = pulumi.Config()
Rack("one", config.require_int("size"))
pulumi.export("size", config.require_int("size"))
pulumi.export("word", config.require_secret("word"))
pulumi.info("said by the program")
"""

PACK = """
from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy

def small(args, report):
    if args.resource_type == "test:index:Rack" and args.props["size"] > 8:
        report("a rack of more than 8")

PolicyPack("racks", enforcement_level=EnforcementLevel.MANDATORY, policies=[
    ResourceValidationPolicy("small", "Racks are small.", small)])
"""

# A program that stays until it is ended, with a child of its own; it writes both process ids.
STAYS = """
import os, subprocess
child = subprocess.Popen(["sleep", "600"])
open("pids.new", "w").write(f"{os.getpid()} {child.pid}")
os.rename("pids.new", "pids")
child.wait()
"""


class Engine:
    """The engine with a home, a back end and a project of its own."""

    def __init__(self, folder: Path, name: str = "racks") -> None:
        self.pulumi = ensure(["pulumi"])["pulumi"]
        self.project, self.pack = folder / "project", folder / "pack"
        for place in (self.project, self.pack, folder / "state"):
            place.mkdir()
        (self.project / ".venv").symlink_to(sys.prefix)
        runtime = {"name": "python", "options": {"virtualenv": ".venv"}}
        (self.project / "Pulumi.yaml").write_text(json.dumps({"name": name, "runtime": runtime}))
        (self.project / "__main__.py").write_text(PROGRAM)
        runtime = {"name": "python", "options": {"virtualenv": "../project/.venv"}}
        (self.pack / "PulumiPolicy.yaml").write_text(json.dumps({"version": "0.0.1", "runtime": runtime}))
        (self.pack / "__main__.py").write_text(PACK)
        path = [self.pulumi.parent, "/usr/bin", "/bin", *folders_for_path(self.pulumi)]
        self.environment = {
            "PATH": os.pathsep.join(map(str, path)),
            "HOME": str(folder),
            "PULUMI_HOME": str(folder / "home"),
            "PULUMI_BACKEND_URL": back_end(folder / "state"),
            "PULUMI_CONFIG_PASSPHRASE": "test",
            "PULUMI_SKIP_UPDATE_CHECK": "1",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        }
        self.run("stack", "init", "test")

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.pulumi, *arguments, "--non-interactive"],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *arguments: str, fails: bool = False) -> str:
        process = self.start(*arguments)
        said = process.communicate(timeout=120)[0]
        assert (process.returncode != 0) is fails, said
        return said

    def configure(self, size: int) -> None:
        self.run("config", "set-all", "--plaintext", f"size={size}", "--secret", "word=hidden")


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine(tmp_path)


def wait_for(ask: Callable[[], bool], seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while not ask():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)
    return True


def gone(process: psutil.Process) -> bool:
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def test_up_and_up_again_with_a_policy_pack(engine: Engine) -> None:
    engine.configure(8)
    pack = ("--policy-pack", str(engine.pack))
    said = engine.run("up", "--yes", *pack)
    assert "said by the program" in said
    assert "+ 2 created" in said
    assert "hidden" not in said
    assert json.loads(engine.run("stack", "output", "--json", "--show-secrets")) == {"size": 8, "word": "hidden"}
    assert "2 unchanged" in engine.run("up", "--yes", "--expect-no-changes", *pack)
    engine.configure(16)
    said = engine.run("preview", *pack, fails=True)
    assert "a rack of more than 8" in said
    assert "Traceback" not in said


def test_a_failing_program_is_shown_once_and_only_its_own_lines(engine: Engine) -> None:
    (engine.project / "__main__.py").write_text("def inner():\n    raise ValueError('the reason')\n\ninner()\n")
    said = engine.run("preview", fails=True)
    assert said.count("ValueError: the reason") == 1
    assert str(engine.project / "__main__.py") in said
    assert "server.py" not in said


@pytest.fixture
def staying(engine: Engine) -> tuple[subprocess.Popen[str], list[psutil.Process]]:
    """An engine whose program stays; with all that lives below it."""
    (engine.project / "__main__.py").write_text(STAYS)
    process = engine.start("preview")
    wait_for((engine.project / "pids").exists)
    below = psutil.Process(process.pid).children(recursive=True)
    pids = {int(pid) for pid in (engine.project / "pids").read_text().split()}
    assert pids <= {one.pid for one in below}
    return process, below


def test_an_interrupted_engine_leaves_nothing_and_no_traceback(staying) -> None:
    process, below = staying
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[0]
    assert process.returncode != 0
    assert "Traceback" not in said
    assert wait_for(lambda: all(gone(one) for one in below))


def test_a_killed_engine_leaves_nothing(staying) -> None:
    process, below = staying
    process.kill()
    process.communicate(timeout=60)
    assert wait_for(lambda: all(gone(one) for one in below), 10)
