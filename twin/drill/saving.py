"""What a job does about checkpoints: it seals its parts, and asks for them after a failure.

The layout is that of docs/guides/checkpoints.md. Only the standard library is used, so that jobs can take it as it is.
"""

import hashlib
import os
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

DONE, TROUBLE, NONE = 0, 1, 3
"""Statuses of answers: done, try again, there is none or it is not what its manifest says."""


def name_of(step: int, attempt: int) -> str:
    """Give the name of a checkpoint: attempts count up, so that no two ever have the same."""
    return f"{step:012}-{attempt}"


def order(name: str) -> tuple[int, int]:
    """Give what checkpoints are ordered by: the attempt, then the step. So an attempt may go back on purpose."""
    step, attempt = name.split("-")
    return int(attempt), int(step)


def seal(folder: Path, files: Mapping[str, bytes], chunk: int = 1 << 20, between: Callable[[], object] = int) -> None:
    """Write a part and mark it as complete, last of all.

    Args:
        folder: The part's folder, `JOB/CHECKPOINT/RANK-of-RANKS` below where jobs write.
        files: Content by path in it.
        chunk: Bytes that are written at once.
        between: Called after each chunk.
    """
    lines: list[str] = []
    for path, content in sorted(files.items()):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as file:
            for start in range(0, len(content), chunk):
                file.write(content[start : start + chunk])
                file.flush()
                between()
            os.fsync(file.fileno())
        lines.append(f"{hashlib.sha256(content).hexdigest()} {len(content)} {path}\n")
    manifest = "".join(lines).encode()
    _put(folder / "manifest", manifest)
    _put(folder / "complete", hashlib.sha256(manifest).hexdigest().encode())


def _put(path: Path, content: bytes) -> None:
    """Write a file that is there as a whole or not at all."""
    fresh = path.with_suffix(".new")
    with fresh.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    fresh.rename(path)


def ask(where: Path, *words: str) -> tuple[int, str]:
    """Ask the uploader, which may take as long as a restore does.

    Args:
        where: The folder where jobs write.
        words: `newest JOB [BEFORE]`, or `restore JOB CHECKPOINT [PART]`.

    Returns:
        The status and what it said.
    """
    question = where / ".ask" / f"{uuid.uuid4()}.ask"
    question.parent.mkdir(parents=True, exist_ok=True)
    _put(question, " ".join(words).encode() + b"\n")
    answer = question.with_suffix(".answer")
    while not answer.exists():
        time.sleep(0.02)
    status, _, said = answer.read_text().partition(" ")
    answer.unlink()
    return int(status), said.strip()
