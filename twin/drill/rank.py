"""One rank of the toy job: `python -m twin.drill.rank SETTINGS`, with settings as JSON."""

import json
import socket
import struct
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from twin.drill.saving import DONE, NONE, ask, name_of, order, seal
from twin.drill.training import FILES, State

_PAUSE = 0.02
_CHUNK = 48 * 1024
_LENGTH = struct.Struct("!I")


@dataclass(frozen=True)
class Settings:
    """What a rank is told.

    Attributes:
        job: Name of the job.
        rank: Its number.
        ranks: How many there are.
        attempt: How often the job was started, this time included.
        steps: Where it ends.
        every: Steps from one checkpoint to the next.
        save: Steps that it goes on after one was begun before that must be kept.
        pace: Seconds of a step.
        where: Folder in which it writes checkpoints.
        meeting: Socket of rank 0.
        diary: File in which rank 0 writes how far it is.
    """

    job: str
    rank: int
    ranks: int
    attempt: int
    steps: int
    every: int
    save: int
    pace: float
    where: str
    meeting: str
    diary: str


class Group:
    """All ranks together. When one dies, the others end with an EOFError, as an NCCL communicator would abort."""

    def __init__(self, rank: int, ranks: int, meeting: str) -> None:
        self._rank, self._ranks = rank, ranks
        if rank:
            self._links = [_connect(meeting)]
            self._links[0].sendall(_LENGTH.pack(rank))
            return
        found: dict[int, socket.socket] = {}
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(meeting)
            server.listen()
            while len(found) < ranks - 1:
                link, _ = server.accept()
                (number,) = _LENGTH.unpack(_read(link, _LENGTH.size))
                found[number] = link
        self._links = [found[number] for number in range(1, ranks)]

    def gather(self, mine: bytes) -> list[bytes]:
        """Give what each rank brought, in their order, to all of them."""
        if self._rank:
            (link,) = self._links
            _send(link, mine)
            return [_receive(link) for _ in range(self._ranks)]
        whole = [mine, *(_receive(link) for link in self._links)]
        for link in self._links:
            for each in whole:
                _send(link, each)
        return whole


def _connect(meeting: str) -> socket.socket:
    while True:
        link = socket.socket(socket.AF_UNIX)
        try:
            link.connect(meeting)
        except (FileNotFoundError, ConnectionRefusedError):
            link.close()
            time.sleep(_PAUSE)
        else:
            return link


def _send(link: socket.socket, content: bytes) -> None:
    link.sendall(_LENGTH.pack(len(content)) + content)


def _receive(link: socket.socket) -> bytes:
    (length,) = _LENGTH.unpack(_read(link, _LENGTH.size))
    return _read(link, length)


def _read(link: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        more = link.recv(count - len(found))
        if not more:
            raise EOFError
        found += more
    return found


def come_back(it: Settings, group: Group, where: Path) -> tuple[int, State]:
    """Agree with the others on the newest checkpoint that all can have, and give its step and this rank's state."""
    before, part = "", f"{it.rank}-of-{it.ranks}"
    while True:
        # Whoever answers has carried on first what it had. So the last answer knows of all, and it is the greatest.
        status, said = ask(where, "newest", it.job, *([before] if before else []))
        answers = group.gather(json.dumps([status, said]).encode())
        named = [name for status, name in map(json.loads, answers) if status == DONE]
        found = max(named, key=order, default="")
        if not found:
            if any(status not in (DONE, NONE) for status, _ in map(json.loads, answers)):
                continue
            return 0, State.first(it.rank)
        status, _ = ask(where, "restore", it.job, found, part)
        statuses = [int(each) for each in group.gather(str(status).encode())]
        if all(status == DONE for status in statuses):
            folder = where / it.job / found / part
            return int(found.split("-")[0]), State.of({name: (folder / name).read_bytes() for name in FILES})
        if NONE in statuses:
            before = found


def train(it: Settings) -> State:
    """Train from the newest checkpoint to the end."""
    where, diary = Path(it.where), Path(it.diary)
    group = Group(it.rank, it.ranks, it.meeting)
    step, state = come_back(it, group, where)
    if it.rank == 0:
        _note(diary, f"attempt {it.attempt} from {step}")
    written: Path | None = None
    begun = step
    while step < it.steps:
        step += 1
        time.sleep(it.pace)
        state = state.after(group.gather(state.gradient(step)))
        if it.rank == 0:
            _note(diary, f"step {step}")
        if step % it.every == 0:
            written = where / it.job / name_of(step, it.attempt) / f"{it.rank}-of-{it.ranks}"
            seal(written, state.files(), _CHUNK, lambda: time.sleep(it.pace / 16))
            begun = step
        # The contract says by when it is kept. A machine may be slower than it says: then time stands still.
        while written and step >= begun + it.save and not (written / "carried").exists():
            time.sleep(_PAUSE)
    group.gather(b"")
    return state


def _note(diary: Path, line: str) -> None:
    with diary.open("a") as file:
        file.write(f"{line}\n")


def main(settings: Sequence[str]) -> None:
    """Train, and leave the result beside the diary."""
    it = Settings(**json.loads(settings[0]))
    try:
        state = train(it)
    except (EOFError, ConnectionError):
        sys.exit("another rank is gone")
    result = Path(it.diary).with_name(f"result-{it.rank}")
    result.with_suffix(".new").write_bytes(state.tensors)
    result.with_suffix(".new").rename(result)


if __name__ == "__main__":
    main(sys.argv[1:])
