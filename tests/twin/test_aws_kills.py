"""Runs that are killed on the twin's cloud, and the runs after them: nothing is lost, nothing is left.

`GANGLINE_KILLS` says how many of `up` and of `destroy` are killed, two if it is not set:

    GANGLINE_KILLS=20 .venv/bin/python -m pytest -s tests/twin/test_aws_kills.py
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aws_inventory
import aws_trap
import httpx2
import pytest
from test_language_host_engine import Engine

from cli import cloud, recovery
from cli.engine import Engine as Recovering
from twin import ports
from twin.aws import orphans
from twin.aws.names import VARIABLE
from twin.aws.rows import ROWS
from twin.paths import CHECKOUT

HERE = Path(__file__).parent
REGION = "us-east-2"
STACK = "test"
RESOURCES = 30
KILLS = int(os.environ.get("GANGLINE_KILLS", "2"))
SEED = 5


class NoReleases:
    """A cluster without releases of Helm: this stack has none."""

    def list(self, *_: Any, **__: Any) -> list[Any]:
        return []


@dataclass(frozen=True)
class Kill:
    """When to kill a run: at which resource, and how long after the cloud carried it out, in seconds."""

    ordinal: int
    delay: float

    @classmethod
    def chosen(cls, seed: str) -> list["Kill"]:
        """Choose resources, each at most once. Half of the kills come before the engine hears of it."""
        choose = random.Random(seed)
        ordinals = choose.sample(range(1, RESOURCES + 1), KILLS)
        return [cls(ordinal, choose.choice((0.0, choose.uniform(0.001, 0.05)))) for ordinal in ordinals]


@pytest.fixture
def address() -> Iterator[str]:
    port = ports.choose(["moto"], {})["moto"]
    process = subprocess.Popen(
        [sys.executable, HERE / "aws_trap.py", str(port)],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), "MOTO_IAM_LOAD_MANAGED_POLICIES": "true"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    where = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + 120
    while True:
        try:
            orphans.noted(where)
            break
        except httpx2.ConnectError:
            assert time.monotonic() < deadline
            time.sleep(0.3)
    yield where
    process.terminate()
    process.wait()


class Stack:
    """The reduced stack on the twin's cloud."""

    def __init__(self, folder: Path, address: str) -> None:
        self.address = address
        self._engine = Engine(folder, recovery.PROJECT)
        (self._engine.project / "__main__.py").write_text((HERE / "aws_reduced.py").read_text())
        self._engine.environment["PATH"] += f":{CHECKOUT / 'twin' / 'aws' / 'bin'}"
        self._engine.environment[VARIABLE] = address
        self._recovering = Recovering(self._engine.pulumi, self._engine.environment)

    def run(self, command: str, *arguments: str) -> str:
        return self._engine.run(command, "--yes", "--skip-preview", *arguments)

    def killed(self, command: str, method: str, kill: Kill) -> None:
        process = self._engine.start(command, "--yes", "--skip-preview")
        trap = {"pid": process.pid, "method": method, "ordinal": kill.ordinal, "delay": kill.delay}
        httpx2.put(f"{self.address}{aws_trap.TRAP}", json=trap, trust_env=False).raise_for_status()
        # Not until its output ends: that would wait for its plugins, which is for the recovery to do.
        assert process.wait(120) == -signal.SIGKILL, process.communicate()[0]

    def recover(self) -> tuple[int, int]:
        """Do what the command line does before a run.

        Returns:
            How much was in the cloud that the state did not know, and in the state that was not in the cloud.
        """
        recovery.end_orphans(self._engine.environment)
        recovery.recover(self._recovering, STACK, NoReleases())  # type: ignore[arg-type]
        made, known = self._made(), self._known()
        cloud.reconcile(self._recovering, STACK, self.address, self._engine.project / f"Pulumi.{STACK}.yaml")
        assert self._made() == self._known() == made & known
        return len(made - known), len(known - made)

    def _made(self) -> set[str]:
        return {entry["urn"] for entry in orphans.noted(self.address)}

    def _known(self) -> set[str]:
        return {one["urn"] for one in self.resources() if one["type"].startswith("aws:")}

    def resources(self) -> list[dict[str, Any]]:
        return recovery.resources(self._recovering, STACK)


def test_the_inventory_sees_every_service() -> None:
    assert {row.service for row in ROWS.values()} == {service for service, *_ in aws_inventory.LISTS}


@pytest.mark.timeout(120 + 120 * KILLS)  # against a hang: quiet, each kill and its recovery take 30 s
def test_killed_runs_are_taken_up_and_nothing_is_left(tmp_path: Path, address: str) -> None:
    empty = aws_inventory.inventory(address, REGION)
    stack = Stack(tmp_path, address)
    left: dict[str, list[tuple[int, int]]] = {"up": [], "destroy": []}
    began = time.monotonic()
    for number, (making, deleting) in enumerate(
        zip(Kill.chosen(f"{SEED} up"), Kill.chosen(f"{SEED} down"), strict=True)
    ):
        stack.killed("up", "POST", making)
        left["up"].append(stack.recover())
        stack.run("up")
        assert len(orphans.noted(address)) == RESOURCES
        assert f"{RESOURCES + 2} unchanged" in stack.run("up", "--refresh", "--expect-no-changes")

        stack.killed("destroy", "DELETE", deleting)
        left["destroy"].append(stack.recover())
        if number % 2:
            # Somebody changes their mind: what is gone is made again.
            stack.run("up")
            assert len(orphans.noted(address)) == RESOURCES
        stack.run("destroy")
        assert stack.resources() == []
        assert orphans.noted(address) == []
        assert aws_inventory.inventory(address, REGION) == empty
    print(f"\n{KILLS} kills of up and of destroy in {time.monotonic() - began:.0f} s")
    for command, found in left.items():
        unknown, lost = (sum(1 for each in found if each[way]) for way in (0, 1))
        print(f"{command}: {unknown} left what the state did not know, {lost} a state that knew what was gone")
