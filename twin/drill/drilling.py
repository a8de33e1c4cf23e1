"""One drill after the other: what happens is chosen by the seed, and what must hold is looked at after each event."""

import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError

from model import document
from model.storage import contract
from twin import ports
from twin.aws.cloud import Cloud
from twin.drill.events import EVENTS, Happened, Scene
from twin.drill.ground import JOB, RANKS, Ground
from twin.drill.inventory import Bucket, Folder, Inventory, step_of
from twin.drill.rank import Settings
from twin.drill.training import State, uninterrupted
from twin.errors import TwinError, tail
from twin.paths import CHECKOUT

_DOCUMENT: dict[str, Any] = {
    "cluster": {"name": "drill", "provider": "aws", "kubernetes": "1.35", "zones": ["us-east-2a", "us-east-2b"]},
    "pools": {
        "system": {"instance": "m7i.2xlarge", "size": 3},
        "train": {"instance": "p5en.48xlarge", "size": RANKS, "zone": "us-east-2a", "fabric": "efa"},
    },
    "storage": {
        "scratch": {"kind": "nvme", "write": "1G"},
        "shared": {"kind": "lustre", "mount": "10.0.0.5@tcp:/drill", "size": "1T", "write": "1G"},
        "archive": {"kind": "s3", "write": "1G"},
        "checkpoints": {
            "write": "scratch",
            "keep": "shared",
            "archive": "archive",
            "every": "4s",
            "retain": 2,
            "largest": {"size": "2G", "pool": "train", "nodes": RANKS},
        },
    },
}
"""The contract of the toy. A second of it is a step: so what it promises can be counted."""
STEPS = 22
_PACE = 0.05
_LIMIT = 120.0
_REGION, _BUCKET = "us-east-2", "drill"


@dataclass
class Outcome:
    """How a drill went.

    Attributes:
        seed: What it was made from.
        events: What happened, in words, with how many steps were lost and how many may be.
        broken: What must not be; empty when all is well.
        checkpoints: How many complete ones were seen.
        seconds: How long it took.
    """

    seed: int
    events: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    checkpoints: int = 0
    seconds: float = 0


@cache
def _states() -> list[list[State]]:
    return uninterrupted(RANKS, STEPS)


def promises() -> dict[str, int]:
    """Give how many steps may be lost at worst when a process dies and when a node is lost."""
    env = document.load(_DOCUMENT)
    return {event.kind: event.loss for event in contract.events(env) if event.loss is not None}


@contextmanager
def cloud(log: Path) -> Iterator[Cloud]:
    """Have an object store of the drill's own.

    Raises:
        TwinError: It does not come up.
    """
    port = ports.choose(["drill"], {})["drill"]
    guard = shutil.which("setpriv")
    command = [sys.executable, "-P", "-m", "twin.aws.server", str(port)]
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [*([guard, "--pdeathsig", "KILL"] if guard else []), *command],
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(CHECKOUT), "LANG": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=sink,
            start_new_session=True,
        )
    try:
        made = Cloud(f"http://127.0.0.1:{port}", _REGION)
        deadline = time.monotonic() + _LIMIT
        while True:
            try:
                configuration = {"LocationConstraint": _REGION}
                made.client("s3").create_bucket(Bucket=_BUCKET, CreateBucketConfiguration=configuration)
                break
            except BotoCoreError as error:
                if time.monotonic() > deadline or process.poll() is not None:
                    raise TwinError(f"moto does not come up: {error}; see {log}") from None
                time.sleep(0.2)
        yield made
    finally:
        process.terminate()
        process.wait()


def drill(seed: int, folder: Path, store: Cloud, rclone: Path, told: Callable[[str], None]) -> Outcome:
    """Run one drill.

    Args:
        seed: What happens, and when, follows from it.
        folder: An empty folder for everything but the archive.
        store: Where the archive is.
        rclone: The program.
        told: Hears each event.
    """
    begun, it = time.monotonic(), Outcome(seed)
    chance = random.Random(seed)  # noqa: S311 - the same again
    contracted = contract.times(document.load(_DOCUMENT))
    toy = Settings(JOB, 0, RANKS, 0, STEPS, contracted.every, contracted.save or 0, _PACE, "", "", "")
    retain = contract.declared(document.load(_DOCUMENT)).retain
    ground = Ground(folder, f"archive:{_BUCKET}/{seed}", _remote(store), rclone, retain, toy)
    archive = Bucket(store.client("s3"), _BUCKET, f"{seed}/{JOB}/")
    wanted = dict(enumerate(_states()))
    scene = Scene(ground, Inventory(Folder(ground.keep / JOB), archive, wanted, retain), archive, chance)
    try:
        ground.start()
        for at in sorted(chance.sample(range(3, STEPS - 1), 3)):
            _until(scene, lambda at=at: ground.step() >= at)
            _happen(scene, it, chance.choice(EVENTS), told)
        _until(scene, ground.done)
        _end(scene, it)
    except _StuckError as error:
        it.broken.append(str(error))
    finally:
        ground.end()
    it.broken += scene.inventory.broken
    it.checkpoints, it.seconds = len(scene.inventory.seen | scene.inventory.archived), time.monotonic() - begun
    return it


def _remote(store: Cloud) -> Mapping[str, str]:
    """Give the settings of a remote called `archive`, as the ConfigMap of a tenant has them."""
    options = {
        "TYPE": "s3",
        "PROVIDER": "Other",
        "ENDPOINT": store.address,
        "REGION": store.region,
        "ACCESS_KEY_ID": "twin",
        "SECRET_ACCESS_KEY": "twin",
        "FORCE_PATH_STYLE": "true",
        "NO_CHECK_BUCKET": "true",
    }
    return {f"RCLONE_CONFIG_ARCHIVE_{name}": value for name, value in options.items()}


def _happen(scene: Scene, it: Outcome, event: Callable[[Scene], Happened], told: Callable[[str], None]) -> None:
    ground, inventory = scene.ground, scene.inventory
    happened = event(scene)
    inventory.take()
    if happened.job_runs:
        it.events.append(happened.words)
        told(happened.words)
        return
    reached = ground.step()
    ground.start()
    _until(scene, lambda: ground.came_back_to() is not None)
    back = ground.came_back_to() or 0
    promised = promises().get(happened.loss or "")
    words = f"{happened.words}; at step {reached}, back to {back}"
    if promised is not None:
        words += f" (lost {reached - back}, promised {promised})"
        if reached - back > promised:
            it.broken.append(f"{happened.words}: {reached - back} steps are lost, and {promised} were promised")
    if happened.back_to is not None:
        wanted = step_of(happened.back_to) if happened.back_to else 0
        if back != wanted:
            it.broken.append(f"{happened.words}: went on from step {back}, and {happened.back_to or 'nothing'} was due")
    it.events.append(words)
    told(words)


def _end(scene: Scene, it: Outcome) -> None:
    """End the uploaders, which carry on what is left, and look at everything once more."""
    codes = scene.ground.end_uploaders()
    if any(codes):
        it.broken.append(f"uploaders that were told to end: exit codes {codes}")
    scene.inventory.take()
    if scene.ground.results() != [state.tensors for state in _states()[-1]]:
        it.broken.append("the result is not that of an uninterrupted run")


class _StuckError(Exception):
    """Nothing happens any more."""


def _until(scene: Scene, reached: Callable[[], bool]) -> None:
    """Keep uploaders running and take notes until something is so, or the job has ended."""
    deadline = time.monotonic() + _LIMIT
    while not reached() and not scene.ground.done():
        scene.ground.tend()
        scene.inventory.glance()
        if time.monotonic() > deadline:
            logs = [
                line
                for node in scene.ground.nodes
                for log in ("rank", "uploader")
                for line in tail(node.folder / f"{log}.log", 5)
            ]
            raise _StuckError("\n".join([f"nothing has happened for {_LIMIT:g} s:", *logs]))
        time.sleep(0.05)
