"""The ground of a drill: nodes with their disks, what they share, an archive, and the processes on them."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from twin.drill import killing
from twin.drill.rank import Settings
from twin.paths import CHECKOUT

UPLOADER = CHECKOUT / "components" / "storage" / "uploader.sh"
JOB = "toy"
RANKS = 2


@dataclass
class Node:
    """A node of the drill: a folder with its disk, and what runs on it.

    Attributes:
        number: Its number, which is that of its rank.
        folder: Everything of it.
        rank: The rank's process.
        uploader: The uploader's process.
    """

    number: int
    folder: Path
    rank: subprocess.Popen[bytes] | None = None
    uploader: subprocess.Popen[bytes] | None = None

    @property
    def scratch(self) -> Path:
        """Its disk."""
        return self.folder / "scratch"

    @property
    def commands(self) -> Path:
        """The commands that may kill its uploader."""
        return self.folder / "uploader" / "commands"


@dataclass
class Ground:
    """A drill's tiers and processes.

    Attributes:
        folder: Everything of it.
        archive: The archive as rclone names it.
        settings: Variables that say where that is.
        rclone: The program.
        retain: How many are kept.
        job: The job's settings, but for what differs from rank to rank and from attempt to attempt.
    """

    folder: Path
    archive: str
    settings: Mapping[str, str]
    rclone: Path
    retain: int
    job: Settings
    attempt: int = 0
    nodes: list[Node] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.nodes = [Node(number, self.folder / f"node-{number}") for number in range(self.job.ranks)]
        programs = {name: f"/bin/{name}" if name != "rclone" else str(self.rclone) for name in killing.COMMANDS}
        for node in self.nodes:
            node.scratch.mkdir(parents=True)
            killing.prepare(node.commands, {name: shutil.which(path) or path for name, path in programs.items()})
        self.keep.mkdir()

    @property
    def keep(self) -> Path:
        """What the nodes share."""
        return self.folder / "shared"

    @property
    def diary(self) -> Path:
        """What the job says of itself."""
        return self.folder / "diary"

    def start(self) -> None:
        """Start the job once more, and what uploaders do not run."""
        self.attempt += 1
        for node in self.nodes:
            settings = {
                **asdict(self.job),
                "rank": node.number,
                "attempt": self.attempt,
                "where": str(node.scratch),
                # An abstract socket (unix(7)), which is gone with its process.
                "meeting": f"\0gangline-drill-{os.getpid()}-{self.folder.name}-{self.attempt}",
                "diary": str(self.diary),
            }
            command = [sys.executable, "-P", "-m", "twin.drill.rank", json.dumps(settings)]
            node.rank = self._process(node, "rank", command, {"PYTHONPATH": str(CHECKOUT)})
        self.tend()

    def tend(self) -> None:
        """Start the uploaders that do not run, as the kubelet does with a container of such a kind."""
        for node in self.nodes:
            if node.uploader is None or node.uploader.poll() is not None:
                node.uploader = self._process(node, "uploader", ["/bin/sh", str(UPLOADER), "run"], self._carrying(node))

    def _carrying(self, node: Node) -> dict[str, str]:
        return {
            **self.settings,
            "PATH": f"{node.commands}:/usr/bin:/bin",
            "GANGLINE_CHECKPOINT_DIR": str(node.scratch),
            "GANGLINE_CHECKPOINT_KEEP": str(self.keep),
            "GANGLINE_CHECKPOINT_ARCHIVE": self.archive,
            "GANGLINE_CHECKPOINT_RETAIN": str(self.retain),
            "GANGLINE_CHECKPOINT_EVERY": "1",
        }

    def _process(
        self, node: Node, name: str, command: list[str], environment: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        guard = shutil.which("setpriv")  # who kills this process kills those, too (prctl(2), PR_SET_PDEATHSIG)
        with (node.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                [*([guard, "--pdeathsig", "KILL"] if guard else []), *command],
                env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TMPDIR": str(self._temporary(node)), **environment},
                cwd=node.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _temporary(self, node: Node) -> Path:
        folder = node.folder / "tmp"
        folder.mkdir(exist_ok=True)
        return folder

    def step(self) -> int:
        """Give the last step that the job has done in its last attempt; 0 before."""
        return next((int(line.split()[1]) for line in reversed(self._diary()) if line.startswith("step")), 0)

    def came_back_to(self) -> int | None:
        """Give the step from which the last attempt went on; None before it did."""
        begun = f"attempt {self.attempt} from "
        return next((int(line.split()[-1]) for line in self._diary() if line.startswith(begun)), None)

    def _diary(self) -> list[str]:
        return self.diary.read_text().splitlines() if self.diary.exists() else []

    def done(self) -> bool:
        """Say whether all ranks have ended well."""
        return all(node.rank is not None and node.rank.poll() == 0 for node in self.nodes)

    def results(self) -> list[bytes]:
        """Give what each rank ended with."""
        return [(self.folder / f"result-{node.number}").read_bytes() for node in self.nodes]

    def kill_job(self, ranks: range | None = None) -> None:
        """Kill ranks; those that are left find out by themselves, and are ended if they did not."""
        for node in self.nodes if ranks is None else [self.nodes[number] for number in ranks]:
            _kill(node.rank)
        for node in self.nodes:
            if node.rank is not None:
                try:
                    node.rank.wait(timeout=1)
                except subprocess.TimeoutExpired:
                    _kill(node.rank)  # it waits for its checkpoint, not for the others

    def kill_uploader(self, node: Node) -> None:
        """Kill an uploader with all that it has started."""
        _kill(node.uploader)

    def lose(self, node: Node) -> None:
        """Lose a node: its processes and its disk."""
        _kill(node.rank)
        _kill(node.uploader)
        shutil.rmtree(node.scratch)
        node.scratch.mkdir()

    def end_uploaders(self) -> list[int]:
        """Tell the uploaders to end, as a kubelet does, and give their exit codes. One that is killed comes back."""
        ended = [node for node in self.nodes if node.uploader is not None]
        while True:
            for node in ended:
                if node.uploader is not None:
                    node.uploader.terminate()
            codes = [node.uploader.wait(timeout=120) for node in ended if node.uploader is not None]
            if not {-signal.SIGKILL, -signal.SIGTERM} & set(codes):
                return codes
            self.tend()  # killed meanwhile, or told before it could listen

    def end(self) -> None:
        """Leave no process behind."""
        for node in self.nodes:
            _kill(node.rank)
            _kill(node.uploader)


def _kill(process: subprocess.Popen[bytes] | None) -> None:
    if process is None:
        return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
