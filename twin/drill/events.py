"""What happens to a job in a drill."""

import random
import shutil
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from twin.drill import killing
from twin.drill.ground import JOB, Ground
from twin.drill.inventory import Bucket, Inventory, complete
from twin.drill.saving import order


@dataclass(frozen=True)
class Happened:
    """What happened, and what must follow.

    Attributes:
        words: What, for people.
        loss: Whose promise holds: of a lost `process`, of a lost `node`, or none.
        back_to: The checkpoint that must be gone on from, empty for the beginning; None where only the promise counts.
        job_runs: Whether the job was left alone.
    """

    words: str
    loss: str | None = None
    back_to: str | None = None
    job_runs: bool = False


@dataclass(frozen=True)
class Scene:
    """Where it happens."""

    ground: Ground
    inventory: Inventory
    archive: Bucket
    random: random.Random


def kill_job(it: Scene) -> Happened:
    """Kill ranks; disks and uploaders stay."""
    which = it.random.choice([range(1), range(1, 2), range(it.ground.job.ranks)])
    where = _at_a_moment(it)
    it.ground.kill_job(which)
    return Happened(f"{_ranks(which)} killed {where}", loss="process")


def kill_uploader(it: Scene) -> Happened:
    """Have an uploader killed at one of its next commands."""
    node = it.random.choice(it.ground.nodes)
    calls, moment = it.random.randint(1, 40), it.random.choice(killing.MOMENTS)
    killing.arm(node.commands, calls, moment)
    return Happened(f"uploader {node.number} to be killed {moment} its command {calls}", job_runs=True)


def kill_both(it: Scene) -> Happened:
    """Kill all processes of a node at once; its disk stays."""
    node = it.random.choice(it.ground.nodes)
    where = _at_a_moment(it)
    it.ground.kill_uploader(node)
    it.ground.kill_job()
    return Happened(f"all ranks and uploader {node.number} killed {where}", loss="process")


def lose_nodes(it: Scene) -> Happened:
    """Lose one node or all of them, with their disks."""
    nodes = it.random.choice([[it.random.choice(it.ground.nodes)], it.ground.nodes])
    where = _at_a_moment(it)
    for node in nodes:
        it.ground.lose(node)
    it.ground.kill_job()
    return Happened(f"{len(nodes)} node{'s' if len(nodes) > 1 else ''} lost {where}", loss="node")


def lose_all(it: Scene) -> Happened:
    """Lose the nodes and what they share: only the archive is left."""
    _lose_nodes(it)
    shutil.rmtree(it.ground.keep)
    it.ground.keep.mkdir()
    it.inventory.seen.clear()
    return Happened("all nodes and the shared tier lost", back_to=it.inventory.newest_sound())


def damage(it: Scene) -> Happened:
    """Lose the nodes, and damage the newest checkpoint where it is kept, or in the archive as well."""
    _lose_nodes(it)
    kept, cold = complete(it.inventory.keep), complete(it.archive)
    if not kept:
        return Happened("all nodes lost, and nothing is kept yet", back_to=it.inventory.newest_sound())
    name = kept[0]
    both = name in cold and it.random.random() < 0.5
    part = f"{name}/{it.random.randrange(it.ground.job.ranks)}-of-{it.ground.job.ranks}"
    how, spoil = it.random.choice(_HOWS)
    files = sorted(path for path in it.inventory.keep.files() if path.startswith(f"{part}/"))
    path = it.random.choice([each for each in files if not each.endswith(("/complete", "/carried"))])
    content = it.inventory.keep.read(path) or b""
    spoilt = spoil(content, it.random.randrange(len(content)))
    _put(it.ground.keep / JOB / path, spoilt)
    if both:
        it.archive.write(path, spoilt or b"")
    it.inventory.damaged.add(name)
    words = f"all nodes lost, and {path} {how}{' in both tiers' if both else ''}"
    return Happened(words, back_to=it.inventory.newest_sound())


def notice(it: Scene) -> Happened:
    """End everything as a kubelet does after a notice: uploaders are told, and then the disks are gone."""
    where = _at_a_moment(it)
    it.ground.kill_job()
    written = _written(it.ground)
    codes = it.ground.end_uploaders()
    if any(codes):
        it.inventory.broken.append(f"uploaders that were told to end: exit codes {codes}")
    newest = max([*written, *complete(it.inventory.keep)], key=order, default="")
    _lose_nodes(it)
    return Happened(f"notice {where}: uploaders end, then all nodes", back_to=newest)


EVENTS: tuple[Callable[[Scene], Happened], ...] = (
    kill_job,
    kill_uploader,
    kill_both,
    lose_nodes,
    lose_all,
    damage,
    notice,
)


def _flip(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


_HOWS: tuple[tuple[str, Callable[[bytes, int], bytes | None]], ...] = (
    ("truncated", lambda content, at: content[:at]),
    ("has one bit flipped", _flip),
    ("is missing", lambda _, __: None),
)


def _put(path: Path, content: bytes | None) -> None:
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)


def _lose_nodes(it: Scene) -> None:
    it.ground.kill_job()
    for node in it.ground.nodes:
        it.ground.lose(node)


def _written(ground: Ground) -> list[str]:
    """Give the checkpoints of which the disks of all nodes together have every part complete."""
    marks: defaultdict[str, set[str]] = defaultdict(set)
    for node in ground.nodes:
        for mark in (node.scratch / JOB).glob("*/*/complete"):
            marks[mark.parts[-3]].add(mark.parts[-2])
    return [name for name, parts in marks.items() if len(parts) == ground.job.ranks]


def _at_a_moment(it: Scene) -> str:
    """Wait for a chosen moment."""
    if it.random.random() < 0.5:
        time.sleep(it.random.random())
        return "at any time"
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline:
        parts = [part for node in it.ground.nodes for part in (node.scratch / JOB).glob("*/*-of-*")]
        if any(not (part / "complete").exists() for part in parts):
            time.sleep(it.random.random() * 0.05)
            return "while it writes"
        time.sleep(0.005)
    return "at any time"


def _ranks(which: range) -> str:
    return "all ranks" if len(which) > 1 else f"rank {which[0]}"
